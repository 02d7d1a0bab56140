package relay

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"sync"
)

// pumpBytes opens a connection for each stream and passes bytes on.
func pumpBytes(control *net.UnixConn, socket string) (streams, error) {
	if _, err := control.Write([]byte{controlWithBytes}); err != nil {
		return nil, err
	}
	p := &pumps{files: [3]*os.File{os.Stdin, os.Stdout, os.Stderr}}
	for i, name := range Streams {
		conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
		if err != nil {
			return nil, err
		}
		p.conns[i] = conn
		line, err := json.Marshal(Channel{Stream: name, Of: os.Getpid()})
		if err != nil {
			return nil, err
		}
		if _, err := conn.Write(append(append([]byte{channelOfBytes}, line...), '\n')); err != nil {
			return nil, err
		}
	}
	go p.in() // ends with this process
	for _, i := range []int{1, 2} {
		p.pumped[i] = make(chan struct{})
		go p.pump(i) // ends with this process
	}
	return p, nil
}

// pumps are three streams with a connection each.
type pumps struct {
	files  [3]*os.File
	conns  [3]*net.UnixConn
	once   [3]sync.Once
	pumped [3]chan struct{} // closed when all of stdout or stderr has gone out
}

// in passes stdin on, and its end.
func (p *pumps) in() {
	_, err := io.Copy(p.conns[0], p.files[0])
	if err == nil {
		_ = p.conns[0].CloseWrite()
		return
	}
	// The suite reads no more: the SDK has to notice, as it would with a runtime that closed its stdin.
	_ = p.close(0)
}

// pump passes what the suite writes to stdout or stderr on, and its end. Where the SDK reads no more, the suite
// notices by the connection.
func (p *pumps) pump(i int) {
	_, err := io.Copy(p.files[i], p.conns[i])
	if err != nil {
		_ = p.conns[i].Close()
	} else {
		_ = p.closeFile(i)
	}
	close(p.pumped[i])
}

// close ends a stream. What was written to it goes out before, so the suite ends its side of the connection first.
func (p *pumps) close(stream int) error {
	if stream == 0 {
		_ = p.conns[0].Close()
	} else {
		<-p.pumped[stream]
	}
	return p.closeFile(stream)
}

func (p *pumps) closeFile(stream int) (err error) {
	p.once[stream].Do(func() { err = p.files[stream].Close() })
	return err
}

// drain waits until all that the suite has written, up to the ends of both connections, has gone out.
func (p *pumps) drain() {
	<-p.pumped[1]
	<-p.pumped[2]
}
