package reports

import "sync"

// Saver keeps dir/results.json up to date while a run goes on, without making specs wait for the disk: Changed returns
// at once, and one goroutine writes the newest state as soon as it can. States that come faster than the disk
// takes them are passed over, the last one never is.
type Saver struct {
	dir      string
	snapshot func() *Run

	wake chan struct{}
	done chan struct{}
	stop sync.Once

	mu  sync.Mutex
	err error
}

// NewSaver starts a saver. The snapshot is called from its goroutine and has to return a run that nobody changes any
// more. Close has to be called.
func NewSaver(dir string, snapshot func() *Run) *Saver {
	s := &Saver{dir: dir, snapshot: snapshot, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go s.loop()
	return s
}

func (s *Saver) loop() {
	defer close(s.done)
	for range s.wake {
		if err := Save(s.dir, s.snapshot()); err != nil {
			s.mu.Lock()
			if s.err == nil {
				s.err = err
			}
			s.mu.Unlock()
		}
	}
}

// Changed says that there is something new to write. It must not be called after Close.
func (s *Saver) Changed() {
	select {
	case s.wake <- struct{}{}:
	default: // the goroutine has yet to take the state of before, and will see this one with it
	}
}

// Close ends the goroutine and writes the final run, if one is given. It returns the first error of all writes, unless the
// final one went well: then the file is what it should be.
func (s *Saver) Close(final *Run) error {
	s.stop.Do(func() { close(s.wake) })
	<-s.done
	if final != nil {
		return SaveFinal(s.dir, final)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
