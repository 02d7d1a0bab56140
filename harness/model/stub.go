package model

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
)

// Options configure a [Stub]. The zero value serves a loopback port of the system's choice.
type Options struct {
	// Listen is the address to bind; default 127.0.0.1:0.
	Listen string
	// AdvertiseHost is the host in [Stub.URL] and [Stub.Control], for a subject that reaches this machine under
	// another name (a container). Default: the host of Listen, or loopback where that is unspecified.
	AdvertiseHost string
	// Key is the key that calls must carry; default a random one.
	Key string
	// Default answers every call that no script answers; default Text("ok"). It must not call subagents, which
	// would go round for ever.
	Default []Step

	// MaxBody is the largest body that is read, in bytes; a larger one is answered 413. Default 256 MiB. Each call
	// that is being read takes about twice its body, besides the record.
	MaxBody int64
	// The bounds of the record: bodies above KeepBody bytes are not kept (default 1 MiB); all bodies together take
	// KeepBodies at most (default 64 MiB), all parsed messages KeepTexts (default 256 MiB; the newest call is
	// exempt), and there are KeepCalls calls at most (default 100,000). What goes is the oldest.
	KeepBody, KeepBodies, KeepTexts int64
	KeepCalls                       int
}

func (o *Options) setDefaults() error {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Key == "" {
		o.Key = "sk-dshconform-" + randomHex()
	}
	if o.Default == nil {
		o.Default = []Step{Text("ok")}
	}
	for i, step := range o.Default {
		if step.Kind == KindSubagent {
			return fmt.Errorf("step %d of the default reply calls a subagent", i+1)
		}
		if err := step.validate(); err != nil {
			return fmt.Errorf("step %d of the default reply: %w", i+1, err)
		}
	}
	for _, bound := range []struct {
		value    *int64
		fallback int64
	}{{&o.MaxBody, 256 << 20}, {&o.KeepBody, 1 << 20}, {&o.KeepBodies, 64 << 20}, {&o.KeepTexts, 256 << 20}} {
		if *bound.value <= 0 {
			*bound.value = bound.fallback
		}
	}
	if o.KeepCalls <= 0 {
		o.KeepCalls = 100_000
	}
	return nil
}

func randomHex() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails: see crypto/rand
	return hex.EncodeToString(b[:])
}

// A Stub serves the model endpoints that a server under test calls. It is safe for concurrent use.
type Stub struct {
	options Options
	base    string // http://host:port
	secret  string // the part of the control URL that only those who were given it know
	record  record
	gates   gates

	server *http.Server
	serve  sync.WaitGroup // the goroutine that accepts
	conns  sync.WaitGroup // one for each connection, and so for each handler

	closed  atomic.Bool // Close has begun
	closing sync.Once
	err     error // of serving and closing
}

// Start binds the address and serves. ctx bounds the start alone; [Stub.Close] ends the stub.
func Start(ctx context.Context, o Options) (*Stub, error) {
	if err := o.setDefaults(); err != nil {
		return nil, fmt.Errorf("starting the model stub: %w", err)
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("starting the model stub: %w", err)
	}
	s := &Stub{
		options: o,
		base:    "http://" + advertised(listener.Addr(), o.AdvertiseHost),
		secret:  randomHex(),
		record: record{
			keepBody: o.KeepBody, keepBodies: o.KeepBodies, keepTexts: o.KeepTexts, keepCalls: o.KeepCalls,
			observers: map[int]func(Call){}, changed: make(chan struct{}),
		},
	}
	s.server = &http.Server{
		Handler:  http.HandlerFunc(s.handle),
		ErrorLog: log.New(io.Discard, "", 0), // broken requests are recorded as calls or are no business of ours
		// A connection's goroutine, and with it every handler, is joined through its last state.
		ConnState: func(conn net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				s.conns.Add(1)
				if s.closed.Load() {
					_ = conn.Close() // accepted too late for http.Server.Close to know of it
				}
			case http.StateClosed:
				s.conns.Done()
			}
		},
	}
	s.serve.Go(func() {
		if err := s.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.err = fmt.Errorf("serving the model stub: %w", err)
		}
	})
	return s, nil
}

// advertised is the host:port under which a subject finds the listener.
func advertised(addr net.Addr, host string) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return addr.String()
	}
	if host == "" {
		host = tcp.IP.String()
		if tcp.IP.IsUnspecified() {
			host = "127.0.0.1" // an unspecified address, [::] too, takes both families
		}
	}
	return net.JoinHostPort(host, fmt.Sprint(tcp.Port))
}

// URL is the base URL of both dialects, with no slash at its end: what DEEPSEEK_BASE_URL is set to. Any path
// that ends in /chat/completions or /v1/messages is served, whatever a server puts in between.
func (s *Stub) URL() string { return s.base }

// Key is the key that the stub accepts, as a bearer token or in X-Api-Key, in both dialects.
func (s *Stub) Key() string { return s.options.Key }

// Control is the URL for servers that have a test model of their own: what DSHCONFORM_CONTROL is set to. It
// holds a secret of the run in its path and has no slash at its end.
func (s *Stub) Control() string { return s.base + controlPath + s.secret }

// Gate gives the gate of that name, and makes it if nobody did yet.
func (s *Stub) Gate(name string) *Gate { return s.gates.get(name) }

// Gates gives all gates that were asked for or reached, by name, without those that [Stub.Forget] dropped.
func (s *Stub) Gates() []*Gate { return s.gates.all() }

// GateURL is where an in-server model waits at the gate of that name.
func (s *Stub) GateURL(name string) string { return s.Control() + "/gates/" + url.PathEscape(name) }

// Close opens all gates, cuts all connections and waits for everything that the stub started. The record may
// still be read. It may be called more than once.
func (s *Stub) Close() error {
	s.closing.Do(func() {
		s.closed.Store(true)
		s.gates.openAll()
		err := s.server.Close()
		s.serve.Wait()
		s.conns.Wait()
		if err = errors.Join(s.err, err); err != nil {
			s.err = fmt.Errorf("closing the model stub: %w", err)
		}
	})
	return s.err
}
