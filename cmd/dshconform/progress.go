package main

import (
	"fmt"
	"os"
	"sync"

	"github.com/dshconform/dshconform/reports"
)

// shown shows a run on the console while it goes on. It is the suite's Progress.
type shown struct {
	out     *os.File
	options reports.ConsoleOptions

	mu      sync.Mutex
	p       reports.Progress
	running bool // specs run; before, the first answer of the subject is waited for
}

// wait shows that the subject starts, which may take long and may never come to an end.
func (s *shown) wait(specs int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.p = reports.NewProgress(s.out, specs, s.options)
	s.p.SpecStarted("(waiting for the first answer)")
}

// Started is called with the first spec when it is known how many there are.
func (s *shown) Started(id string, _, of int) {
	s.mu.Lock()
	if !s.running {
		s.running = true
		if s.p != nil {
			s.p.Close()
		}
		s.p = reports.NewProgress(s.out, of, s.options)
	}
	s.mu.Unlock()
	s.p.SpecStarted(id)
}

func (s *shown) Ended(id string, o reports.Outcome) { s.p.SpecEnded(id, o) }

// note shows a remark, in its place between the lines of the progress.
func (s *shown) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := "note: " + fmt.Sprintf(format, args...)
	if s.p != nil {
		s.p.Note(line)
		return
	}
	fmt.Fprintln(s.out, reports.Visible(line))
}

func (s *shown) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.p != nil {
		s.p.Close()
	}
}
