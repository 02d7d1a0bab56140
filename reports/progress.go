package reports

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Progress shows a run while it goes on. The suite calls it from any goroutine: SpecStarted with the id that is being
// judged, SpecEnded with what was found, Close once at the end, after which nothing more is drawn and the verdict
// can be written to the same place.
type Progress interface {
	SpecStarted(id string)
	SpecEnded(id string, o Outcome)
	// Note prints one line between the others, such as why a subject had to be replaced.
	Note(line string)
	Close()
}

// NewProgress returns the Progress that fits a file: a live line on a terminal, plain lines otherwise. total is how many
// specs there are. The file is stderr under --json, since nothing but the JSON goes to stdout then.
func NewProgress(f *os.File, total int, o ConsoleOptions) Progress {
	if Terminal(f) {
		return newLive(f, total, o)
	}
	return NewPlainProgress(f, o)
}

// Silent is a Progress that shows nothing.
func Silent() Progress { return silent{} }

type silent struct{}

func (silent) SpecStarted(string)        {}
func (silent) SpecEnded(string, Outcome) {}
func (silent) Note(string)               {}
func (silent) Close()                    {}

// NewPlainProgress writes a line for each spec that did not hold, as it ends, and for every one when verbose. It is what
// a pipe or a CI log gets.
func NewPlainProgress(w io.Writer, o ConsoleOptions) Progress { return &plainProgress{w: w, o: o} }

type plainProgress struct {
	mu sync.Mutex
	w  io.Writer
	o  ConsoleOptions
}

func (p *plainProgress) SpecStarted(string) {}

func (p *plainProgress) SpecEnded(id string, o Outcome) {
	if line := specLine(id, o, p.o); line != "" {
		p.write(line)
	}
}

func (p *plainProgress) Note(line string) { p.write(Visible(line)) }
func (p *plainProgress) Close()           {}

func (p *plainProgress) write(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// A console that is gone must not end the run: the results are in the report.
	_, _ = io.WriteString(p.w, line+"\n")
}

// specLine is the line of a spec that ended, and empty where it is not worth one.
func specLine(id string, o Outcome, opts ConsoleOptions) string {
	quiet := o.Verdict == Pass || o.Verdict == Observed || o.Verdict == NotApplicable
	if quiet && !opts.Verbose {
		return ""
	}
	line := fmt.Sprintf("%s %s", paint(opts.Color, o.Verdict, pad(mark(&o), 6)), id)
	switch {
	case broken(o.Verdict):
		line += ": " + Shorten(Visible(oneLine(o.Actual)), 140, 0)
	case o.Reason != "":
		line += ": " + Shorten(Visible(oneLine(o.Reason)), 140, 0)
	}
	return fmt.Sprintf("%s (%.2fs)", line, o.Seconds)
}

// live draws one line at the bottom: what runs, how many are done, how long it has taken.
type live struct {
	o       ConsoleOptions
	total   int
	started time.Time
	bars    *mpb.Progress
	bar     *mpb.Bar

	mu      sync.Mutex
	running []string
	done    int
	bad     int
	closed  bool
}

func newLive(w io.Writer, total int, o ConsoleOptions, extra ...mpb.ContainerOption) *live {
	l := &live{o: o, total: total, started: time.Now()}
	options := append([]mpb.ContainerOption{mpb.WithOutput(w), mpb.WithRefreshRate(120 * time.Millisecond)}, extra...)
	l.bars = mpb.New(options...)
	l.bar = l.bars.New(0, mpb.NopStyle(), mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return l.line() })))
	return l
}

func (l *live) line() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := fmt.Sprintf("%d/%d", l.done, l.total)
	if l.bad > 0 {
		s += fmt.Sprintf(", %d not holding", l.bad)
	}
	s += fmt.Sprintf(", %.0fs", time.Since(l.started).Seconds())
	if n := len(l.running); n > 3 {
		s += fmt.Sprintf("  %s and %d more", strings.Join(l.running[:3], " "), n-3)
	} else if n > 0 {
		s += "  " + strings.Join(l.running, " ")
	}
	return s
}

func (l *live) SpecStarted(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = append(l.running, id)
}

func (l *live) SpecEnded(id string, o Outcome) {
	l.mu.Lock()
	for i, r := range l.running {
		if r == id {
			l.running = append(l.running[:i], l.running[i+1:]...)
			break
		}
	}
	l.done++
	if o.Verdict == Fail || o.Verdict == Warn || o.Verdict == Error || o.Verdict == NotReached {
		l.bad++
	}
	l.mu.Unlock()
	if line := specLine(id, o, l.o); line != "" {
		l.write(line)
	}
}

func (l *live) Note(line string) { l.write(Visible(line)) }

// write prints a line above the live one. Not under the mutex: drawing asks for line(), which takes it.
func (l *live) write(line string) {
	_, _ = l.bars.Write([]byte(line + "\n"))
}

func (l *live) Close() {
	l.mu.Lock()
	was := l.closed
	l.closed = true
	l.mu.Unlock()
	if was {
		return
	}
	l.bar.Abort(true) // take the line away: the verdict comes in its place
	l.bars.Wait()
}
