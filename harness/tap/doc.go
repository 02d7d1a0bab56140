// Package tap stands between a client and a server that somebody else made speak,
// passes every byte, and judges a copy of the conversation by the monitor of
// harness/protocol; and it judges recordings in the same way.
//
//	client ──stdin──> pump ──> server's stdin
//	client <─stdout── pump <── server's stdout
//	                   │ a reference to each piece, queued before it is written on
//	                   ▼
//	                 queue ──> lines ──> recording, [Judge]
//
// [Run] is a live conversation, [Check] a recording. Both feed a [Judge], which
// takes the lines of a transcript in their order (harness/wire) and knows the notes
// between them, so a recording that a tap made is judged as the tap judged it.
//
// # What the pumps promise
//
// Bytes pass unchanged and in order, as they come: a piece is written on as soon as
// it is read. Each end sees what it would see without a tap: EOF of the one is EOF
// of the other, one way alone too; where one closes its reading end, the other gets
// EPIPE on its next write (on Windows one write later); signals go on to the server;
// the environment, the working directory, stderr and the process group are the
// caller's; the exit status is the server's.
//
// # Order
//
// A piece is queued before it is written on, in both directions. So a request is in
// the queue before the server can have read it, and a response before the client
// can have acted on it: whatever the monitor sees first may be a cause of what it
// sees later, and never the other way round.
//
// # When judging falls behind
//
// The queue is bounded ([Options.Queue], 64 MiB). When half of it is full the
// judging stops, and what passes then is recorded but not judged; when the queue has
// run almost empty it goes on, as in the middle of a conversation that it has not
// seen the beginning of. How much was left out is in the [Result], and where there
// is a recording, `check` judges all of it. The pumps wait only where the queue is
// full: while one frame of many MiB is parsed, or for the disk of the recording. Of a
// line longer than [Options.Line] (32 MiB) the beginning is kept, and it is not judged.
package tap
