package server

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// Call is a request on its way.
type Call struct {
	*protocol.Request
	s *Server
}

// NewID gives an id that this process has not seen. It is a string that no
// server can take for a number.
func (s *Server) NewID() wire.ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nextID++
	return wire.StringID(fmt.Sprintf("q-%d", s.nextID))
}

// Frame makes the line of a request. Params that are nil are left out.
func Frame(id wire.ID, method string, params any) []byte {
	members := struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id,omitzero"`
		Method  string         `json:"method"`
		Params  any            `json:"params,omitzero"`
	}{"2.0", nil, method, params}
	if id.Present() {
		members.ID = jsontext.Value(id.Token())
	}
	b, err := json.Marshal(members, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic(fmt.Sprintf("a frame that the suite made up does not encode: %v", err))
	}
	return append(b, '\n')
}

// Send writes a request under a fresh id.
func (s *Server) Send(ctx context.Context, method string, params any) (*Call, error) {
	return s.SendLine(ctx, Frame(s.NewID(), method, params))
}

// SendLine writes a line that is a request.
func (s *Server) SendLine(ctx context.Context, line []byte) (*Call, error) {
	q, err := s.Write(ctx, line)
	if len(q) == 0 && err == nil {
		return nil, fmt.Errorf("the suite wrote a line that is no request: %s", protocol.Short(string(line)))
	}
	if len(q) == 0 {
		return nil, err
	}
	return &Call{q[0], s}, err
}

// Calls turns requests that Write returned into calls.
func (s *Server) Calls(requests []*protocol.Request) []*Call {
	calls := make([]*Call, len(requests))
	for i, q := range requests {
		calls[i] = &Call{q, s}
	}
	return calls
}

// Answer waits for the response of a request that needs no turn.
func (c *Call) Answer(ctx context.Context) (wire.Message, error) {
	return c.await(ctx, c.awaited(), c.s.deadlines.Call)
}

// Settle waits for the response of a prompt, which may need a whole turn.
func (c *Call) Settle(ctx context.Context) (wire.Message, error) {
	return c.await(ctx, c.awaited(), c.s.deadlines.Turn)
}

func (c *Call) awaited() string {
	name := c.Method
	if name == "" {
		name = "a request"
	}
	return fmt.Sprintf("response to %s (id %s)", protocol.Short(name), protocol.Short(c.ID.Token()))
}

func (c *Call) await(ctx context.Context, awaited string, within time.Duration) (wire.Message, error) {
	var m wire.Message
	err := c.s.Await(ctx, awaited, Mark(c.s.Mark()), within, func([]Entry) bool {
		if c.Request.Answer == nil {
			return false
		}
		m = *c.Request.Answer
		return true
	})
	return m, err
}

// Now gives the response if it came already.
func (c *Call) Now() (wire.Message, bool) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.Request.Answer == nil {
		return wire.Message{}, false
	}
	return *c.Request.Answer, true
}

// ResponseLine is the line of the response, zero where none came.
func (c *Call) ResponseLine() wire.Line {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.Request.Response == nil {
		return wire.Line{}
	}
	return *c.Request.Response
}

// Disown tells the monitor that a missing response is judged by the caller.
func (c *Call) Disown() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.mon.Disown(c.Request)
}

// Overdue tells the monitor that a response which did not come within its deadline is
// judged by no requirement but that every request gets one (S-MSG-04).
func (c *Call) Overdue() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.report(c.s.mon.Overdue(c.Request).Violations)
}

// Call sends a request and waits for its response.
func (s *Server) Call(ctx context.Context, method string, params any) (wire.Message, error) {
	c, err := s.Send(ctx, method, params)
	if err != nil {
		return wire.Message{}, err
	}
	return c.Answer(ctx)
}

// Barriers are the requests that can serve as a barrier, the surest first: each
// is answered at once by a sound server, with an error.
var Barriers = []struct {
	Method string
	Params any
}{
	{"dshconform/barrier", nil},
	{protocol.MethodInitialize, map[string]any{"cwd": 1}},
	{protocol.MethodPrompt, map[string]any{}},
}

// UseBarrier picks the barrier of this process by its place in Barriers.
func (s *Server) UseBarrier(i int) { s.barrier = i }

// Barrier sends a request whose answer is sure and waits for it. Its answer proves
// that every line before it was read and dispatched, and that what a server does
// with them at once is on the wire. It does not prove that earlier requests were
// answered: servers dispatch concurrently, and an error overtakes a prompt.
func (s *Server) Barrier(ctx context.Context) error {
	b := Barriers[s.barrier]
	c, err := s.Send(ctx, b.Method, b.Params)
	if err != nil {
		return err
	}
	if _, err = c.await(ctx, "response to a barrier, "+c.awaited(), s.deadlines.Call); err != nil {
		c.Disown() // what a barrier that fails means is for its caller to say
	}
	return err
}

// Server is the process that the call went to.
func (c *Call) Server() *Server { return c.s }
