// Package deadline holds the bounds of every wait of the suite, and the one loop
// that waits for something that a subject does.
//
// A deadline counts from the last byte that moved, so that a slow stream is no
// silence. Who waits says how to look, see [Wait]; what passes without an answer is
// a [*SilentError].
package deadline

import "time"

// Deadlines bounds every wait of the suite. All values derive from one base, the
// scale that the user asked for and the start-up time that was measured for the
// subject, so that a slow machine or a slow subject moves all of them together.
type Deadlines struct {
	// Start bounds the time from the launch to the first response.
	Start time.Duration
	// Call bounds the response to a request that needs no turn. It counts from the
	// last byte that moved on stdout, so that a slow stream is not a silent one.
	Call time.Duration
	// Turn bounds a turn whose model is not held, in the same way. Public servers
	// retry a failing model for 16 s.
	Turn time.Duration
	// Exit bounds the end of the process after it was told to end, from the last
	// byte that moved.
	Exit time.Duration
	// Write bounds one write that the subject does not take up.
	Write time.Duration
	// Leave is how long after the exit of the launched process its children may
	// live on.
	Leave time.Duration
	// Grace is the one wait for what must not come and order can't disprove.
	Grace time.Duration
}

// New gives the deadlines for a scale; 1 is the default, 0 counts as 1.
func New(scale float64) Deadlines {
	if scale <= 0 {
		scale = 1
	}
	s := func(d time.Duration) time.Duration { return time.Duration(float64(d) * scale) }
	return Deadlines{
		Start: s(25 * time.Second),
		Call:  s(6 * time.Second),
		Turn:  s(30 * time.Second),
		Exit:  s(8 * time.Second),
		Write: s(10 * time.Second),
		Leave: s(2 * time.Second),
		Grace: s(100 * time.Millisecond),
	}
}

// Unbounded gives deadlines for a session under a debugger.
func Unbounded() Deadlines {
	const long = 24 * time.Hour
	return Deadlines{Start: long, Call: long, Turn: long, Exit: long, Write: long, Leave: 2 * time.Second, Grace: 100 * time.Millisecond}
}

// Measured adapts the deadlines to a subject whose start took startup: what is
// slow to start is slow at other things.
func (d Deadlines) Measured(startup time.Duration) Deadlines {
	d.Call += 2 * startup
	d.Turn += 4 * startup
	d.Exit += 2 * startup
	d.Leave += startup
	d.Grace += startup / 10
	return d
}
