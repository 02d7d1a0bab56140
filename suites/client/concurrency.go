package client

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// concurrency: several calls at once, and pipes that fill.
func concurrency(s *suite) {
	s.It("C-CON-01", together)
	s.It("C-CON-02", func(t *T) {
		noise := strings.Repeat("a log line that nobody waits for, 64 bytes long with its newline\n", 1<<14)
		p := t.Launch(protocol.MethodPrompt)
		_ = p.noisy("1 MiB on stderr does not block the client", noise) &&
			p.noisy("1 MiB on stderr does not block the client behind a line that is no UTF-8", "caf\xe9\n"+noise) &&
			p.noisy("1 MiB on stderr does not block the client where it is one line", strings.Repeat("x", 1<<20)+"\n")
	})
	s.It("C-CON-03", slowReader)
}

// noisy writes to stderr while a call waits, which has to settle behind it.
func (p *Peer) noisy(expected, noise string) bool {
	a, ok := p.Asks(expected)
	return ok && p.t.Judge(p.RT.WriteStderr(p.t.Ctx, []byte(noise)), expected, a.Shown.frames()...) &&
		a.Settles(expected+": the call settles", a.Turn(harness.Turn{}))
}

// together starts long prompts while nothing is read, so that the pipe is full of the
// first when the others begin.
func together(t *T) {
	const calls, size = 8, 256 << 10
	const expected = "concurrent prompts reach the runtime as whole lines, and each gets its own outcome"
	p := t.Launch(protocol.MethodPrompt)
	show := p.Since()
	resume := p.RT.Stall()
	defer resume()
	prompts := make([]harness.Prompt, calls)
	for i := range prompts {
		prompts[i] = harness.Prompt{SessionID: t.Session(), Text: strings.Repeat(string(rune('a'+i)), size)}
	}
	made, errs := make([]*harness.Call, calls), make([]error, calls)
	begun := make(chan struct{})
	go func() {
		defer close(begun)
		for i, prompt := range prompts {
			if made[i], errs[i] = p.GoPrompt(t.Ctx, prompt); errs[i] != nil {
				return
			}
		}
	}()
	timer := time.NewTimer(t.run.deadlines.Leave)
	defer timer.Stop()
	select {
	case <-begun:
		t.Client(nil) // when the driver has done this it has begun the calls before it
	case <-timer.C: // a call that waits for the pipe holds up its driver, as in a language with one thread
	case <-t.Ctx.Done():
	}
	resume()
	<-begun
	for i, c := range made {
		t.Need("make several calls at once", errs[i])
		t.own(c)
	}
	asked := make([]*Asked, calls)
	for i, prompt := range prompts {
		q, err := p.RT.NextPrompt(t.Ctx, prompt.SessionID)
		if !t.Judge(err, expected, show.frames()...) {
			t.visit.Spoil("stuck in " + t.ID)
			return
		}
		if !t.Expect(q.Text() == prompt.Text, expected, "a prompt is not what the caller gave: "+differs(q.Text(), prompt.Text), show.frames()...) {
			return
		}
		asked[i] = &Asked{Call: made[i], Peer: p, Q: q, Shown: show}
	}
	// In the order in which they were made, which counted ids tell, or else in that of the
	// wire: what another order does is another requirement.
	slices.SortFunc(asked, func(a, b *Asked) int { return cmp.Or(count(a.Q)-count(b.Q), a.Q.Seq-b.Q.Seq) })
	for _, a := range asked {
		if !a.Settles(expected, a.Turn(harness.Turn{Unquoted: true})) {
			return
		}
	}
}

// count is the id of a request that is a number, also as a string, and 0 for others.
func count(q *harness.Request) int {
	n, _ := strconv.Atoi(q.ID().Text())
	return n
}

// slowReader reads a prompt of 16 MiB in small pieces, with stalls.
func slowReader(t *T) {
	const expected = "a prompt of 16 MiB reaches a runtime that reads slowly whole"
	p := t.Launch(protocol.MethodPrompt)
	text := strings.Repeat("16 MiB of text, 25 bytes ", 16<<20/25+1)
	show := p.Since()
	resume := p.RT.Stall()
	defer resume()
	prompt := harness.Prompt{SessionID: t.Session(), Text: text}
	c, err := p.GoPrompt(t.Ctx, prompt)
	t.Need("make a call", err)
	p.RT.Pace(64<<10, 100*time.Microsecond)
	resume()
	// Between the call and its first byte lies all that is done to 16 MiB of JSON.
	q, err := p.RT.NextWithin(t.Ctx, "prompt of the SDK", t.run.deadlines.Turn, func(q *harness.Request) bool { return q.Method() == protocol.MethodPrompt })
	if !t.Judge(err, expected, show.frames()...) {
		t.visit.Spoil("stuck in " + t.ID)
		return
	}
	p.RT.Pace(0, 0)
	if !t.Expect(q.Text() == text, expected, "its text is not what the caller gave: "+differs(q.Text(), text), show.frames()...) {
		return
	}
	a := &Asked{Call: t.own(c), Peer: p, Q: q, Shown: show}
	a.Settles(expected+", and settles", a.Turn(harness.Turn{Unquoted: true}))
}

// differs says where a text departs from the one that it should be.
func differs(got, want string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("from byte %d on it is another one: %+q", i, protocol.Short(got[i:]))
		}
	}
	return fmt.Sprintf("it has %d bytes of %d", len(got), len(want))
}
