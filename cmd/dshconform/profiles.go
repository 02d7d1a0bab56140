package main

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/server"
)

// judgeServer is `dshconform server`: it reads everything that was asked for before it starts anything, judges the
// subject in each profile, and returns one exit code.
func judgeServer(ctx context.Context, f *serverFlags, command []string) (int, error) {
	found, err := newJudging(&f.judgingFlags, requirements.Server)
	if err != nil {
		return 0, err
	}
	s, err := subjectOf(found.Catalogue, f, command, found.Program)
	if err != nil {
		return 0, err
	}
	if err := f.check(); err != nil {
		return 0, err
	}
	how := ""
	if len(s.profiles) == 0 {
		var code int
		if s.profiles, how, code, err = found.findProfile(ctx, f, s); err != nil || code != 0 {
			return code, err
		}
	}
	jobs, err := jobsOf(f, s)
	if err != nil {
		return 0, err
	}
	worst := 0 // the codes are in the order of their weight
	for _, j := range jobs {
		code, err := j.judgeServer(ctx, f, s, command, how)
		if err != nil {
			return code, err
		}
		if worst = max(worst, code); code == reports.ExitInterrupted {
			break
		}
	}
	return worst, updateBaseline(jobs)
}

// jobsOf are the runs that a subject asks for, one for each profile that what is selected binds.
func jobsOf(f *serverFlags, s subject) (jobs []*judging, err error) {
	var first error
	for _, p := range s.profiles {
		j, err := newJudging(&f.judgingFlags, requirements.Server)
		if err != nil {
			return nil, err
		}
		if err := j.prepare(pinned{s.target.Path, s.target.Catalogue}); err != nil {
			return nil, err
		}
		if j.ids = idsFor(j.Catalogue, f.ids, p, s.profiles); len(j.ids) == 0 && len(f.ids) > 0 {
			continue
		}
		if err := j.choose(p, server.Implemented(j.Catalogue)); err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		jobs = append(jobs, j)
	}
	if len(jobs) == 0 {
		return nil, first
	}
	return jobs, separateReports(f, s, jobs)
}

// idsFor leaves out the ids that bind others of the profiles that are judged, and not this one.
func idsFor(cat *requirements.Catalogue, ids []string, p protocol.Profile, all []protocol.Profile) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		row, _, err := cat.Lookup(strings.TrimSpace(id))
		return err == nil && !row.Binds(string(p)) && slices.ContainsFunc(all, func(o protocol.Profile) bool { return row.Binds(string(o)) })
	})
}

// separateReports gives each run the folder of its report: one below that of all, where there are several profiles. What an
// earlier run left in the others would be taken for this one's.
func separateReports(f *serverFlags, s subject, jobs []*judging) error {
	if f.report == "" {
		return nil
	}
	for _, dir := range append(requirements.Profiles(), ".") {
		if err := clearReport(filepath.Join(f.report, dir)); err != nil {
			return err
		}
	}
	if len(s.profiles) > 1 {
		for _, j := range jobs {
			j.keep.dir = filepath.Join(f.report, string(j.Profile))
		}
	}
	return nil
}

// judgeServer judges the subject in the run's profile.
func (j *judging) judgeServer(ctx context.Context, f *serverFlags, s subject, command []string, how string) (int, error) {
	again := repeater{flags: j.flags, role: requirements.Server, own: serverOwn, profile: j.Profile, seed: j.Seed, command: command}
	j.Repeat, j.RepeatBehind = again.ids, again.behind
	j.Begun = func(r *reports.Run) {
		r.ProfileNote = how
		j.begun(r)
	}
	return j.run(ctx, func(ctx context.Context) (*reports.Run, error) {
		cfg := f.config(j, s)
		cfg.Instead = again.instead
		run, err := server.Run(ctx, cfg)
		if run != nil && run.ProfileNote == "" {
			run.ProfileNote = how
		}
		return run, err
	})
}

// findProfile starts the subject and finds the profile that it speaks. Where that can't be, the code or the error says
// why.
func (j *judging) findProfile(ctx context.Context, f *serverFlags, s subject) (p []protocol.Profile, how string, code int, err error) {
	if err := j.prepare(pinned{s.target.Path, s.target.Catalogue}); err != nil {
		return nil, "", 0, err
	}
	if err := j.keep.open(); err != nil {
		return nil, "", 0, err
	}
	var found protocol.Profile
	var run *reports.Run
	err = j.within(ctx, func(ctx context.Context) (err error) {
		found, how, run, err = server.FindProfile(ctx, f.config(j, s))
		return err
	})
	switch {
	case errors.Is(err, server.ErrNoProfile):
		return nil, "", 0, misuse("--profile %s: %w; name the profile", auto, err)
	case err != nil:
		if run != nil {
			run.Profile = ""
		}
		code, err = j.conclude(run, err)
		return nil, "", code, err
	}
	return []protocol.Profile{found}, "found by itself: " + how, 0, nil
}

// config is the run of a subject as the flags want it.
func (f *serverFlags) config(j *judging, s subject) server.Config {
	j.NoDeadlines = f.noDeadlines
	cfg := server.Config{
		Options: j.Options, Target: s.target, Predecessors: f.predecessors, ModelListen: f.modelListen, ModelHost: f.modelHost,
	}
	if f.attachWait {
		cfg.OnStart = attachWait(j.out)
	}
	return cfg
}

// check finds what is wrong in the flags of this command alone.
func (f *serverFlags) check() error {
	if f.predecessors && len(f.ids) == 0 {
		return misuse("--predecessors is for what --id selects")
	}
	if f.changed("model-listen") {
		if _, _, err := net.SplitHostPort(f.modelListen); err != nil {
			return misuse("--model-listen takes HOST:PORT, such as 0.0.0.0:0, not %q", f.modelListen)
		}
		l, err := net.Listen("tcp", f.modelListen)
		if err != nil {
			return misuse("--model-listen: %w", err)
		}
		_ = l.Close() // it was free, which is all that was asked
	}
	if f.changed("model-host") && (f.modelHost == "" || strings.ContainsAny(f.modelHost, "/ ")) {
		return misuse("--model-host takes the name or address of this machine, not %q", f.modelHost)
	}
	return nil
}
