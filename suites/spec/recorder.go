package spec

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/dshconform/dshconform/harness/wire"
)

// recorder writes the lines of one process into the transcript of the spec that
// uses it. What came before a spec took the process is kept for it.
type recorder struct {
	mu      sync.Mutex
	backlog []wire.Line
	kept    int
	lost    int  // lines that the backlog had no room for
	joined  bool // lines of this process stand in an earlier transcript
	file    *os.File
	out     *wire.TranscriptWriter
	sent    input
}

// mostBacklog bounds the lines, in bytes, that wait for a spec.
const mostBacklog = 1 << 20

// keepOfLine bounds a line in a transcript. A frame of 16 MiB shows what it is
// by its beginning and its size.
const keepOfLine = 256 << 10

func (r *recorder) line(l wire.Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent.add(l)
	if r.out != nil {
		_ = r.out.Write(l) // a full disk must not change a verdict; the report that follows says so
		return
	}
	if r.kept += len(l.Raw); r.kept <= mostBacklog {
		r.backlog = append(r.backlog, l)
		return
	}
	r.lost++
}

func (r *recorder) attach(path string, h wire.Header) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.detach()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the folder of transcripts: %w", err)
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write a transcript: %w", err)
	}
	r.sent.restart(r.backlog, r.joined)
	if len(r.backlog) > 0 {
		h.Started = r.backlog[0].At
	}
	h.Joined = r.joined
	out, err := wire.NewTranscriptWriter(f, h)
	if err != nil {
		f.Close()
		return err
	}
	out.KeepBytes = keepOfLine
	for _, l := range r.backlog {
		_ = out.Write(l)
	}
	if r.lost > 0 {
		text := wire.GapNote(fmt.Sprintf("%d lines between two specs", r.lost)) + "\n"
		_ = out.Write(wire.Line{At: time.Now(), Dir: wire.Note, Raw: []byte(text), Size: int64(len(text))})
	}
	r.backlog, r.kept, r.lost, r.joined, r.file, r.out = nil, 0, 0, true, f, out
	return nil
}

func (r *recorder) detach() {
	if r.out != nil {
		_ = r.out.Flush()
		_ = r.file.Close()
		r.out, r.file = nil, nil
	}
}

func (r *recorder) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.detach()
}

// recorders are those of a run, by what is recorded.
type recorders struct {
	// Sent is the direction in which the suite writes.
	Sent wire.Direction

	mu  sync.Mutex
	all map[any]*recorder // nil when the run is over
}

// of gives the recorder of a conversation, nil when the run is over.
func (r *recorders) of(conversation any) *recorder {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		return nil
	}
	rec := r.all[conversation]
	if rec == nil {
		rec = &recorder{sent: input{dir: r.Sent}}
		r.all[conversation] = rec
	}
	return rec
}

func (r *recorders) close() {
	r.mu.Lock()
	all := r.all
	r.all = nil
	r.mu.Unlock()
	for _, rec := range all {
		rec.close()
	}
}

// Forget ends the transcript of a conversation, of which nothing more comes.
func (r *recorders) Forget(conversation any) {
	r.mu.Lock()
	rec := r.all[conversation]
	delete(r.all, conversation)
	r.mu.Unlock()
	if rec != nil {
		rec.close()
	}
}

// Record hears a line of a conversation: that with one process.
func (r *Run) Record(conversation any, l wire.Line) {
	if r.Transcripts == "" {
		return
	}
	if rec := r.of(conversation); rec != nil {
		rec.line(l)
	}
}

// Transcribe lets the lines of a conversation go into a transcript of the spec;
// subject is the command that it is held with. It gives the file, relative to the
// folder of the report, "" where there is none.
func (t *T) Transcribe(conversation any, subject []string) string {
	r := t.run
	if r.Transcripts == "" {
		return ""
	}
	rec := r.of(conversation)
	if rec == nil {
		return ""
	}
	t.recorders = append(t.recorders, rec)
	h := wire.Header{Profile: string(r.Profile), Subject: subject, Title: t.ID}
	name := transcriptName(t.ID, len(t.recorders))
	if err := rec.attach(filepath.Join(r.Transcripts, name), h); err != nil {
		r.Note("%v", err)
		return ""
	}
	return "transcripts/" + name
}

func transcriptName(id string, n int) string { return fileName(id, n) + ".jsonl" }

// fileName is how the files of the n-th conversation of a spec begin.
func fileName(id string, n int) string {
	return fmt.Sprintf("%s.%d", strings.ReplaceAll(id, "/", "."), n)
}
