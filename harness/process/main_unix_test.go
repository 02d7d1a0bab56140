//go:build linux || darwin

package process_test

import (
	"os"
	"testing"

	"github.com/dshconform/dshconform/harness/process"
)

// TestMain makes the test binary its own supervisor, its own subjects, and a harness to be killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "subject" {
		os.Exit(subject(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		os.Exit(process.Supervise())
	}
	// A binary with the race detector sleeps for a second before it exits, supervisors included.
	if os.Getenv("GORACE") == "" {
		_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	os.Exit(m.Run())
}
