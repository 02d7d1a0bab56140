package matrix

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dshconform/dshconform/reports"
)

// Fault is a fault as `ref… --list-faults` prints it.
type Fault struct {
	Name     string   `json:"name"`
	Sentence string   `json:"sentence"`
	Breaks   []string `json:"breaks"`
	Shows    []string `json:"shows"` // OBSERVE rows in which it differs from the sound endpoint
	Profiles []string `json:"profiles"`
}

// Options says what to run.
type Options struct {
	Program string   // the built program
	Role    string   // "server" or "client"
	Args    []string // further arguments of each run, such as --timeout-scale
	// Every runs each fault in every profile that it lists; otherwise in one, which
	// Rotate shifts from run to run.
	Every  bool
	Rotate int
	// Share runs every Share-th fault alone, beginning with the Rotate-th; 0 and 1
	// run all.
	Share int
	Only  func(Fault) bool // nil for all
	// Parallel is the number of runs at a time.
	Parallel int
	// Bound is the time that one run may take before it counts as wedged.
	Bound time.Duration
	// Done hears of each run as it ends, from one goroutine at a time; nil is allowed.
	Done func(Run)
}

// Run is one run of the suite over one fault in one profile.
type Run struct {
	Fault      Fault
	Profile    string
	Failed     []string // ids that failed, warned, or could not be judged, variants by name
	NotReached []string
	Observed   map[string]string // what OBSERVE rows saw
	Alike      []string          // rows that the fault is to show and that saw what they see of the sound endpoint
	Seconds    float64
	Err        error // the run itself went wrong
}

// Missing are the ids that the fault breaks and the suite did not catch.
func (r Run) Missing() []string { return without(r.Fault.Breaks, r.Failed) }

// Blamed are the ids that failed without being broken.
func (r Run) Blamed() []string { return without(r.Failed, r.Fault.Breaks) }

// Exact reports whether just the expected ids failed.
func (r Run) Exact() bool {
	return r.Err == nil && len(r.Missing()) == 0 && len(r.Blamed()) == 0 && len(r.Alike) == 0
}

func (r Run) String() string {
	text := fmt.Sprintf("%s (%s):", r.Fault.Name, r.Profile)
	switch {
	case r.Err != nil:
		return text + " " + r.Err.Error()
	case r.Exact():
		text += " " + strings.Join(r.Failed, " ")
	default:
		if m := r.Missing(); len(m) > 0 {
			text += " NOT CAUGHT " + strings.Join(m, " ")
		}
		if b := r.Blamed(); len(b) > 0 {
			text += " BLAMED BESIDES " + strings.Join(b, " ")
		}
		if len(r.Alike) > 0 {
			text += " NOT TOLD APART BY " + strings.Join(r.Alike, " ")
		}
	}
	if len(r.NotReached) > 0 {
		text += fmt.Sprintf(" (not reached: %s)", strings.Join(r.NotReached, " "))
	}
	return text
}

func without(a, b []string) []string {
	var out []string
	for _, x := range a {
		if !slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}

// Faults lists the faults of the reference endpoint of a role.
func Faults(ctx context.Context, program, role string) ([]Fault, error) {
	out, err := exec.CommandContext(ctx, program, "ref"+role, "--list-faults").Output()
	if err != nil {
		return nil, fmt.Errorf("list the faults of ref%s: %w", role, err)
	}
	var faults []Fault
	if err := json.Unmarshal(out, &faults); err != nil {
		return nil, fmt.Errorf("read the faults of ref%s: %w", role, err)
	}
	return faults, nil
}

// All runs the suite over the faults, in the order of the faults.
func All(ctx context.Context, o Options) ([]Run, error) {
	faults, err := Faults(ctx, o.Program, o.Role)
	if err != nil {
		return nil, err
	}
	runs := o.choose(faults)
	sound, err := soundRuns(ctx, o, runs)
	if err != nil {
		return nil, err
	}
	next := make(chan int)
	var work sync.WaitGroup
	var told sync.Mutex
	for range max(o.Parallel, 1) {
		work.Go(func() {
			for i := range next {
				runs[i] = one(ctx, o, runs[i])
				runs[i].compare(sound[runs[i].Profile])
				if o.Done != nil {
					told.Lock()
					o.Done(runs[i])
					told.Unlock()
				}
			}
		})
	}
	for i := range runs {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	work.Wait()
	return runs, context.Cause(ctx)
}

// choose gives the runs to do, in the order of the faults. Over as many rotations as
// there are shares every fault has its run, over three times as many in each profile.
func (o Options) choose(faults []Fault) (runs []Run) {
	share := max(o.Share, 1)
	for i, f := range faults {
		if o.Only != nil && !o.Only(f) || i%share != o.Rotate%share {
			continue
		}
		profiles := f.Profiles
		if !o.Every {
			profiles = profiles[(i/share+o.Rotate/share)%len(profiles):][:1]
		}
		for _, p := range profiles {
			runs = append(runs, Run{Fault: f, Profile: p})
		}
	}
	return runs
}

// soundRuns runs the suite over the sound endpoint in each profile in which something
// is to be told apart from it.
func soundRuns(ctx context.Context, o Options, runs []Run) (map[string]Run, error) {
	sound := map[string]Run{}
	for _, r := range runs {
		if _, done := sound[r.Profile]; done || len(r.Fault.Shows) == 0 {
			continue
		}
		s := one(ctx, o, Run{Profile: r.Profile})
		if s.Err != nil || len(s.Failed) > 0 {
			return nil, fmt.Errorf("the sound endpoint does not pass: %s", s)
		}
		sound[r.Profile] = s
	}
	return sound, nil
}

// compare notes where what is to be shown does not show.
func (r *Run) compare(sound Run) {
	for _, id := range r.Fault.Shows {
		if r.Err == nil && r.Observed[id] == sound.Observed[id] {
			r.Alike = append(r.Alike, id)
		}
	}
}

// results is what is read of results.json.
type results struct {
	Requirements, Besides []requirement
}

type requirement struct {
	ID, Verdict string
	Observed    []struct{ What, Value string }
	Variants    []struct {
		Name, Verdict string
		Observed      []struct{ What, Value string }
	}
}

func one(ctx context.Context, o Options, r Run) Run {
	bound := cmp.Or(o.Bound, 4*time.Minute)
	ctx, cancel := context.WithTimeoutCause(ctx, bound, fmt.Errorf("the run did not end within %s", bound))
	defer cancel()
	args := []string{o.Role, "--profile", r.Profile, "--json"}
	args = append(args, o.Args...)
	reference := []string{o.Program, "ref" + o.Role, "--profile", r.Profile}
	if r.Fault.Name != "" {
		reference = append(reference, "--fault", r.Fault.Name)
	}
	if o.Role == "server" {
		args = append(append(args, "--"), reference...)
	} else {
		for i, word := range reference {
			reference[i] = reports.ShellQuote(word)
		}
		args = append(args, "--driver", strings.Join(reference, " "))
	}
	c := exec.CommandContext(ctx, o.Program, args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	start := time.Now()
	err := c.Run()
	r.Seconds = time.Since(start).Seconds()
	if ctx.Err() != nil {
		r.Err = context.Cause(ctx)
		return r
	}
	var res results
	if jsonErr := json.Unmarshal(out.Bytes(), &res); jsonErr != nil {
		r.Err = fmt.Errorf("no results (%w): %s", cmp.Or(err, jsonErr), strings.TrimSpace(errs.String()))
		return r
	}
	r.Observed = map[string]string{}
	for _, q := range append(res.Requirements, res.Besides...) {
		r.Observed[q.ID] = fmt.Sprint(q.Observed)
		if len(q.Variants) == 0 {
			r.add(q.ID, q.Verdict)
		}
		for _, v := range q.Variants {
			r.add(q.ID+"/"+v.Name, v.Verdict)
			r.Observed[q.ID+"/"+v.Name] = fmt.Sprint(v.Observed)
		}
	}
	slices.Sort(r.Failed)
	return r
}

func (r *Run) add(id, verdict string) {
	switch verdict {
	case "fail", "warn", "error":
		r.Failed = append(r.Failed, id)
	case "not_reached":
		r.NotReached = append(r.NotReached, id)
	}
}
