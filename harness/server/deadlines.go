package server

import (
	"time"

	"github.com/dshconform/dshconform/harness/deadline"
)

// Deadlines bound every wait on the subject.
type Deadlines = deadline.Deadlines

// Measured adapts the deadlines of this process to how long the subject took to start,
// as [Deadlines.Measured] does those of processes to come.
func (s *Server) Measured(startup time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadlines = s.deadlines.Measured(startup)
}

// Hasten shortens the waits on this process to what a subject needs that answers
// at all. It is for a search among inputs of which one has failed already, where
// each wait is paid many times and decides nothing but the size of an example.
func (s *Server) Hasten() {
	s.mu.Lock()
	defer s.mu.Unlock()
	hurry := 5 * s.deadlines.Grace
	s.deadlines.Call = min(s.deadlines.Call, hurry)
	s.deadlines.Turn = min(s.deadlines.Turn, 2*hurry)
}
