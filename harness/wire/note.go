package wire

import "strings"

// What notes of a transcript say. A judge of recordings reads these; every other
// note is a remark for the reader.
const (
	// NoteInputClosed: the client ended the server's stdin.
	NoteInputClosed = "stdin closed"
	// NoteOutputClosed: the client closed its end of the server's stdout.
	NoteOutputClosed = "stdout closed by the client"
	// NoteOutputEnded: the server's stdout came to its end.
	NoteOutputEnded = "stdout ended"
	// NoteStopped: the recorder itself ended the process, whatever its state: nothing
	// is owed any more.
	NoteStopped = "stopped"

	// GapHeldOpen is what is missing behind the end of a process that left another one
	// with its stdout: what that still writes, and maybe the end of the last line.
	GapHeldOpen = "stdout was held open by a process that the server left"

	noteSent  = " sent"           // SIGTERM sent: the client, or the recorder in its place, sent a signal
	noteEnded = "process ended: " // with the status in words: exit status 0, killed by SIGTERM
	noteGap   = "gap: "           // with what is missing in words: lines of both directions are left out here
)

// SignalNote is the note that a signal of that name was sent to the server.
func SignalNote(name string) string { return name + noteSent }

// EndNote is the note that the process ended, with its status in words.
func EndNote(status string) string { return noteEnded + status }

// GapNote is the note that lines are missing here; what tells which.
func GapNote(what string) string { return noteGap + what }

// NoteText is what a note says, without its LF.
func (l Line) NoteText() string { return strings.TrimRight(string(l.Raw), "\r\n") }

// IsSignalNote, IsEndNote and IsGapNote recognise the notes that carry a value.
func IsSignalNote(text string) bool {
	name, ok := strings.CutSuffix(text, noteSent)
	return ok && !strings.Contains(name, " ")
}
func IsEndNote(text string) (status string, ok bool) { return strings.CutPrefix(text, noteEnded) }
func IsGapNote(text string) (what string, ok bool)   { return strings.CutPrefix(text, noteGap) }
