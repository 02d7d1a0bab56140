package parity

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/sdk"
	"github.com/dshconform/dshconform/suites/spec"
)

// runner is one run: the clients, and the ledger of what was found.
type runner struct {
	*spec.Run
	cfg         Config
	abort       context.CancelCauseFunc // ends the run with a reason
	clients     []*contestant
	profileNote string

	mu          sync.Mutex
	differences []reports.Difference
}

// contestant is one of the clients.
type contestant struct {
	Client
	sdk     *sdk.SDK
	lacks   map[string]string
	current atomic.Pointer[Play] // that its driver's messages belong to
}

func newRunner(cfg Config, abort context.CancelCauseFunc) *runner {
	r := &runner{cfg: cfg, abort: abort}
	for i, c := range cfg.Clients {
		k := &contestant{Client: c}
		k.sdk = sdk.New(sdk.Options{
			Driver: c.Driver, Program: cfg.Program, Scratch: cfg.Scratch,
			Work:      filepath.Join(cfg.Scratch, fmt.Sprintf("work-%d", i+1)),
			Deadlines: deadline.New(cfg.TimeoutScale), OnMessage: func(l wire.Line) { r.said(k, l) }, Log: r.note,
		})
		r.clients = append(r.clients, k)
	}
	return r
}

func (r *runner) note(format string, args ...any) {
	if r.cfg.Log != nil {
		r.cfg.Log(format, args...)
	}
}

func (r *runner) said(k *contestant, l wire.Line) {
	if p := k.current.Load(); p != nil && r.Run != nil {
		r.Record(p, sdk.MessageNote(l))
	}
}

// everyone does something with each client at the same time, and gives the first error
// in their order.
func (r *runner) everyone(do func(*contestant) error) error {
	errs := make([]error, len(r.clients))
	var group sync.WaitGroup
	for i, c := range r.clients {
		group.Go(func() {
			if err := do(c); err != nil {
				errs[i] = fmt.Errorf("%s: %w", c.Name, err)
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// close ends the drivers and everything that descends from them.
func (r *runner) close() {
	for _, c := range r.clients {
		c.sdk.Close()
	}
	if r.Run != nil {
		r.Run.Close()
	}
}

// T is a scenario that is compared.
type T struct {
	*spec.T
	run *runner
}

// compare plays a script on each client that can, side by side, and compares what they
// show.
func (t *T) compare(row requirements.Row, script func(*Play)) {
	r := t.run
	players := t.players(row)
	plays := make([]*Play, len(players))
	transcripts := map[string]string{}
	for i, c := range players {
		plays[i] = &Play{Profile: r.Profile, Hello: c.sdk.Hello(), ctx: t.Ctx, run: r, c: c, players: players, view: newView()}
		if file := t.Transcribe(plays[i], c.Driver.Argv); file != "" {
			transcripts[c.Name] = file
		}
	}
	errs := make([]error, len(plays))
	var group sync.WaitGroup
	for i, p := range plays {
		group.Go(func() { errs[i] = p.perform(t.ID, script) })
	}
	group.Wait()
	for i, err := range errs {
		if err != nil {
			t.give(players[i], err)
		}
	}
	names := make([]string, len(plays))
	views := make([]*view, len(plays))
	for i, p := range plays {
		names[i], views[i] = p.c.Name, p.view
	}
	t.tell(names, views, transcripts)
}

// give gives the scenario up for an error that is no client's.
func (t *T) give(c *contestant, err error) {
	if t.Ctx.Err() == nil && harness.DriverFault(err) {
		t.run.abort(&spec.NotRunError{Err: fmt.Errorf("%s: %s", c.Name, harness.Explain(err))})
		<-t.Ctx.Done() // it is told in a goroutine of its own
	}
	t.Conclude(err)
	t.End(reports.Outcome{Verdict: reports.Error, Reason: fmt.Sprintf("%s: %v", c.Name, err)})
}

// tell records what came of comparing.
func (t *T) tell(names []string, views []*view, transcripts map[string]string) {
	c := compare(names, views)
	if len(c.same)+len(c.differences) == 0 {
		t.End(reports.Outcome{Verdict: reports.Error, Reason: "nothing was compared"})
	}
	for _, d := range c.differences {
		for _, name := range names {
			if v, ok := d.values[name]; ok {
				t.Observe(d.field+" ("+name+")", "%s", v)
			}
		}
	}
	for _, field := range c.same {
		for _, v := range views {
			if x, ok := v.fields[field]; ok {
				t.Observe(field, "%s", x.short())
				break
			}
		}
	}
	t.run.mu.Lock()
	defer t.run.mu.Unlock()
	for _, d := range c.differences {
		files := map[string]string{}
		for name := range d.values {
			if transcripts[name] != "" {
				files[name] = transcripts[name]
			}
		}
		t.run.differences = append(t.run.differences, reports.Difference{ID: t.ID, Field: d.field, Values: d.values, Transcripts: files})
	}
}

// perform plays the script. The error is one that is no client's.
func (p *Play) perform(id string, script func(*Play)) (err error) {
	p.visit = p.c.sdk.Visit(sdk.VisitOptions{Name: id, Profile: p.Profile, OnLine: func(l wire.Line) { p.run.Record(p, l) }})
	p.c.current.Store(p)
	defer func() {
		switch r := recover().(type) {
		case nil, stop:
		case fault:
			err = r.err
		default:
			err = fmt.Errorf("the scenario panicked: %v\n%s", r, strings.TrimSpace(string(debug.Stack())))
		}
		err = errors.Join(err, p.visit.Release(p.ctx))
		p.c.current.Store(nil)
		p.run.Forget(p)
	}()
	p.part("", func() { script(p) })
	return nil
}

// brief is a time-out of an SDK's own that is meant to pass, the same for all.
func (r *runner) brief() (longest time.Duration) {
	for _, c := range r.clients {
		longest = max(longest, c.sdk.Brief())
	}
	return longest
}
