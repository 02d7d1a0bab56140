package client

import "time"

// Usage is what a driver's processes hold and have used.
type Usage struct {
	Memory int64         // resident, in bytes
	CPU    time.Duration // so far; the kernel counts in ticks of 10 ms
}
