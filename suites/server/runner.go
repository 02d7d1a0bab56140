package server

import (
	"context"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dshconform/dshconform/harness/deadline"
	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/suites/spec"
	"github.com/dshconform/dshconform/suites/target"
)

// runner is one run: the stub of the model, the way to start the subject, the
// shared process, and the ledger of what was found.
type runner struct {
	*spec.Run
	cfg     Config
	stub    *model.Stub
	launch  *harness.Launch
	barrier int // index in harness.Barriers of what this subject answers
	pool    *pool

	closing sync.Once
	mu      sync.Mutex
	shared  *harness.Server
	served  *harness.Server   // the shared process, when a spec has used it
	apart   *harness.Server   // see T.Apart
	all     []*harness.Server // that may still run
	servers []*harness.Server // that were started

	counter     atomic.Int64
	blame       attribution
	idleMissing atomic.Bool // the subject was found to report no idle: it is waited for once
	endMissing  atomic.Bool // the same of the turn/end of an answered prompt
	kidMissing  atomic.Bool // the same of subagent.finished
	refusesLate atomic.Bool // the subject was found not to refuse overlaps at once
	oneTurn     atomic.Bool // the subject was found to run one turn at a time
	leftChild   atomic.Bool // the subject was found to leave processes behind
	offered     atomic.Bool // the model was offered the tool subagent
	seen        evidence
	prefix      string
	expand      func(string) string // of the target's placeholders
	ends        map[string]end      // how fresh processes ended by EOF and SIGTERM

	startup     time.Duration    // of the first process, to its answer to initialize
	version     string           // in serverInfo
	profileNote string           // that the subject speaks another profile
	spoken      protocol.Profile // which, "" where it is the run's
	first       firstAnswer
	noModel     string // why nothing that needs a turn can be judged
}

// newRunner prepares a run; close ends it.
func newRunner(ctx context.Context, cfg Config, ledger *spec.Run) (*runner, error) {
	r := &runner{Run: ledger, cfg: cfg}
	h := fnv.New32a()
	fmt.Fprintf(h, "%s\x00%d", cfg.Scratch, cfg.Seed)
	r.prefix = strconv.FormatUint(uint64(h.Sum32()), 36)
	stub, err := model.Start(ctx, model.Options{Listen: cfg.ModelListen, AdvertiseHost: cfg.ModelHost})
	if err != nil {
		return nil, fmt.Errorf("start the stub of the model: %w", err)
	}
	r.stub = stub
	stub.OnCall(r.modelCalled)
	if err := r.prepare(); err != nil {
		stub.Close()
		return nil, err
	}
	return r, nil
}

// prepare lays out the scratch tree and makes the launch.
func (r *runner) prepare() (err error) {
	r.launch, r.expand, err = r.layOut(r.cfg.Scratch)
	return err
}

// layOut makes the directories that a process is given below scratch, and the
// launch that gives it them. The function expands the strings of a target.
func (r *runner) layOut(scratch string) (*harness.Launch, func(string) string, error) {
	t := r.cfg.Target
	ready, err := t.Prepare(r.cfg.Profile, scratch, target.ModelAccess{URL: r.stub.URL(), Key: r.stub.Key(), Control: r.stub.Control()})
	if err != nil {
		return nil, nil, err
	}
	deadlines := deadline.New(r.cfg.TimeoutScale)
	if r.cfg.NoDeadlines {
		deadlines = deadline.Unbounded()
	}
	return &harness.Launch{
		Command: process.Command{
			Argv: ready.Argv, Dir: ready.Dir, Env: ready.Env, Supervisor: []string{r.cfg.Program, "supervise"},
		},
		Monitor: protocol.Options{
			Profile: r.cfg.Profile, MaxTokensAsSuccess: t.MaxTokensAsSuccess, Secrets: []string{r.stub.Key()},
			Environment: r.disclosable(append([]string{"HOME=" + ready.Home, "TMPDIR=" + ready.Temp}, ready.Set...)),
		},
		Deadlines: deadlines,
		Cwd:       ready.Cwd, Provider: t.Provider, Model: t.Model,
		OnStart:       r.started,
		OnViolation:   r.violated,
		OnLine:        r.line,
		PatientAtExit: func() bool { return !r.leftChild.Load() },
	}, ready.Expand, nil
}

func (r *runner) expandAll(list []string) []string {
	out := make([]string, 0, len(list))
	for _, s := range list {
		out = append(out, r.expand(s))
	}
	return out
}

// disclosable are the variables that no error message may quote. The key is a
// matter of its own.
func (r *runner) disclosable(env []string) (out []protocol.Variable) {
	for _, e := range env {
		if name, value, _ := strings.Cut(e, "="); !strings.Contains(value, r.stub.Key()) {
			out = append(out, protocol.Variable{Name: name, Value: value})
		}
	}
	return out
}

func (r *runner) path(parts ...string) string {
	return filepath.Join(append([]string{r.cfg.Scratch}, parts...)...)
}

// violated gets what the monitor and the harness find, in whichever process.
func (r *runner) violated(s *harness.Server, v protocol.Violation) {
	if v.Row == "S-PRC-01" {
		r.leftChild.Store(true)
	}
	id, known := r.blame.assign(s, v)
	if !known {
		return
	}
	v.Row = id
	r.Violated(v)
}

// line hears every line of every process.
func (r *runner) line(s *harness.Server, l wire.Line) {
	if l.Dir == wire.ServerToClient {
		r.seen.look(l.Raw)
	}
	r.Record(s, l)
}

// launched starts a process and sends nothing to it.
func (r *runner) launched(ctx context.Context) (*harness.Server, error) {
	s, err := r.launch.Start(ctx)
	if err != nil {
		return nil, err
	}
	s.UseBarrier(r.barrier)
	r.mu.Lock()
	r.all = append(r.all, s)
	r.mu.Unlock()
	return s, nil
}

// start starts a process and completes the handshake.
func (r *runner) start(ctx context.Context) (*harness.Server, error) {
	s, err := r.launched(ctx)
	if err != nil {
		return nil, err
	}
	return s, s.Initialize(ctx)
}

// sharedServer gives the process that specs share.
func (r *runner) sharedServer(ctx context.Context) (*harness.Server, error) {
	r.mu.Lock()
	s := r.shared
	r.mu.Unlock()
	if s != nil && s.Fit() {
		return s, nil
	}
	if s != nil {
		s.Stop(ctx)
	}
	s, err := r.start(ctx)
	r.mu.Lock()
	r.shared = s
	r.mu.Unlock()
	if s == nil {
		return nil, err
	}
	return s, err
}

// spoil marks a process that a spec got stuck on.
func (r *runner) spoil(s *harness.Server, id string) { s.Spoil("stuck in " + id) }

func (r *runner) session() string {
	return fmt.Sprintf("s-%s-%d", r.prefix, r.counter.Add(1))
}

func (r *runner) count() int64 { return r.counter.Add(1) }

// close ends every process and the stub. The shared process ends by the
// protocol: its last words are judged like all others.
func (r *runner) close(ctx context.Context) { r.closing.Do(func() { r.end(ctx) }) }

func (r *runner) end(ctx context.Context) {
	if r.pool != nil {
		r.pool.close()
	}
	if s := r.shared; s != nil && s.Fit() && ctx.Err() == nil {
		_, _ = s.Shutdown(ctx)
	}
	for _, s := range r.all {
		s.Stop(ctx)
	}
	r.Close()
	_ = r.stub.Close() // nothing of the run depends on it any more
}

// modelCalled keeps what calls of the model say about the subject.
func (r *runner) modelCalled(c model.Call) {
	if c.Offers(model.SubagentTool) {
		r.offered.Store(true)
	}
}

// lacks reports whether the subject or the platform lacks a capability.
func (r *runner) lacks(capability string) bool {
	if _, declared := r.cfg.Target.LacksCapability(capability); declared {
		return true
	}
	_, lacks := r.platformLacks()[capability]
	return lacks
}

// lacking are the capabilities that nothing is judged of that needs them, with the
// reason: what the target says goes before what the platform lacks.
func (r *runner) lacking() map[string]string {
	reasons := r.platformLacks()
	for _, l := range r.cfg.Target.Lacks {
		reasons[l.Capability] = l.Reason
	}
	return reasons
}

// platformLacks are the capabilities that this platform, or what stands between
// the suite and the server, leaves unjudged, with the reason.
func (r *runner) platformLacks() map[string]string {
	lacks := map[string]string{}
	tree, signals := process.Capabilities()
	if !tree {
		lacks["process-tree"] = "not judged on " + runtime.GOOS
	}
	if !signals {
		lacks["signals"] = "not judged on " + runtime.GOOS
	}
	switch r.cfg.Target.Launch {
	case target.Wrapper:
		lacks["signals"] = "launched by a wrapper"
	case target.Container:
		lacks["signals"], lacks["process-tree"] = "launched in a container", "launched in a container"
	}
	if r.cfg.Target.ModelEndpoint == target.None {
		lacks["model"] = "the target has no model endpoint"
	}
	if r.cfg.Target.StderrFlood == nil {
		lacks["stderr-flood"] = "the target does not say how"
	}
	return lacks
}
