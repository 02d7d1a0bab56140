package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interrupted is why a run's context ended.
type interrupted struct{ signal os.Signal }

func (i *interrupted) Error() string { return "interrupted by " + signalName(i.signal) }

// signalName is what users call a signal. Go calls the first one "interrupt".
func signalName(s os.Signal) string {
	switch s {
	case os.Interrupt:
		return "SIGINT"
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGHUP:
		return "SIGHUP"
	}
	return s.String()
}

// onInterrupt gives a context that the first signal to stop cancels. again is called with the second one: somebody
// does not want to wait for the orderly end. stop ends the watching and waits for it.
func onInterrupt(ctx context.Context, again func(os.Signal)) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	watched := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		watched = append(watched, syscall.SIGHUP)
	}
	signal.Notify(signals, watched...)
	heard := surviveReaders()
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		count := 0
		for {
			select {
			case s := <-signals:
				if count++; count > 1 {
					again(s)
				}
				cancel(&interrupted{s})
			case <-done:
				return
			}
		}
	})
	return ctx, sync.OnceFunc(func() {
		signal.Stop(signals)
		heard()
		close(done)
		watch.Wait()
		cancel(nil)
	})
}

// surviveReaders makes a reader of our output that has gone a failed write, and not the end of the program: results and
// exit code count.
func surviveReaders() (stop func()) {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}
