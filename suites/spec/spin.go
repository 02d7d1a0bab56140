package spec

import "time"

// Spin keeps a CPU busy for a window of time, and tells for how much of it this
// goroutine ran. It stops early where one of the channels is closed.
func Spin(window time.Duration, stop ...<-chan struct{}) (ran time.Duration) {
	const gap = 200 * time.Microsecond // between two readings of the clock: somebody else ran
	start := time.Now()
	for last := start; ; {
		for _, c := range stop {
			select {
			case <-c:
				return ran
			default:
			}
		}
		now := time.Now()
		if now.Sub(last) < gap {
			ran += now.Sub(last)
		}
		if last = now; now.Sub(start) > window {
			return ran
		}
	}
}
