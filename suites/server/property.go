package server

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/spec"
)

// shrinkTime bounds the search for the smallest counterexample. It is soft: what
// runs when it is over is finished.
const shrinkTime = "5s"

// rapidFlags makes rapid's flags exist in a program that is no test.
var rapidFlags = sync.OnceValue(func() error {
	if flag.Lookup("test.v") == nil {
		testing.Init()
	}
	if !flag.Parsed() {
		if err := flag.CommandLine.Parse(nil); err != nil {
			return fmt.Errorf("prepare the property tests: %w", err)
		}
	}
	return nil
})

// Counterexample is how a property reports that it does not hold: a message that
// does not vary between runs of one input, or shrinking is disabled, and the
// frames that show it.
type Counterexample struct {
	t      *T
	rt     *rapid.T
	frames *[]wire.Line
}

// Fail ends the iteration as falsified.
func (c Counterexample) Fail(message string, frames ...wire.Line) {
	*c.frames = frames
	c.t.hurry = true // from here on rapid looks for a smaller one
	c.rt.Fatal(message)
}

// Property checks a property with generated input. A failure becomes a mismatch
// that shows the smallest counterexample that was found, with the seed. What the
// property needs and does not get ends the spec as in other specs.
func (t *T) Property(checks int, expected string, prop func(rt *rapid.T, c Counterexample)) {
	if err := rapidFlags(); err != nil {
		t.End(reports.Outcome{Verdict: reports.Error, Reason: err.Error()})
	}
	seed := t.run.cfg.Seed
	if seed == 0 {
		seed = 1 // rapid takes 0 for "any"
	}
	for name, value := range map[string]string{
		"rapid.checks": strconv.Itoa(checks), "rapid.seed": strconv.FormatUint(seed, 10),
		"rapid.nofailfile": "true", "rapid.shrinktime": cmp.Or(t.shrinkTime, shrinkTime),
	} {
		if err := flag.Set(name, value); err != nil {
			t.End(reports.Outcome{Verdict: reports.Error, Reason: fmt.Sprintf("set %s: %v", name, err)})
		}
	}
	tb := &buffer{name: strings.ReplaceAll(t.ID, "/", "_"), ctx: t.Ctx}
	var frames []wire.Line
	var early any // a sentinel of this package that ended an iteration
	func() {
		defer func() {
			if p := recover(); p != nil && p != any(sentinel{}) {
				panic(p)
			}
		}()
		rapid.Check(tb, func(rt *rapid.T) {
			if early != nil || t.Ctx.Err() != nil {
				rt.SkipNow()
			}
			defer func() {
				if p, ok := recover().(spec.Stopped); ok {
					early = p
					rt.SkipNow()
				} else if r := recover(); r != nil {
					panic(r)
				}
			}()
			prop(rt, Counterexample{t, rt, &frames})
		})
	}()
	switch {
	case early != nil:
		t.Stop()
	case t.Ctx.Err() != nil:
		t.Conclude(context.Cause(t.Ctx))
	case tb.failed:
		t.Fail(expected, fmt.Sprintf("falsified; seed %d, smallest input:\n%s", seed, tb.draws()), frames...)
	}
}

// sentinel unwinds a rapid.Check that failed.
type sentinel struct{}

// buffer is a rapid.TB that keeps what rapid says. Under Ginkgo's own, rapid
// would be aborted before it has shown the draws.
type buffer struct {
	name   string
	ctx    context.Context
	mu     sync.Mutex
	lines  []string
	failed bool
}

func (b *buffer) Helper()                  {}
func (b *buffer) Name() string             { return b.name }
func (b *buffer) Context() context.Context { return b.ctx }
func (b *buffer) Failed() bool             { return b.failed }
func (b *buffer) Fail()                    { b.failed = true }
func (b *buffer) FailNow()                 { b.failed = true; panic(sentinel{}) }
func (b *buffer) SkipNow()                 { panic(sentinel{}) }

func (b *buffer) Log(args ...any)            { b.say(fmt.Sprint(args...)) }
func (b *buffer) Logf(f string, args ...any) { b.say(fmt.Sprintf(f, args...)) }
func (b *buffer) Error(args ...any)          { b.failed = true; b.Log(args...) }
func (b *buffer) Errorf(f string, a ...any)  { b.failed = true; b.Logf(f, a...) }
func (b *buffer) Fatal(args ...any)          { b.Log(args...); b.FailNow() }
func (b *buffer) Fatalf(f string, a ...any)  { b.Logf(f, a...); b.FailNow() }
func (b *buffer) Skip(args ...any)           { b.Log(args...); b.SkipNow() }
func (b *buffer) Skipf(f string, a ...any)   { b.Logf(f, a...); b.SkipNow() }

func (b *buffer) say(s string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, s)
}

// draws are what rapid printed of its last run, which is that of the smallest
// input, without its advice on flags that this program does not have.
func (b *buffer) draws() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, l := range b.lines {
		if strings.HasPrefix(l, "[rapid] draw ") {
			out = append(out, "  "+strings.TrimPrefix(l, "[rapid] draw "))
		} else if !strings.HasPrefix(l, "[rapid]") {
			out = append(out, "  "+l)
		}
	}
	if len(out) == 0 {
		return strings.Join(b.lines, "\n")
	}
	return strings.Join(out, "\n")
}
