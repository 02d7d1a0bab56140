package server

import (
	"strconv"

	harness "github.com/dshconform/dshconform/harness/server"
)

// Shared gives the process that specs share, a new one where the last was spent.
func (t *T) Shared() *harness.Server {
	if s := t.used; s != nil && s.Fit() {
		t.hasten(s)
		return s
	}
	s, err := t.run.sharedServer(t.Ctx)
	t.Need("start the subject", err)
	t.used = s
	t.Behind = t.run.served == s
	t.hasten(s)
	t.Transcribe(s, t.run.launch.Command.Argv)
	return s
}

// hasten shortens the waits of a process while a smaller input is looked for.
func (t *T) hasten(s *harness.Server) {
	if t.hurry {
		s.Hasten()
	}
}

// Apart gives a process for what may do lasting harm: its directories are its
// own, so that what it keeps there meets no other process. Specs share it as long
// as they pass on it. It is killed in the end: nothing of what was done to it is
// to cost the requirements on ends.
func (t *T) Apart() *harness.Server {
	if s := t.apart; s != nil && s.Fit() {
		t.hasten(s)
		return s
	}
	r := t.run
	r.mu.Lock()
	s := r.apart
	r.mu.Unlock()
	if s == nil || !s.Fit() {
		if s != nil {
			s.Stop(t.Ctx)
		}
		launch, _, err := r.layOut(r.path("apart", strconv.FormatInt(r.count(), 10)))
		t.Need("lay out directories of its own", err)
		launch.Deadlines = r.launch.Deadlines
		s, err = launch.StartInitialized(t.Ctx)
		if s != nil {
			s.UseBarrier(r.barrier)
			r.mu.Lock()
			r.apart, r.all = s, append(r.all, s)
			r.mu.Unlock()
		}
		t.Need("start the subject", err)
	}
	t.apart = s
	t.hasten(s)
	t.Transcribe(s, r.launch.Command.Argv)
	return s
}

// Fresh gives an initialised process that no other spec has used. It is ended
// with the spec.
func (t *T) Fresh() *harness.Server {
	s := t.Unused()
	t.Need("initialize a fresh process", s.Initialize(t.Ctx))
	return s
}

// Unused gives a process that nothing was sent to. It was started ahead of need:
// what is about the time before it serves takes Raw. One that ended by itself
// while it waited is no verdict on what the spec is about: it is told, and
// another one is taken.
func (t *T) Unused() *harness.Server {
	s, err := t.run.pool.take(t.Ctx)
	if err == nil {
		if e, ended := s.Process().Exit(); ended {
			t.run.Note("a process ended (%s) before anything was sent to it; another one is taken for %s", e, t.ID)
			s.Stop(t.Ctx)
			s, err = t.run.launched(t.Ctx)
		}
	}
	if s != nil {
		t.own(s)
	}
	t.Need("start a fresh process", err)
	return s
}

// Raw gives a process that was launched just now.
func (t *T) Raw() *harness.Server {
	s, err := t.run.launch.Start(t.Ctx)
	t.Need("start a fresh process", err)
	s.UseBarrier(t.run.barrier)
	t.own(s)
	return s
}

// RawWith gives a process of a changed launch that nothing was sent to.
func (t *T) RawWith(change func(*harness.Launch)) *harness.Server {
	l := *t.run.launch
	change(&l)
	s, err := l.Start(t.Ctx)
	t.Need("start a fresh process", err)
	s.UseBarrier(t.run.barrier)
	t.own(s)
	return s
}

func (t *T) own(s *harness.Server) {
	t.servers = append(t.servers, s)
	t.Transcribe(s, t.run.launch.Command.Argv)
}

// Shutdown ends a process by the protocol and judges nothing: what is wrong with
// it is found by the monitor and the harness under their own requirements.
func (t *T) Shutdown(s *harness.Server) harness.Ending {
	e, err := s.Shutdown(t.Ctx)
	t.Need("shutdown", err)
	return e
}

// leave puts the processes of the spec in order: its own are ended, by the
// protocol where they are fit for it, and the shared one is given up unless the
// spec passed on it.
func (t *T) leave() {
	for _, g := range t.gates {
		g.Open()
	}
	sound := t.Sound()
	for _, s := range t.servers {
		if sound && s.Fit() {
			_, _ = s.Shutdown(t.Ctx) // judged by the harness, under S-SHD-01 and S-PRC-01
		}
		s.Stop(t.Ctx)
		s.Forget() // nobody asks for its lines any more
	}
	if t.used != nil {
		t.run.served = t.used
	}
	for _, s := range []*harness.Server{t.used, t.apart} {
		if s == nil {
			continue
		}
		s.Forget()
		if !sound {
			s.Spoil("the spec of " + t.ID + " did not pass on it")
		}
	}
	t.measure()
}
