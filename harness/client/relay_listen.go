package client

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/dshconform/dshconform/harness/client/relay"
)

// half is a launch in Bytes whose connections are not all here.
type half struct {
	control *net.UnixConn
	in      *bufio.Reader
	hello   relay.Hello
	streams [3]net.Conn
}

func (h *half) close() {
	if h.control != nil {
		_ = h.control.Close()
	}
	for _, s := range h.streams {
		if s != nil {
			_ = s.Close()
		}
	}
}

func (h *half) whole() bool {
	return h.control != nil && h.streams[0] != nil && h.streams[1] != nil && h.streams[2] != nil
}

// listen takes connections until the listener is closed.
func (r *Relay) listen() {
	for {
		conn, err := r.listener.AcceptUnix()
		if err != nil {
			return
		}
		r.group.Go(func() { r.take(conn) })
	}
}

// take finds out what a connection is.
func (r *Relay) take(conn *net.UnixConn) {
	// The relay says everything of this at once.
	_ = conn.SetReadDeadline(time.Now().Add(r.o.Deadlines.Start)) // a Unix socket has deadlines
	first := make([]byte, 1)
	ends, err := receive(conn, first)
	if err == nil {
		err = r.sort(conn, first[0], ends)
	}
	if err == nil {
		return
	}
	_ = conn.Close()
	for _, e := range ends {
		if e != nil {
			_ = e.Close()
		}
	}
	if cutOff(err) {
		return // a launch that was given up, or another program's knock
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil && !r.closed {
		r.failed = fmt.Errorf("take the launch of a runtime: %w", err)
		r.wake()
	}
}

// cutOff reports whether a connection ended before it had said what it is.
func cutOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

func (r *Relay) sort(conn *net.UnixConn, first byte, ends []end) error {
	control, channel, mode := relay.Kind(first)
	in := bufio.NewReader(conn)
	switch {
	case control:
		var m relay.FromRelay
		if err := readLine(in, &m); err != nil {
			return err
		}
		if m.Hello == nil {
			return fmt.Errorf("the relay did not say hello")
		}
		_ = conn.SetReadDeadline(time.Time{})
		if mode == relay.Descriptors {
			if len(ends) != 3 {
				return fmt.Errorf("%d descriptors came in the place of 3", len(ends))
			}
			r.launch(newRuntime(r, *m.Hello, conn, in, [3]end(ends)))
			return nil
		}
		return r.join(m.Hello.Pid, func(h *half) { h.control, h.in, h.hello = conn, in, *m.Hello })
	case channel:
		var c relay.Channel
		if err := readLine(in, &c); err != nil {
			return err
		}
		_ = conn.SetReadDeadline(time.Time{})
		for i, name := range relay.Streams {
			if name == c.Stream {
				return r.join(c.Of, func(h *half) { h.streams[i] = &buffered{conn, in} })
			}
		}
		return fmt.Errorf("a connection for the stream %q", c.Stream)
	}
	return fmt.Errorf("a connection of another kind: %q", first)
}

// join adds a connection to its launch, which is complete with the last one.
func (r *Relay) join(pid int, add func(*half)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.halves[pid]
	if h == nil {
		h = &half{}
		r.halves[pid] = h
	}
	add(h)
	if !h.whole() {
		return nil
	}
	delete(r.halves, pid)
	var ends [3]end
	for i, c := range h.streams {
		ends[i] = connEnd{c}
	}
	r.launchLocked(newRuntime(r, h.hello, h.control, h.in, ends))
	return nil
}

func (r *Relay) launch(rt *Runtime) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.launchLocked(rt)
}

func (r *Relay) launchLocked(rt *Runtime) {
	r.launched = append(r.launched, rt)
	if d := r.driver; d != nil {
		d.mu.Lock()
		d.relays[rt.hello.Pid] = true
		d.mu.Unlock()
	}
	r.wake()
}

// readLine reads one line of JSON.
func readLine(in *bufio.Reader, into any) error {
	line, err := in.ReadBytes('\n')
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	return json.Unmarshal(line, into)
}

// buffered is a connection of which something may have been read already.
type buffered struct {
	*net.UnixConn
	in *bufio.Reader
}

func (b *buffered) Read(p []byte) (int, error) {
	if b.in.Buffered() > 0 {
		return b.in.Read(p)
	}
	return b.UnixConn.Read(p)
}
