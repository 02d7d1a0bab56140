package server

import "github.com/dshconform/dshconform/harness/deadline"

// Deadlines bound every wait on the subject.
type Deadlines = deadline.Deadlines

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
