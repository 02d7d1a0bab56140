package protocol

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/wire"
)

// What a monitor keeps does not grow with what is over: a tap runs for days.
func TestMemoryIsBoundedByWhatIsOpen(t *testing.T) {
	long := strings.Repeat("A long answer. ", 100)
	const first, more = 4500, 1500         // turns, more of them than any memory of the monitor is meant for
	for _, p := range []Profile{Receipt} { // which keeps the most; thousands of turns take long under the race detector
		t.Run(string(p), func(t *testing.T) {
			g := NewWithT(t)
			m := NewMonitor(Options{Profile: p})
			seq, turns := 0, 0
			run := func(n int) uint64 {
				for range n {
					turns++
					var script string
					script, seq = wholeTurn(p, turns, seq, long)
					for _, l := range strings.Split(script, "\n") {
						raw := l[2:] + "\n"
						line := wire.Line{Raw: []byte(raw), Size: int64(len(raw))}
						if l[0] == '>' {
							m.Client(line)
							continue
						}
						for _, v := range m.Server(line).Violations {
							t.Fatalf("turn %d: %s %s: %s", turns, v.Row, v.Expected, v.Actual)
						}
					}
				}
				runtime.GC()
				var s runtime.MemStats
				runtime.ReadMemStats(&s)
				return s.HeapAlloc
			}
			before := run(first)
			after := run(more)
			t.Logf("%d KiB after %d turns, %d KiB after %d", before>>10, first, after>>10, first+more)
			g.Expect(after).To(BeNumerically("<", before+256<<10))

			for _, c := range []struct {
				child string
				seq   int
				rows  []string
			}{{"c1", 3, nil}, {fmt.Sprint("c", turns-200), 3, nil}, {fmt.Sprint("c", turns-200), 5, one("S-ORD-03/child")}, {fmt.Sprint("c", turns), 3, nil}} {
				raw := event(c.child, c.seq, "session/title", `{}`)[2:] + "\n"
				var rows []string
				for _, v := range m.Server(wire.Line{Raw: []byte(raw), Size: int64(len(raw))}).Violations {
					rows = append(rows, v.Row)
				}
				g.Expect(rows).To(Equal(c.rows), "an event of a child that is over: %s", raw)
			}
		})
	}
}

// wholeTurn is a turn of the session s, from seq on, that has a child, and what else a
// conversation may bring that is over at once. It gives the next seq too.
func wholeTurn(p Profile, n, seq int, text string) (script string, next int) {
	id, child, message := fmt.Sprintf("q%d", n), fmt.Sprintf("c%d", n), fmt.Sprintf("m%d", n)
	of := func(data func(session string, seq, turn int) string) string {
		seq++
		return data("s", seq-1, n)
	}
	script = lines(
		`> {"jsonrpc":"2.0","id":{"odd":`+fmt.Sprint(n)+`},"method":"ignored"}`,
		`> {"jsonrpc":"2.0","id":`+fmt.Sprint(n)+`.5,"method":"ignored"}`,
		notify(fmt.Sprintf("plugin/%d", n), `{}`),
		prompt(id, "s"),
	)
	receipt := func(lines ...string) {
		if p == Receipt {
			script += "\n" + strings.Join(lines, "\n")
		}
	}
	receipt(of(func(s string, seq, _ int) string { return inserts(s, seq, 0, message) }), state("s", "running"))
	if p != Receipt {
		seq--
	}
	script = lines(script, of(starts))
	receipt(of(func(s string, seq, _ int) string { return removes(s, seq) }), receiptOf(id, message))
	if p != Receipt {
		seq--
	}
	script = lines(script,
		spawned("s", child), starts(child, 0, 1), says(child, 1, 1, text), ends(child, 2, 1, "completed"),
		finishedAs("s", child, child, fmt.Sprintf(`,"status":"ok","lastAssistantMessage":[{"type":"text","text":%q}]`, text)),
		of(func(s string, seq, turn int) string { return says(s, seq, turn, text) }),
		of(func(s string, seq, turn int) string { return ends(s, seq, turn, "completed") }))
	switch p {
	case Directional:
		script = lines(script, result(id, settledOK))
	case Accepted:
		script = lines(script, notify(NotificationFinished, `{"sessionId":"s","status":"ok","reason":{"kind":"completed"}}`), result(id, `{"accepted":true}`))
	case Receipt:
		script = lines(script, state("s", "idle"))
	}
	return script, seq
}
