package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Wanted reports whether this process was launched as a relay: by its first argument, or by the name of its
// executable.
func Wanted(argv []string) bool {
	return len(argv) > 1 && argv[1] == Name || len(argv) > 0 && byName(argv[0])
}

func byName(path string) bool { return strings.HasPrefix(filepath.Base(path), Executable) }

// Run is the whole life of a relay. It returns the exit code, and does not return where it is told to die.
func Run(argv []string) int {
	address, added, err := find(argv)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if asksForVersion(added) {
		fmt.Println("0.0.0")
		return 0
	}
	socket, mode := parseAddress(address)
	// Before anything else: a signal that comes now must be seen.
	signals := catch()
	r := &relay{}
	if err := r.connect(socket, mode, added); err != nil {
		fmt.Fprintf(os.Stderr, "relay: the suite that launched this is not there: %v\n", err)
		return 1
	}
	go func() { // ends with this process
		for s := range signals {
			_ = r.report(FromRelay{Signal: signalName(s)})
		}
	}()
	return r.obey()
}

// asksForVersion reports whether this is no launch but a look at what would be launched, as some SDKs take before.
// Anything else that is added does no harm.
func asksForVersion(added []string) bool {
	return len(added) == 1 && slices.Contains([]string{"--version", "-version", "version", "-V"}, added[0])
}

// find gives the address of the run and what the SDK has added to the arguments.
func find(argv []string) (address string, added []string, err error) {
	if len(argv) > 1 && argv[1] == Name {
		if len(argv) < 3 {
			return "", nil, errors.New("relay is launched by an SDK under test, with the address of its run")
		}
		return argv[2], argv[3:], nil
	}
	self, err := os.Executable()
	if err != nil {
		self = argv[0]
	}
	raw, err := os.ReadFile(self + AddressSuffix)
	if err != nil {
		return "", nil, fmt.Errorf("relay: no address beside %s: %w", self, err)
	}
	return strings.TrimSpace(string(raw)), argv[1:], nil
}

// relay is the connection to the suite.
type relay struct {
	control *net.UnixConn
	writing sync.Mutex
	streams streams
}

// streams is how a mode handles the three streams.
type streams interface {
	// close closes this process's end of a stream, when what was written to it has gone out.
	close(stream int) error
	// drain waits until all that the suite has written is in the SDK's pipes.
	drain()
}

func (r *relay) connect(socket string, mode Mode, added []string) error {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return err
	}
	r.control = conn
	hello := Hello{Mode: mode, Pid: os.Getpid(), Argv: added, Names: names(os.Environ())}
	hello.Dir, _ = os.Getwd()
	for fd := range Streams {
		hello.Kinds = append(hello.Kinds, kind(fd))
	}
	if mode == Descriptors {
		r.streams, err = passDescriptors(conn)
	} else {
		r.streams, err = pumpBytes(conn, socket)
	}
	if err != nil {
		return err
	}
	return r.report(FromRelay{Hello: &hello})
}

func names(environ []string) []string {
	out := make([]string, 0, len(environ))
	for _, e := range environ {
		name, _, _ := strings.Cut(e, "=")
		out = append(out, name)
	}
	return out
}

// report writes one line. An error means that the suite is gone, which obey finds.
func (r *relay) report(m FromRelay) error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	_, err = r.control.Write(append(line, '\n'))
	return err
}

// obey does as it is told until it is told to end, or the suite is gone.
func (r *relay) obey() int {
	d := json.NewDecoder(r.control)
	for {
		var m ToRelay
		if d.Decode(&m) != nil {
			return 1 // nobody is left who could be the runtime
		}
		switch {
		case m.Close != "":
			go r.close(m.Close) // bytes that the SDK does not read hold it up, and nothing else
		case m.Exit != nil:
			go func() {
				r.streams.drain()
				os.Exit(*m.Exit)
			}()
		case m.Die != "":
			go func() {
				r.streams.drain()
				if err := die(m.Die); err != nil {
					_ = r.report(FromRelay{Failed: err.Error()})
				}
			}()
		}
	}
}

func (r *relay) close(stream string) {
	answer := FromRelay{Closed: stream}
	if i := slices.Index(Streams[:], stream); i < 0 {
		answer = FromRelay{Failed: fmt.Sprintf("there is no stream %q", stream)}
	} else if err := r.streams.close(i); err != nil {
		answer = FromRelay{Failed: err.Error()}
	}
	_ = r.report(answer)
}
