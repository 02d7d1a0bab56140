package model

import (
	"bufio"
	"net/http"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// output is the body of a response on its way out: buffered, because ten thousand events are ten thousand small
// writes, and flushed by whoever knows that it matters.
type output struct {
	w       http.ResponseWriter
	control *http.ResponseController
	buffer  *bufio.Writer
	cut     bool // write in pieces that end inside each multibyte character
	started bool // the status is out
}

func newOutput(w http.ResponseWriter) *output {
	return &output{w: w, control: http.NewResponseController(w), buffer: bufio.NewWriterSize(w, 64<<10)}
}

func (o *output) start(contentType string) {
	o.started = true
	o.w.Header().Set("Content-Type", contentType)
	o.w.Header().Set("Cache-Control", "no-cache")
	o.w.WriteHeader(http.StatusOK)
}

// write takes the bytes of one event.
func (o *output) write(event []byte) error {
	if !o.cut {
		_, err := o.buffer.Write(event)
		return err
	}
	for from, at := 0, 0; at < len(event); {
		_, n := utf8.DecodeRune(event[at:])
		for inside := at + 1; inside < at+n; inside++ {
			if err := o.piece(event[from:inside]); err != nil {
				return err
			}
			from = inside
		}
		if at += n; at == len(event) {
			return o.piece(event[from:])
		}
	}
	return nil
}

// piece sends bytes as a chunk of their own. What the network or the reader joins again is out of our hands.
func (o *output) piece(p []byte) error {
	if _, err := o.buffer.Write(p); err != nil {
		return err
	}
	return o.flush()
}

func (o *output) flush() error {
	if !o.started {
		return nil // flushing would send the status, which the script may still set
	}
	if err := o.buffer.Flush(); err != nil {
		return err
	}
	return o.control.Flush()
}

// close hands the rest to net/http, which sends it with the end of the response once the handler returns: one
// packet less, and the outcome is in the record before the subject can know that the answer is whole.
func (o *output) close() error { return o.buffer.Flush() }

// jsonObject joins parts of JSON: those at even places as they are, those between as quoted strings. Strings keep
// their characters, so that pieces can be cut inside them; only what JSON must escape is escaped.
func jsonObject(parts ...string) []byte {
	var out []byte
	for i, part := range parts {
		if i%2 == 0 {
			out = append(out, part...)
		} else {
			out = appendString(out, []byte(part))
		}
	}
	return out
}

func appendString(dst, s []byte) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // invalid UTF-8 gets U+FFFD: a stream of JSON has no place for it
	return dst
}
