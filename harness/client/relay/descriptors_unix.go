//go:build unix

package relay

import (
	"fmt"
	"net"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// passDescriptors hands the three descriptors over. Copies stay here, see descriptors.close.
func passDescriptors(conn *net.UnixConn) (streams, error) {
	if _, _, err := conn.WriteMsgUnix([]byte{controlWithDescriptors}, unix.UnixRights(0, 1, 2), nil); err != nil {
		return nil, fmt.Errorf("hand over stdin, stdout and stderr: %w", err)
	}
	return descriptors{}, nil
}

type descriptors struct{}

// close puts the null device in the place of a stream: the number stays taken, so that nothing that is opened later gets it.
func (descriptors) close(stream int) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	return replace(int(null.Fd()), stream)
}

func (descriptors) drain() {}

// kind names what a descriptor is.
func kind(fd int) string {
	var s unix.Stat_t
	if unix.Fstat(fd, &s) != nil {
		return "closed"
	}
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFIFO:
		return "pipe"
	case unix.S_IFSOCK:
		return "socket"
	case unix.S_IFREG:
		return "file"
	}
	return "device"
}

// caught are the signals that an SDK may send to its runtime and that can be caught.
var caught = []os.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2}

func catch() <-chan os.Signal {
	c := make(chan os.Signal, 16)
	signal.Notify(c, caught...)
	return c
}

func signalName(s os.Signal) string {
	if n, ok := s.(unix.Signal); ok {
		return unix.SignalName(n)
	}
	return s.String()
}

// die ends this process by a signal. It returns only where it could not.
//
// Go's runtime makes something of its own of the signals of faults (a stack trace and exit code 2). A shell that
// takes the place of this process does not: at an exec every signal gets its default back.
func die(name string) error {
	s := unix.SignalNum(name)
	if s == 0 {
		return fmt.Errorf("there is no signal %q", name)
	}
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // no core file
	if s == unix.SIGKILL {
		return unix.Kill(os.Getpid(), s)
	}
	// A shell that was started with a signal ignored can't reset it; exec resets what is caught.
	return unix.Exec("/bin/sh", []string{"sh", "-c", fmt.Sprintf("kill -%d $$; sleep 1; kill -9 $$", int(s))}, os.Environ())
}
