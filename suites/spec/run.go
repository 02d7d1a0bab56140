package spec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/extensions/globals"
	"github.com/onsi/ginkgo/v2/formatter"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/reports"
)

// Run is one run of a suite: what it was told, and the ledger of what was found.
type Run struct {
	Options
	Results *reports.Collector

	begun   time.Time
	current atomic.Pointer[string] // the id of the spec that runs
	recorders

	finding sync.Mutex
	broken  []string // rows that monitors found broken in the spec that runs
}

// NewRun starts a run whose result is about these ids.
func NewRun(o Options, ids []string) (*Run, error) {
	results, err := reports.NewCollector(o.Catalogue, string(o.Profile), o.Frozen, ids)
	if err != nil {
		return nil, err
	}
	return &Run{Options: o, Results: results, begun: time.Now(), recorders: recorders{Sent: wire.ClientToServer, all: map[any]*recorder{}}}, nil
}

// Violated records what a monitor has found.
func (r *Run) Violated(v protocol.Violation) {
	o := reports.Outcome{Verdict: reports.Fail, Expected: v.Expected, Actual: v.Actual, Frames: r.Frames(v.Frames)}
	if during := r.current.Load(); during != nil && !strings.HasPrefix(v.Row, *during) {
		o.Repeat = r.repeat(v.Row, *during)
	} else {
		o.Repeat = r.repeat(v.Row)
	}
	r.Results.Record(v.Row, o)
	r.finding.Lock()
	defer r.finding.Unlock()
	if !slices.Contains(r.broken, v.Row) {
		r.broken = append(r.broken, v.Row)
	}
}

// foundBroken reports whether a monitor found this row broken in the spec that runs.
func (r *Run) foundBroken(id string) bool {
	r.finding.Lock()
	defer r.finding.Unlock()
	return slices.Contains(r.broken, id)
}

// takeBroken gives the rows that monitors found broken since the last call.
func (r *Run) takeBroken() []string {
	r.finding.Lock()
	defer r.finding.Unlock()
	ids := r.broken
	r.broken = nil
	return ids
}

// repeat is the command that repeats these ids alone.
func (r *Run) repeat(ids ...string) string {
	if r.Options.Repeat == nil {
		return ""
	}
	return r.Options.Repeat(ids...)
}

// Frames turns lines into what a report shows of them.
func (r *Run) Frames(lines []wire.Line) []reports.Frame {
	out := []reports.Frame{}
	for _, l := range lines {
		if l.Size == 0 && len(l.Raw) == 0 {
			continue
		}
		f := reports.NewFrame(l.At.Sub(r.begun).Seconds(), string(l.Dir), l.Raw)
		if l.Cut() {
			f.Bytes = int(l.Size)
		}
		out = append(out, f)
	}
	return out
}

// Note tells the user something that is no verdict.
func (r *Run) Note(format string, args ...any) {
	if r.Log != nil {
		r.Log(format, args...)
	}
}

// Result is the run as it stands: kind and subject are its suite's to fill in.
// final is set where it came to its end; unreached says why ids without an outcome
// have none, "" while they still may get one.
func (r *Run) Result(final bool, unreached string) *reports.Run {
	return &reports.Run{
		Catalogue: r.Catalogue.Revision(), Frozen: r.Frozen,
		Started: r.begun, Seconds: time.Since(r.begun).Seconds(),
		Profile: string(r.Profile), Seed: r.Seed, Complete: final,
		Requirements: r.Results.Requirements(final || unreached != "", unreached),
		Besides:      r.Results.Besides(),
	}
}

// Outside makes a T for steps that belong to no spec of the catalogue: nothing that
// it finds is recorded.
func (r *Run) Outside(ctx context.Context, name string) *T { return &T{Ctx: ctx, ID: name, run: r} }

// Close ends the transcripts. What is found from now on was found in no spec.
func (r *Run) Close() {
	r.current.Store(nil)
	r.recorders.close()
}

// EnvNames are the names of the variables of an environment, as a report shows it.
func EnvNames(env []string) []string {
	out := make([]string, 0, len(env))
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// timeout bounds a spec as a whole, far above what its own deadlines allow: it
// catches a mistake of the suite, not a slow subject.
const timeout = 30 * time.Minute

// Hooks are how a suite takes part in the life of its specs.
type Hooks[B any] struct {
	// Begin makes what the body of a spec is given, around t.
	Begin func(t *T) B
	// Diagnose says what has become of the subject in a spec that does not hold,
	// before Leave, which may add to it; nil is allowed.
	Diagnose func(B) *reports.Diagnosis
	// Leave puts in order what the spec has used, when its verdict is known.
	Leave func(B)
	// Result is the run as it stands, to be saved.
	Result func() *reports.Run
}

// All runs the specs, in their order, under Ginkgo, whose own output goes nowhere.
func All[B any](ctx context.Context, r *Run, name string, entries []Entry[B], h Hooks[B]) {
	if len(entries) == 0 {
		return
	}
	formatter.ColorableStdOut, formatter.ColorableStdErr = io.Discard, io.Discard
	globals.Reset()
	ginkgo.Describe(name, ginkgo.Ordered, ginkgo.ContinueOnFailure, func() {
		for i, e := range entries {
			ginkgo.It(e.ID+" "+e.Row.SentenceOf(e.Variant), ginkgo.Label(e.Row.Labels()...), func(sc ginkgo.SpecContext) {
				specCtx, cancel := context.WithCancelCause(sc)
				defer cancel(nil)
				defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
				if ctx.Err() != nil {
					ginkgo.AbortSuite("interrupted")
				}
				if o := one(specCtx, r, e, i, len(entries), h); o.Verdict == reports.Fail {
					ginkgo.Fail(o.Expected + ": " + o.Actual)
				}
			})
		}
	})
	suiteCfg, reporterCfg := ginkgo.GinkgoConfiguration()
	suiteCfg.RandomSeed = int64(r.Seed % (1 << 31))
	suiteCfg.Timeout = 24 * time.Hour
	suiteCfg.GracePeriod = time.Minute
	suiteCfg.EmitSpecProgress = false
	reporterCfg.NoColor, reporterCfg.Succinct = true, true
	ginkgo.RunSpecs(discard{}, "dshconform "+name, suiteCfg, reporterCfg)
}

// discard takes the verdict of Ginkgo on the suite as a whole: ours are by
// requirement.
type discard struct{}

func (discard) Fail() {}

// one runs one spec and settles its outcome.
func one[B any](ctx context.Context, r *Run, e Entry[B], i, of int, h Hooks[B]) reports.Outcome {
	overdue := fmt.Errorf("the spec did not end within %s", timeout)
	if !r.NoDeadlines {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, overdue)
		defer cancel()
	}
	t := &T{Ctx: ctx, ID: e.ID, run: r, level: e.Row.Level}
	b := h.Begin(t)
	r.takeBroken() // what was found between two specs belongs to neither
	r.current.Store(&e.ID)
	if r.Progress != nil {
		r.Progress.Started(e.ID, i, of)
	}
	start := time.Now()
	t.perform(func() { e.Body(b) })
	t.outcome.Seconds = time.Since(start).Seconds()
	var diagnosis *reports.Diagnosis
	if !t.Sound() && h.Diagnose != nil {
		diagnosis = h.Diagnose(b)
	}
	h.Leave(b)
	switch {
	case errors.Is(context.Cause(ctx), overdue):
		t.outcome, t.found = reports.Outcome{Verdict: reports.Error, Reason: overdue.Error(), Seconds: t.outcome.Seconds}, nil
	case t.stopped || ctx.Err() != nil && !t.Failed():
		return reports.Outcome{}
	}
	t.outcome.Repeat = r.repeat(e.ID)
	if t.Behind && r.RepeatBehind != nil {
		t.outcome.Repeat = r.RepeatBehind(e.ID)
	}
	if t.outcome.Frames == nil {
		t.outcome.Frames = []reports.Frame{}
	}
	if len(t.recorders) > 0 {
		t.outcome.Transcript = "transcripts/" + transcriptName(e.ID, t.judged())
	}
	r.Results.Record(e.ID, t.outcome)
	broken := r.takeBroken()
	if !t.Sound() && !slices.Contains(broken, e.ID) {
		broken = append(broken, e.ID)
	}
	if len(broken) > 0 {
		kept := t.keepInput()
		kept.Diagnosis = diagnosis
		for _, id := range broken {
			r.Results.Attach(id, kept)
		}
	}
	o, _ := r.Results.Outcome(e.ID) // with what the monitor saw of it
	if r.Progress != nil {
		r.Progress.Ended(e.ID, o)
	}
	if r.Save != nil {
		r.Save(h.Result())
	}
	return o
}
