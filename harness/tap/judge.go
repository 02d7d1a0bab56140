package tap

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// JudgeOptions say what a conversation is held to.
type JudgeOptions struct {
	// Monitor holds the rules' options. An empty profile is found from the first
	// prompt's answer.
	Monitor protocol.Options
	// Joined is set where the conversation had begun before its first line.
	Joined bool
	// OnViolation gets each violation as it is found, at most five of a requirement, or
	// when the profile is found, where none was given; nil is allowed.
	OnViolation func(protocol.Violation)
}

// perRow bounds how many violations of one requirement are told.
const perRow = 5

// Judge takes the lines of one conversation in the order of the wire, notes among
// them, and judges what the server wrote. It belongs to one goroutine.
type Judge struct {
	o      JudgeOptions
	mon    *protocol.Monitor
	seq    int
	lines  int
	end    ending
	rows   map[string]Count
	told   map[string]int
	extras map[string]int
	finder *finder // while the profile is not known
	how    string  // how it was found
	spoken protocol.Profile
	shaped bool // the first prompt was answered in the form of a profile
	left   leftOut
}

// ending is what lines and notes tell of the end.
type ending struct {
	shutdown   *wire.Line // the request
	answered   *wire.Line // its response
	closed     bool       // stdin
	deaf       bool       // the client closed its end of stdout
	unread     bool       // stdout was not read to its end: the last line may be cut
	signalled  bool
	stopped    bool
	over       bool
	incomplete bool // stdout is not known up to its end
}

// leftOut is what was not judged.
type leftOut struct {
	frames int      // cut frames
	gaps   []string // in words
}

// Count tells how often a requirement was applied and violated.
type Count struct{ Applied, Violated int }

// NewJudge starts with a fresh conversation.
func NewJudge(o JudgeOptions) *Judge {
	j := &Judge{o: o, rows: map[string]Count{}, told: map[string]int{}, extras: map[string]int{}}
	if o.Monitor.Profile == "" {
		j.finder = newFinder(o)
		return j
	}
	j.begin(o.Joined)
	return j
}

func (j *Judge) begin(joined bool) {
	o := j.o.Monitor
	o.Joined = joined
	j.mon = protocol.NewMonitor(o)
}

// Line takes the next line. Lines of other directions than client, server and note
// are passed over.
func (j *Judge) Line(l wire.Line) {
	if j.finder == nil {
		j.line(l)
		return
	}
	if profile, how := j.finder.line(l); profile != "" {
		j.found(profile, how)
	}
}

// found goes on as the judge of the profile, and tells what that has found.
func (j *Judge) found(profile protocol.Profile, how string) {
	c, tell := j.finder.of(profile), j.o.OnViolation
	*j = *c.Judge
	j.o.OnViolation, j.how = tell, how
	for _, v := range c.found {
		if tell != nil {
			tell(v)
		}
	}
}

func (j *Judge) line(l wire.Line) {
	l.Seq = j.seq
	j.seq++
	switch l.Dir {
	case wire.ClientToServer:
		j.lines++
		if j.unreadable(l) {
			return
		}
		j.client(l)
	case wire.ServerToClient:
		j.lines++
		if j.unreadable(l) {
			return
		}
		j.server(l)
	case wire.Note:
		j.note(l)
	}
}

// unreadable deals with a frame of which only the beginning is there: what it did to
// the conversation is not known. What can't have been a frame is judged as it is.
func (j *Judge) unreadable(l wire.Line) bool {
	if !l.Cut() {
		return false
	}
	if b := bytes.TrimLeft(l.Raw, " \t\r\n"); len(b) > 0 && b[0] != '{' && b[0] != '[' {
		return false
	}
	j.left.frames++
	j.rejoin()
	return true
}

func (j *Judge) client(l wire.Line) {
	q := j.mon.Client(l)
	if q != nil && q.Method == protocol.MethodShutdown && q.Owed && j.end.shutdown == nil {
		kept := protocol.Evidence(l)
		j.end.shutdown = &kept
	}
}

func (j *Judge) server(l wire.Line) {
	o := j.mon.Server(l)
	j.report(o.Violations)
	if o.Answered == nil {
		return
	}
	switch {
	case o.Answered.Method == protocol.MethodShutdown && o.Message.Result != nil && j.end.answered == nil:
		kept := protocol.Evidence(l)
		j.end.answered = &kept
	case o.Answered.Method == protocol.MethodPrompt && !j.shaped:
		j.spoken, j.shaped = protocol.ShapeOf(o.Message)
		if protocol.HasShapeOf(o.Message, j.o.Monitor.Profile) {
			j.spoken = j.o.Monitor.Profile // a hybrid has the form of several
		}
	}
}

func (j *Judge) note(l wire.Line) {
	text := l.NoteText()
	switch {
	case text == wire.NoteInputClosed:
		j.end.closed = true
		j.mon.InputClosed()
	case text == wire.NoteOutputClosed:
		j.end.deaf, j.end.incomplete = true, true
		j.unread()
	case text == wire.NoteStopped:
		j.end.stopped = true
		j.mon.Signalled()
	case wire.IsSignalNote(text):
		j.end.signalled = true
		j.mon.Signalled()
	}
	if what, ok := wire.IsGapNote(text); ok {
		j.Gap(what)
		if what == wire.GapHeldOpen {
			j.unread()
		}
	}
	if status, ok := wire.IsEndNote(text); ok {
		j.ended(status)
	}
}

// unread tells that nothing more was read of stdout than what is there.
func (j *Judge) unread() {
	j.end.unread = true
	j.mon.OutputUnread()
}

// Gap tells that lines are missing here; what says which.
func (j *Judge) Gap(what string) {
	if j.finder != nil {
		text := wire.GapNote(what) + "\n"
		j.Line(wire.Line{Dir: wire.Note, Raw: []byte(text), Size: int64(len(text))})
		return
	}
	const most = 20
	if len(j.left.gaps) < most {
		j.left.gaps = append(j.left.gaps, what)
	}
	j.rejoin()
}

// rejoin goes on as in the middle of a conversation whose beginning was not seen.
func (j *Judge) rejoin() {
	j.settle()
	j.begin(true)
	j.end.incomplete = true
	if j.end.closed {
		j.mon.InputClosed()
	}
	if j.end.unread {
		j.mon.OutputUnread()
	}
	if j.end.signalled || j.end.stopped {
		j.mon.Signalled()
	}
}

// settle takes over what the monitor has counted.
func (j *Judge) settle() {
	for _, row := range j.mon.Rows() {
		c := j.rows[row]
		c.Applied += j.mon.Exercised(row)
		c.Violated += j.mon.Violations(row)
		j.rows[row] = c
	}
	for name, n := range j.mon.Extras() {
		protocol.AddExtra(j.extras, name, n)
	}
}

func (j *Judge) report(vs []protocol.Violation) {
	for _, v := range vs {
		if j.told[v.Row]++; j.told[v.Row] <= perRow && j.o.OnViolation != nil {
			j.o.OnViolation(v)
		}
	}
}

// ended judges the end of the process: what is owed, and its status after a shutdown.
func (j *Judge) ended(status string) {
	if j.end.over {
		return
	}
	j.end.over = true
	killed := strings.HasSuffix(status, "SIGKILL") // by somebody who did not want to wait
	told := (j.end.closed || j.end.shutdown != nil) && !killed && !j.end.stopped
	j.report(j.mon.End(protocol.Ended{Told: told, Partial: j.end.incomplete}))
	const sound = "exit status 0"
	if j.end.answered == nil || j.end.signalled || j.end.stopped || j.end.deaf {
		return
	}
	c := j.rows["S-SHD-01"]
	c.Applied++
	if status != sound {
		c.Violated++
		v := protocol.Violation{Row: "S-SHD-01", Expected: "shutdown returns {} and the process exits with code 0", Actual: status}
		if j.end.shutdown != nil {
			v.Frames = append(v.Frames, *j.end.shutdown)
		}
		v.Frames = append(v.Frames, *j.end.answered)
		j.report([]protocol.Violation{v})
	}
	j.rows["S-SHD-01"] = c
}

// Result is what a conversation came to.
type Result struct {
	// Profile is what it was held to; How says how that was found, "" where it was given.
	Profile protocol.Profile
	How     string
	// Spoken is the profile whose form the first prompt's answer has, "" where there was
	// none or it can't be told.
	Spoken protocol.Profile
	// Lines counts those of client and server.
	Lines int
	// Rows tells what was judged, by id.
	Rows map[string]Count
	// Extras counts notifications and members of results that the protocol does not know.
	Extras map[string]int
	// NotJudged says in sentences what was left out.
	NotJudged []string
}

// Violations is the number of all violations, told or not.
func (r Result) Violations() int {
	n := 0
	for _, c := range r.Rows {
		n += c.Violated
	}
	return n
}

// Result ends the judging. What is owed at the end is judged only where the end of
// the process was told by a note: a conversation that stops before is judged as far
// as it goes.
func (j *Judge) Result() Result {
	if j.finder != nil {
		j.found(j.finder.guess())
	}
	j.settle()
	r := Result{Profile: j.o.Monitor.Profile, How: j.how, Spoken: j.spoken, Lines: j.lines, Rows: maps.Clone(j.rows), Extras: maps.Clone(j.extras)}
	if n := j.left.frames; n > 0 {
		r.NotJudged = append(r.NotJudged, fmt.Sprintf("%d %s, of which only the beginning is kept", n, plural(n, "frame", "frames")))
	}
	counts := map[string]int{}
	for _, g := range j.left.gaps {
		counts[g]++
	}
	for _, g := range slices.SortedFunc(maps.Keys(counts), cmp.Compare[string]) {
		if n := counts[g]; n > 1 {
			g = fmt.Sprintf("%s (%d times)", g, n)
		}
		r.NotJudged = append(r.NotJudged, g)
	}
	if j.left.frames+len(j.left.gaps) > 0 {
		r.NotJudged = append(r.NotJudged, "what depends on these: sessions that were open then, and what was owed")
	}
	j.begin(true) // the counts are taken over once
	return r
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
