package deadline

import (
	"context"
	"fmt"
	"time"
)

// SilentError says that a deadline passed while whoever was to answer lived.
type SilentError struct {
	Awaited string
	After   time.Duration
}

func (e *SilentError) Error() string {
	return fmt.Sprintf("no %s within %s", e.Awaited, Span(e.After))
}

// Span is a duration as a report shows it: no two runs differ by its fractions.
func Span(d time.Duration) time.Duration {
	if d > time.Second {
		return d.Round(time.Second)
	}
	return d.Round(10 * time.Millisecond)
}

// Sight is what a look at a stream showed.
type Sight struct {
	Done  bool            // what is awaited has come
	Ended func() error    // nil while it can still come; otherwise explains why not
	Moved time.Time       // when the last byte came
	Stir  <-chan struct{} // closed at the next change
}

// lifetimes is how many deadlines a stream may go on for without bringing what is
// awaited.
const lifetimes = 20

// Wait looks until what is awaited has come, can't come any more, or did not come
// within the deadline, which counts from the last byte that moved. What streams for
// ever without bringing it is given up after twenty deadlines.
func Wait(ctx context.Context, awaited string, within time.Duration, look func() Sight) error {
	start := time.Now()
	timer := time.NewTimer(within)
	defer timer.Stop()
	for {
		s := look()
		switch {
		case s.Done:
			return nil
		case s.Ended != nil:
			return s.Ended()
		case ctx.Err() != nil:
			return fmt.Errorf("waiting for %s: %w", awaited, context.Cause(ctx))
		}
		last := s.Moved
		if last.Before(start) {
			last = start
		}
		rest := time.Until(last.Add(within))
		if rest <= 0 || time.Since(start) > lifetimes*within {
			return &SilentError{awaited, time.Since(start)}
		}
		timer.Reset(rest)
		select {
		case <-s.Stir:
		case <-ctx.Done():
		case <-timer.C:
		}
	}
}
