package main

import (
	"fmt"
	"os"
	"sync"

	"github.com/dshconform/dshconform/reports"
)

// shown shows a run on the console while it goes on. It is the suite's Progress: how many specs there are is known
// with the first of them.
type shown struct {
	out     *os.File
	options reports.ConsoleOptions

	mu sync.Mutex
	p  reports.Progress
}

func (s *shown) Started(id string, _, of int) {
	s.mu.Lock()
	if s.p == nil {
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
