//go:build !unix

package relay

import (
	"errors"
	"net"
	"os"
	"os/signal"
)

func passDescriptors(*net.UnixConn) (streams, error) {
	return nil, errors.New("descriptors can't be handed over on this platform")
}

func kind(int) string { return "pipe" }

func catch() <-chan os.Signal {
	c := make(chan os.Signal, 16)
	signal.Notify(c, os.Interrupt)
	return c
}

func signalName(s os.Signal) string { return s.String() }

// die ends this process as hard as the platform can.
func die(string) error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	return self.Kill()
}
