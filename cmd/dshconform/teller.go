package main

import (
	"io"
	"time"
)

// teller writes texts without ever making its caller wait for the reader.
type teller struct {
	texts chan string
	done  chan struct{}
}

// mostTexts is how many texts wait at most, far above what is told of one conversation: violations are capped for each
// kind. What is over is left out.
const mostTexts = 4096

// patience is how long a reader that has stopped is waited for at the end.
const patience = 2 * time.Second

func newTeller(w io.Writer) *teller {
	t := &teller{texts: make(chan string, mostTexts), done: make(chan struct{})}
	go func() {
		defer close(t.done)
		for text := range t.texts {
			_, _ = io.WriteString(w, text) // there is nobody to tell that it is gone
		}
	}()
	return t
}

func (t *teller) say(text string) {
	select {
	case t.texts <- text:
	default:
	}
}

// close waits until everything was written, unless nobody reads. A write that waits for ever ends with the program.
func (t *teller) close() {
	close(t.texts)
	select {
	case <-t.done:
	case <-time.After(patience):
	}
}
