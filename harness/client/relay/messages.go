package relay

import "strings"

// Mode is how the bytes come to the suite.
type Mode string

const (
	// Descriptors passes the descriptors themselves. It needs Unix.
	Descriptors Mode = "descriptors"
	// Bytes passes the bytes on. It works everywhere.
	Bytes Mode = "bytes"
)

// Streams are the names of the three streams, by descriptor.
var Streams = [3]string{"stdin", "stdout", "stderr"}

// FromRelay is one line that the relay writes on the control connection. One member is set.
type FromRelay struct {
	Hello  *Hello `json:"hello,omitempty"`
	Signal string `json:"signal,omitempty"` // came, and was not obeyed: "SIGTERM"
	Closed string `json:"closed,omitempty"` // the stream that was closed as it was told
	Failed string `json:"failed,omitempty"` // what it could not do, in words
}

// Hello says who was launched, and how.
type Hello struct {
	Mode  Mode     `json:"mode"`
	Pid   int      `json:"pid"`
	Argv  []string `json:"argv"`  // behind the relay's own: what the SDK has added
	Dir   string   `json:"dir"`   // working directory
	Names []string `json:"names"` // of the environment's variables
	Kinds []string `json:"kinds"` // what each stream is: pipe, socket, file, device, closed
}

// Converses reports whether somebody can speak to the process: its stdin is no file and no null device, as that of a
// process is that is only to show that it starts.
func (h Hello) Converses() bool {
	return len(h.Kinds) == 0 || h.Kinds[0] == "pipe" || h.Kinds[0] == "socket"
}

// ToRelay is one line that the suite writes on the control connection. One member is set.
type ToRelay struct {
	Close string `json:"close,omitempty"` // a stream
	Exit  *int   `json:"exit,omitempty"`  // with this code
	Die   string `json:"die,omitempty"`   // by this signal
}

// Channel is the first line on a connection that carries the bytes of a stream: which, and of which launch.
type Channel struct {
	Stream string `json:"stream"`
	Of     int    `json:"of"` // pid
}

// First bytes of a connection: what it is.
const (
	controlWithDescriptors = 'D'
	controlWithBytes       = 'B'
	channelOfBytes         = 'C'
)

// Kind of a connection by its first byte.
func Kind(first byte) (control, channel bool, mode Mode) {
	switch first {
	case controlWithDescriptors:
		return true, false, Descriptors
	case controlWithBytes:
		return true, false, Bytes
	case channelOfBytes:
		return false, true, ""
	}
	return false, false, ""
}

// Name is the hidden subcommand, and begins the name of an executable that is a relay by its name.
const (
	Name       = "relay"
	Executable = "dshconform-relay"
	// AddressSuffix is what is added to the path of such an executable to get the file that holds its address.
	AddressSuffix = ".address"
)

// Address is how a relay finds its run: the path of a socket, with the mode before it where that is Bytes.
func Address(socket string, mode Mode) string {
	if mode == Bytes {
		return string(Bytes) + ":" + socket
	}
	return socket
}

func parseAddress(s string) (socket string, mode Mode) {
	if rest, ok := strings.CutPrefix(s, string(Bytes)+":"); ok {
		return rest, Bytes
	}
	return s, Descriptors
}
