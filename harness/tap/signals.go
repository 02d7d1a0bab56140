package tap

import (
	"os"
	"os/signal"
	"sync"

	"github.com/dshconform/dshconform/harness/process"
)

// signals passes the signals of this process on to the server.
type signals struct {
	caught  chan os.Signal
	swallow chan os.Signal
	quit    chan struct{}
	group   sync.WaitGroup
	once    sync.Once
}

// catch takes over the signals of [forwarded], but for those that the caller had made
// this process ignore: the server then ignores them too. A write to a client that is
// gone becomes an error; the server's own SIGPIPE stays what it is.
func catch() *signals {
	s := &signals{caught: make(chan os.Signal, 16), swallow: make(chan os.Signal, 1), quit: make(chan struct{})}
	for _, sig := range forwarded {
		if !signal.Ignored(sig) {
			signal.Notify(s.caught, sig)
		}
	}
	if brokenPipe != nil {
		signal.Notify(s.swallow, brokenPipe)
	}
	return s
}

// forward starts to pass them on to the server; those that came before go first. sent
// hears the name of each.
func (s *signals) forward(server *os.Process, sent func(name string)) {
	s.group.Go(func() {
		for {
			select {
			case sig := <-s.caught:
				if fromTerminal(sig) {
					sent(process.SignalName(sig)) // the terminal has sent it to the server as well
					continue
				}
				sent(process.SignalName(sig))
				_ = server.Signal(sig) // it may have ended
			case <-s.quit:
				return
			}
		}
	})
}

// stop gives the signals back: they do again what they do to any program.
func (s *signals) stop() {
	s.once.Do(func() {
		signal.Stop(s.caught)
		close(s.quit)
		s.group.Wait()
	})
}

func (s *signals) release() {
	s.stop()
	signal.Stop(s.swallow)
}
