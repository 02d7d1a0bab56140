//go:build linux || darwin

package process

import "time"

// The control channel between the harness and a supervisor is one end each of a Unix stream socket,
// descriptor 3 in the supervisor, and carries newline-delimited JSON. The supervisor has it as its
// stderr, too: a line that is not a JSON object is what the supervisor's runtime or a wrong
// program said, and is shown where a start fails.
//
//	harness → supervisor
//	{"start":{…}}            first and once: execute this, with descriptors 4, 5, 6 as its 0, 1, 2
//	{"signal":15}            send signal 15 to the launched process, if it was not reaped yet
//	{"kill":5000000000}      end the tree within 5 s (in ns), then answer "gone" and exit
//	EOF                      the harness has died: end the tree, exit
//
//	supervisor → harness
//	{"started":{"pid":7,"at":…}}   the program runs (its execve succeeded)
//	{"failed":{…}}                 it does not; the supervisor exits
//	{"signalled":{"error":""}}     one for each "signal", in order
//	{"exited":{…}}                 the launched process was reaped
//	{"gone":{"cpu":…,"left":[…]}}  nothing of the tree is left but what "left" lists; the supervisor
//	                               exits. It comes unasked as soon as it is true.
//
// Argument and environment strings travel as bytes (base64 in JSON), because they need not be UTF-8.
type request struct {
	Start  *startRequest  `json:"start,omitempty"`
	Signal int            `json:"signal,omitempty"`
	Kill   *time.Duration `json:"kill,omitempty"`
}

type startRequest struct {
	Path  string   `json:"path"`
	Dir   string   `json:"dir"`
	Argv  [][]byte `json:"argv"`
	Env   [][]byte `json:"env"`
	Nonce string   `json:"nonce"`
}

type report struct {
	Started   *startedReport   `json:"started,omitempty"`
	Failed    *failedReport    `json:"failed,omitempty"`
	Signalled *signalledReport `json:"signalled,omitempty"`
	Exited    *exitedReport    `json:"exited,omitempty"`
	Gone      *goneReport      `json:"gone,omitempty"`
}

type startedReport struct {
	Pid int   `json:"pid"`
	At  int64 `json:"at"` // wall clock, ns since 1970
}

type failedReport struct {
	Errno  int    `json:"errno"` // 0 where the error is none of the system's
	Reason string `json:"reason"`
	// Own is true where the supervisor's own resources were the reason, not the command.
	Own bool `json:"own,omitempty"`
}

type signalledReport struct {
	Done  bool   `json:"done,omitempty"` // the process had been reaped
	Error string `json:"error,omitempty"`
}

type exitedReport struct {
	Code   int           `json:"code"`
	Signal int           `json:"signal"`
	At     int64         `json:"at"`
	MaxRSS int64         `json:"maxrss"` // bytes
	User   time.Duration `json:"user"`
	System time.Duration `json:"system"`
}

type goneReport struct {
	CPU  time.Duration `json:"cpu"` // of every process of the tree that was reaped
	Left []Member      `json:"left,omitempty"`
}

// What the supervisor finds as its descriptors, after 0, 1 (the null device) and 2 (the channel).
const (
	controlFD = 3
	stdinFD   = 4
	stdoutFD  = 5
	stderrFD  = 6
)

func toBytes(s []string) [][]byte {
	b := make([][]byte, len(s))
	for i := range s {
		b[i] = []byte(s[i])
	}
	return b
}

func toStrings(b [][]byte) []string {
	s := make([]string, len(b))
	for i := range b {
		s[i] = string(b[i])
	}
	return s
}
