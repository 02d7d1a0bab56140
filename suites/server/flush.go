package server

import (
	"fmt"
	"strings"
	"time"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
)

// The answer of the model that a stalled reader gets: 16 MiB.
const (
	manyEvents = 1024
	sizeOfEach = 16 << 10
)

// brokenPieces are what the monitor finds where a write to a full pipe went wrong.
var brokenPieces = []string{"S-FRM-01", "S-ENC-05", "S-ORD-03/root"}

// flush: pipes that are full, and frames that are written at once.
func flush(s *suite) {
	s.It("S-FLS-01", shared, stalledReader)
	s.It("S-FLS-02", 1, stalledAtShutdown)
	s.It("S-FLS-03", shared, func(t *T) {
		// The monitor judges each line; turns that are held and let go together make
		// the server write for all of them at once.
		srv := t.Shared()
		t.Run(srv, t.Session(), model.Events(1, 64<<10)) // what is wrong with one alone is not their mixing
		defer t.CountAs("S-FRM-01", "S-ENC-05")()
		var turns []*Turn
		var gates []*model.Gate
		for range 10 {
			turn, gate := t.Held(srv, t.Session(), nil, []model.Step{model.Events(4, 64<<10)})
			turns, gates = append(turns, turn), append(gates, gate)
		}
		for _, gate := range gates {
			gate.Open()
		}
		for _, turn := range turns {
			if _, err := turn.TrySettle(); err != nil {
				t.Conclude(err)
				break // a response that is lost is another requirement's
			}
		}
		t.Exercised(srv, "S-FLS-03")
	})
	s.It("S-FLS-04", shared, floodOfRequests)
}

// stalledReader: a turn of 16 MiB while nobody reads.
func stalledReader(t *T) {
	srv := t.Shared()
	t.wholeWithoutStall(srv)
	defer t.CountAs(brokenPieces...)()
	script := t.Script(model.Events(manyEvents, sizeOfEach))
	resume := srv.Stall()
	defer resume()
	turn := t.Begin(srv, t.Session(), script)
	t.againstFullPipe(srv)
	resume()
	settled, err := turn.TrySettle()
	if !t.Judge(err, "with a reader that stalls and then reads, a turn of 16 MiB comes to its end", turn.Line) {
		return
	}
	problem, line := wholeText(settled.Events, script.Answer(0))
	t.Expect(problem == "", "with a reader that stalls and then reads, 16 MiB of events arrive whole and in order", problem, turn.Line, line)
}

// wholeWithoutStall needs a small turn to arrive whole where nothing stalls: what
// is missing there is not the pipe's fault.
func (t *T) wholeWithoutStall(srv *harness.Server) {
	script := t.Script(model.Events(8, 1024))
	settled := t.Begin(srv, t.Session(), script).Settle()
	if problem, _ := wholeText(settled.Events, script.Answer(0)); problem != "" {
		t.NotReached("a small turn arrives whole without a stall", fmt.Errorf("%s", problem))
	}
}

// wholeText says what is wrong with the text that the events of a turn show.
func wholeText(events []Event, want string) (problem string, at wire.Line) {
	r := replyOf(events)
	switch {
	case r.message != want:
		return "the assistant/message " + differs(r.message, want), r.line
	case r.chunked && r.chunks != want:
		return "the text of the assistant/chunk events " + differs(r.chunks, want), r.line
	}
	return "", wire.Line{}
}

// differs tells the first difference between two long texts.
func differs(got, want string) string {
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	switch {
	case at == len(got):
		return fmt.Sprintf("ends at byte %d of %d", at, len(want))
	case at == len(want):
		return fmt.Sprintf("goes on behind its %d bytes", at)
	}
	return fmt.Sprintf("is another one from byte %d of %d on", at, len(want))
}

// fullPipe is how many bytes a pipe holds in any case, however they came.
const fullPipe = 16 << 10

// againstFullPipe waits until the subject has run into a reader that is stalled,
// and a grace more for what it does then.
func (t *T) againstFullPipe(srv *harness.Server) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for over := time.Now().Add(srv.Deadlines().Turn); ; {
		n, known := srv.Unread()
		if n >= fullPipe || !known {
			break
		}
		if time.Now().After(over) {
			t.NotReached("the server writes into the pipe that nobody reads", fmt.Errorf("%d bytes wait there", n))
		}
		select {
		case <-tick.C:
		case <-t.Ctx.Done():
			t.Conclude(t.Ctx.Err())
		}
	}
	t.grace(srv, nil)
}

// grace waits for what order can't prove, or until done.
func (t *T) grace(srv *harness.Server, done <-chan struct{}) {
	timer := time.NewTimer(srv.Deadlines().Grace)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-done:
	case <-t.Ctx.Done():
		t.Conclude(t.Ctx.Err())
	}
}

// stalledAtShutdown: the process is told to end while its output waits.
func stalledAtShutdown(t *T) {
	srv := t.Fresh()
	t.wholeWithoutStall(srv)
	defer t.CountAs(brokenPieces...)()
	resume := srv.Stall()
	defer resume()
	turn := t.Begin(srv, t.Session(), t.Script(model.Events(manyEvents, sizeOfEach)))
	t.againstFullPipe(srv)
	c := t.Send(srv, protocol.MethodShutdown, nil)
	turn.Disown() // judged here
	c.Disown()
	t.grace(srv, srv.Process().Exited()) // to read it, and to throw away what waits
	resume()
	e := srv.AwaitExit(t.Ctx)
	t.Conclude(t.Ctx.Err())
	_, shutdown := c.Now()
	_, prompt := turn.Now()
	if shutdown && (prompt || !t.Profile.Settles()) || srv.Violations("S-FLS-02") > 0 {
		return // what the monitor has found is told
	}
	// What goes wrong without a stall too is not the pipe's fault.
	answered := t.sameWithoutStall()
	var missing []string
	var frames []wire.Line
	if !prompt && answered && t.Profile.Settles() {
		missing, frames = append(missing, "the response of the turn in flight"), append(frames, turn.Line)
	}
	if !shutdown {
		missing, frames = append(missing, "the response to shutdown"), append(frames, c.Line)
	}
	if len(missing) == 0 {
		return
	}
	how := "before the process ended"
	if !e.Exited {
		how = "and the process does not end"
	}
	t.Fail("at a shutdown everything that waits for a stalled reader still arrives", "no sign of "+strings.Join(missing, " and ")+" "+how, frames...)
}

// sameWithoutStall shuts down a process with a turn in flight that is read all
// the time, and tells whether its prompt was answered.
func (t *T) sameWithoutStall() (answered bool) {
	srv := t.Fresh()
	turn, _ := t.Held(srv, t.Session(), []model.Step{model.Text("Said before the end.")}, nil)
	turn.Disown()
	_, err := srv.Shutdown(t.Ctx)
	t.Need("a shutdown that nothing stalls", err)
	_, answered = turn.Now()
	return answered
}

// floodOfRequests writes 4 MiB of requests while nobody reads.
func floodOfRequests(t *T) {
	srv := t.Shared()
	for range 20 { // without a stall each gets one answer, in a line of its own
		t.Barrier(srv)
	}
	defer t.CountAs("S-FRM-01", "S-ENC-05", "S-MSG-04")()
	var all []byte
	for range 4096 {
		b := harness.Barriers[t.run.barrier]
		if b.Params == nil { // an unknown method, which most servers repeat in the error
			b.Method += "/" + strings.Repeat("x", 1000)
		}
		all = append(all, harness.Frame(srv.NewID(), b.Method, b.Params)...)
	}
	resume := srv.Stall()
	defer resume()
	written := make(chan struct{})
	var calls []*harness.Call
	var err error
	go func() { // ends by itself: each write has its deadline
		defer close(written)
		requests, failed := srv.Write(t.Ctx, all)
		calls, err = srv.Calls(requests), failed
	}()
	// Until all is written, or nothing more is taken up by a server whose own pipe is
	// full: one that does not get a CPU takes up nothing either.
	over := time.Now().Add(srv.Deadlines().Turn)
	for last := int64(-1); ; {
		now := srv.Written()
		if n, known := srv.Unread(); now == last && (n >= fullPipe || !known || time.Now().After(over)) {
			break
		}
		last = now
		done := false
		timer := time.NewTimer(srv.Deadlines().Grace)
		select {
		case <-written:
			done = true
		case <-timer.C:
		}
		timer.Stop()
		if done {
			break
		}
	}
	resume()
	<-written
	const expected = "requests that were written while nobody read are answered once somebody reads"
	if err != nil {
		t.run.spoil(srv, t.ID)
	}
	if !t.Judge(err, expected) {
		return
	}
	for _, c := range calls {
		if _, ok := t.Answered(c, expected); !ok {
			return
		}
	}
}
