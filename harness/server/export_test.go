package server

// Limit sets the bounds of what is read of a flood, in bytes.
func (l *Launch) Limit(junk, kept int64) { l.limits = limits{junk, kept} }
