//go:build !unix

package tap

import (
	"os"
	"sync"
)

// startReader runs f in a goroutine that nobody waits for: a read of stdin can't be
// interrupted here, and the program ends with the server all the same.
func startReader(_ *sync.WaitGroup, f func()) { go f() }

func interruptible(f *os.File) source { return uninterruptible{f} }

type uninterruptible struct{ *os.File }

func (uninterruptible) Interrupt() {}

// watch does nothing here: a sink whose reader is gone is told by the next write.
type watch struct{}

func watchSink(*os.File, func()) *watch { return &watch{} }

func goneNow(*os.File) bool { return false }

func (*watch) stop()      {}
func (*watch) gone() bool { return false }
