package server

import "time"

// Limit sets the bounds of what is read of a flood, in bytes.
func (l *Launch) Limit(junk, kept int64) { l.limits = limits{junk, kept} }

// LastMoved is when the last byte came on stdout.
func (s *Server) LastMoved() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moved
}
