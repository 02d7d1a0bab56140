package spec

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/reports"
)

// FailuresName is the folder, in that of a report, of what was sent in specs that did
// not hold.
const FailuresName = "failures"

// input is what was sent to one process in the spec that uses it: the exact bytes,
// which a transcript shortens, so that a pipe into the subject repeats them.
type input struct {
	dir   wire.Direction
	first wire.Line // to the process: what comes without a handshake is not served
	lines []wire.Line
	size  int
	cut   bool // more was sent than is kept
}

// mostInput bounds what is kept of it, in bytes.
const mostInput = 64 << 20

func (i *input) add(l wire.Line) {
	if l.Dir != i.dir {
		return
	}
	if i.first.Raw == nil {
		i.first = l
	}
	if i.size += len(l.Raw); i.size > mostInput {
		i.cut = true
		return
	}
	i.lines = append(i.lines, l)
}

// restart begins with another spec, for which the backlog has been kept. Where others
// have used the process before, its handshake is theirs.
func (i *input) restart(backlog []wire.Line, joined bool) {
	first := i.first
	*i = input{dir: i.dir, first: first}
	if joined && first.Raw != nil {
		i.add(first)
	}
	for _, l := range backlog {
		i.add(l)
	}
}

// bytes is what was kept.
func (r *recorder) bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all bytes.Buffer
	for _, l := range r.sent.lines {
		all.Write(l.Raw)
	}
	return all.Bytes()
}

// holds reports whether one of the lines was sent to this process.
func (r *recorder) holds(lines []wire.Line) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.sent.lines, func(sent wire.Line) bool {
		return slices.ContainsFunc(lines, func(l wire.Line) bool { return l.Dir == sent.Dir && l.Seq == sent.Seq && l.At.Equal(sent.At) })
	})
}

// judged counts from 1 to the process that the spec is about: the first that the
// frames of its failure were sent to, else the last.
func (t *T) judged() int {
	for n, rec := range t.recorders {
		if rec.holds(t.shown) {
			return n + 1
		}
	}
	return len(t.recorders)
}

// keepInput writes what was sent in the spec into the folder of the report, and says
// where. What is named is that of the process which it judges.
func (t *T) keepInput() (e reports.Evidence) {
	r := t.run
	if r.Transcripts == "" || len(t.recorders) == 0 {
		return e
	}
	dir := filepath.Join(filepath.Dir(r.Transcripts), FailuresName)
	write := func(name string, data []byte) string {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			r.Note("make the folder of failures: %v", err)
			return ""
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			r.Note("keep what was sent: %v", err)
			return ""
		}
		return FailuresName + "/" + name
	}
	for n, rec := range t.recorders {
		file := write(fileName(t.ID, n+1)+".input", rec.bytes())
		if rec.sent.cut {
			r.Note("%s: more than %d MiB were sent, and the end of it is left out", file, mostInput>>20)
		}
		if n+1 == t.judged() {
			e.Input = file
		}
	}
	if len(t.scripts) > 0 {
		e.Script = write(fmt.Sprintf("%s.script", strings.ReplaceAll(t.ID, "/", ".")), []byte(strings.Join(t.scripts, "\n")+"\n"))
	}
	e.Transcript = "transcripts/" + transcriptName(t.ID, t.judged())
	return e
}

// Scripted notes the script of a turn, as its prompt carries it.
func (t *T) Scripted(marker string) { t.scripts = append(t.scripts, strings.TrimSpace(marker)) }
