package snapshot

import (
	"math/rand/v2"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// conversation makes entries of frames, through a monitor that tells which request a
// response answers.
func conversation(lines ...string) []harness.Entry {
	mon := protocol.NewMonitor(protocol.Options{})
	var out []harness.Entry
	for i, l := range lines {
		text := l[2:] + "\n"
		line := wire.Line{Seq: i, Raw: []byte(text), Size: int64(len(text)), Dir: wire.ClientToServer}
		if l[0] == '>' {
			mon.Client(line)
			out = append(out, harness.Entry{Line: line})
			continue
		}
		line.Dir = wire.ServerToClient
		o := mon.Server(line)
		out = append(out, harness.Entry{Line: line, Message: o.Message, Answered: o.Answered})
	}
	return out
}

func event(session, kind string) string {
	return `< {"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"` + session + `","event":{"type":"` + kind + `","seq":0,"time":1796050026712,"data":{}}}}`
}

// However sessions that run side by side are mixed, the text is one.
func TestOrderBetweenSessionsIsNoPartOfIt(t *testing.T) {
	prompts := []string{
		`> {"jsonrpc":"2.0","id":"q-1","method":"session/prompt","params":{"sessionId":"a","contentBlocks":[]}}`,
		`> {"jsonrpc":"2.0","id":"q-2","method":"session/prompt","params":{"sessionId":"b","contentBlocks":[]}}`,
	}
	started := `< {"jsonrpc":"2.0","method":"subagent.started","params":{"parentSessionId":"a","childSessionId":"child-of-a-1"}}`
	strands := [][]string{
		{event("a", "x"), started, event("a", "y"), `< {"jsonrpc":"2.0","id":"q-1","result":{}}`},
		{event("b", "x"), event("b", "z"), `< {"jsonrpc":"2.0","id":"q-2","result":{}}`},
		{event("child-of-a-1", "x"), event("child-of-a-1", "w")},
	}
	text := func(seed uint64) string {
		random := rand.New(rand.NewPCG(seed, 0))
		left := [][]string{strands[0], strands[1], strands[2]}
		all := append([]string{}, prompts...)
		for len(left[0])+len(left[1])+len(left[2]) > 0 {
			i := random.IntN(3)
			if len(left[i]) == 0 || i == 2 && len(left[0]) > 2 { // a child begins behind its announcement
				continue
			}
			all = append(all, left[i][0])
			left[i] = left[i][1:]
		}
		return render(Scenario{Name: "n", Profile: protocol.Directional}, conversation(all...), "exit status 0", newMask(nil))
	}
	want := text(0)
	rapid.Check(t, func(t *rapid.T) {
		if got := text(rapid.Uint64().Draw(t, "seed")); got != want {
			t.Fatalf("%s", unified("one", "other", want, got))
		}
	})
	g := NewWithT(t)
	g.Expect(want).To(ContainSubstring("== session a =="))
	g.Expect(want).To(MatchRegexp(`(?s)== session b ==.*== session «id-1» ==`), "children stand behind the client's own")
}

// In the receipt profile the place of the response is chance, too.
func TestReceiptStandsWithTheOtherResponses(t *testing.T) {
	c := canonical(conversation(
		`> {"jsonrpc":"2.0","id":"q-1","method":"session/prompt","params":{"sessionId":"a","contentBlocks":[]}}`,
		event("a", "x"), `< {"jsonrpc":"2.0","id":"q-1","result":{"messageId":"m"}}`, event("a", "y"), `< junk`,
	), protocol.Receipt)
	g := NewWithT(t)
	g.Expect(c.replies).To(HaveLen(1))
	g.Expect(c.sessions).To(HaveLen(1))
	g.Expect(c.sessions[0].entries).To(HaveLen(2))
	g.Expect(c.loose).To(HaveLen(1))
}

func TestStore(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	_, err := Load(dir)
	g.Expect(err).To(MatchError(ContainSubstring("holds no snapshots")))
	text := "# " + Schema + "\n# profile: accepted\nthe rest\n"
	g.Expect(Save(dir, []Scenario{{Name: "handshake", Text: text}, {Name: "overlap", Text: text}})).To(Succeed())
	got, err := Load(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(HaveLen(2))
	g.Expect(got[0].Profile).To(Equal(protocol.Accepted))
	g.Expect(Compare(got, got)).To(BeEmpty())

	g.Expect(Save(dir, []Scenario{{Name: "handshake", Text: text + "more\n"}})).To(Succeed())
	now, err := Load(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(now).To(HaveLen(1), "a scenario that is gone leaves no file")
	d := Compare(got, now)
	g.Expect(d).To(HaveLen(2))
	g.Expect(d[0].Text).To(ContainSubstring("+more"))
	g.Expect(d[1].Text).To(ContainSubstring("-the rest"))

	for _, wrong := range []string{"hello\n", "# " + Schema + "\nhello\n", "# " + Schema + "\n# profile: x\n"} {
		g.Expect(Save(dir, []Scenario{{Name: "handshake", Text: wrong}})).To(Succeed())
		_, err = Load(dir)
		g.Expect(err).To(HaveOccurred(), wrong)
	}
}
