package server

import (
	"context"
	"slices"
	"strings"

	harness "github.com/dshconform/dshconform/harness/server"
	"github.com/dshconform/dshconform/reports"
)

// started is called with each process of the run.
func (r *runner) started(ctx context.Context, s *harness.Server) error {
	r.mu.Lock()
	r.servers = append(r.servers, s)
	r.mu.Unlock()
	if r.cfg.OnStart != nil {
		return r.cfg.OnStart(ctx, s.Process())
	}
	return nil
}

// extras are what all processes of the run wrote beyond the protocol.
func (r *runner) extras() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]int{}
	for _, s := range r.servers {
		for name, n := range s.Extras() {
			all[name] += n
		}
	}
	return all
}

// diagnosis is what became of all processes of the run so far.
func (r *runner) diagnosis() *reports.Diagnosis {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.servers) == 0 {
		return nil
	}
	d := &reports.Diagnosis{StartupSeconds: r.startup.Seconds(), Processes: len(r.servers)}
	for _, s := range r.servers {
		if e, ended := s.Process().Exit(); ended {
			d.PeakBytes = max(d.PeakBytes, e.MaxRSS)
		}
	}
	return d
}

// diagnose says what had become of the subject when the spec turned out not to hold:
// of the first of its processes that has ended by itself, else of the last one.
func (t *T) diagnose() *reports.Diagnosis {
	used := slices.Clone(t.servers)
	for _, s := range []*harness.Server{t.apart, t.used} {
		if s != nil && !slices.Contains(used, s) {
			used = append(used, s)
		}
	}
	if len(used) == 0 {
		return nil
	}
	s := used[len(used)-1]
	if i := slices.IndexFunc(used, func(s *harness.Server) bool { _, ended := s.Process().Exit(); return ended }); i >= 0 {
		s = used[i]
	}
	t.diagnosed = s
	stderr := s.Process().Stderr()
	t.diagnosis = &reports.Diagnosis{StartupSeconds: s.Startup().Seconds(), Stderr: strings.ToValidUTF8(string(stderr.Tail[max(0, len(stderr.Tail)-mostTail):]), "\ufffd"), StderrBytes: stderr.Total}
	if e, ended := s.Process().Exit(); ended {
		if t.diagnosis.Signal = e.Signal; e.Signal == "" && !e.Unknown {
			t.diagnosis.Exit = &e.Code
		}
		t.diagnosis.Left = t.leftRunning(s)
	}
	return t.diagnosis
}

// leftRunning are the processes of a tree whose first one has ended.
func (t *T) leftRunning(s *harness.Server) (left []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Ctx), s.Deadlines().Leave)
	defer cancel()
	members, err := s.Process().Tree(ctx)
	if err != nil {
		return nil // the platform can't tell
	}
	for _, m := range members {
		left = append(left, m.String())
	}
	return left
}

// measure adds to the diagnosis what is known once the process is gone.
func (t *T) measure() {
	if t.diagnosed == nil {
		return
	}
	if e, ended := t.diagnosed.Process().Exit(); ended {
		t.diagnosis.PeakBytes = e.MaxRSS
	}
}
