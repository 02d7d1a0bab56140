package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// TranscriptSchema names the format of recordings and transcripts.
const TranscriptSchema = "dshconform.transcript/v1"

// Header is the first line of a transcript. Times of the entries count from
// Started.
type Header struct {
	Schema  string    `json:"schema"`
	Profile string    `json:"profile,omitempty"`
	Subject []string  `json:"subject,omitempty"` // argv
	Started time.Time `json:"started"`
	Title   string    `json:"title,omitempty"` // the requirement whose situation this is
	// Joined is set where the conversation had begun before the first entry: requests
	// may be in flight, and sessions exist, that the transcript does not show.
	Joined bool `json:"joined,omitzero"`
}

type entry struct {
	T    float64   `json:"t"`
	Dir  Direction `json:"dir"`
	Raw  *string   `json:"raw,omitzero"`
	B64  []byte    `json:"b64,omitzero"`
	Size int64     `json:"size,omitzero"` // of a line that was cut at a bound
}

// TranscriptWriter writes a transcript. Its user serialises calls.
type TranscriptWriter struct {
	w     *bufio.Writer
	start time.Time
	// KeepBytes bounds how much of one line is written; 0 means all of it. A cut
	// line carries its size.
	KeepBytes int
}

// NewTranscriptWriter writes the header h to w; a zero h.Started becomes now.
func NewTranscriptWriter(w io.Writer, h Header) (*TranscriptWriter, error) {
	h.Schema = TranscriptSchema
	if h.Started.IsZero() {
		h.Started = time.Now()
	}
	t := &TranscriptWriter{w: bufio.NewWriterSize(w, 64<<10), start: h.Started}
	return t, t.put(h)
}

// Write adds one line. A line's own LF is part of what is written.
func (t *TranscriptWriter) Write(l Line) error {
	e := entry{T: l.At.Sub(t.start).Seconds(), Dir: l.Dir}
	raw := l.Raw
	if t.KeepBytes > 0 && len(raw) > t.KeepBytes {
		raw = raw[:t.KeepBytes]
	}
	if l.Size > int64(len(raw)) {
		e.Size = l.Size
	}
	if utf8.Valid(raw) {
		s := string(raw)
		e.Raw = &s
	} else {
		e.B64 = raw
	}
	return t.put(e)
}

// Flush writes what is buffered.
func (t *TranscriptWriter) Flush() error { return t.w.Flush() }

func (t *TranscriptWriter) put(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode a transcript entry: %w", err)
	}
	if _, err := t.w.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("write a transcript entry: %w", err)
	}
	return nil
}

// TranscriptReader reads a transcript.
type TranscriptReader struct {
	Header Header
	scan   *Scanner
	line   int
	seq    int
}

// NewTranscriptReader reads the header. An error says that r is no transcript.
func NewTranscriptReader(r io.Reader) (*TranscriptReader, error) {
	t := &TranscriptReader{scan: NewScanner(r, 2*MaxLine)}
	l, err := t.scan.Next()
	if err != nil {
		return nil, fmt.Errorf("no transcript: no header line: %w", err)
	}
	t.line = 1
	if err := json.Unmarshal(l.Raw, &t.Header); err != nil {
		return nil, fmt.Errorf("no transcript: line 1 is no header: %w", err)
	}
	if t.Header.Schema != TranscriptSchema {
		return nil, fmt.Errorf("no transcript: the schema in line 1 is %q, not %q", t.Header.Schema, TranscriptSchema)
	}
	return t, nil
}

// check finds what no writer of transcripts writes. What is let pass here would be
// judged as silence.
func (e entry) check() error {
	switch e.Dir {
	case ClientToServer, ServerToClient, ModelCall, StandardError, Note:
	default:
		return fmt.Errorf("there is no direction %q", e.Dir)
	}
	if (e.Raw == nil) == (e.B64 == nil) {
		return errors.New("an entry has one of `raw` and `b64`")
	}
	return nil
}

// ErrCutTranscript says that a transcript ends inside an entry, as one does whose
// writer was killed. What came before it is sound.
var ErrCutTranscript = errors.New("the transcript ends inside an entry")

// Next gives the next entry, and io.EOF behind the last.
func (t *TranscriptReader) Next() (Line, error) {
	for {
		l, err := t.scan.Next()
		if err != nil {
			return Line{}, err
		}
		t.line++
		if l.Blank() {
			continue
		}
		var e entry
		if err := json.Unmarshal(l.Raw, &e); err != nil {
			if !l.Terminated() {
				return Line{}, fmt.Errorf("transcript line %d: %w", t.line, ErrCutTranscript)
			}
			return Line{}, fmt.Errorf("transcript line %d: %w", t.line, err)
		}
		if err := e.check(); err != nil {
			return Line{}, fmt.Errorf("transcript line %d: %w", t.line, err)
		}
		out := Line{Seq: t.seq, Dir: e.Dir, At: t.Header.Started.Add(time.Duration(e.T * float64(time.Second))), Raw: e.B64}
		if e.Raw != nil {
			out.Raw = []byte(*e.Raw)
		}
		out.Size = max(e.Size, int64(len(out.Raw)))
		t.seq++
		return out, nil
	}
}
