package client

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// Request is a request that the SDK wrote.
type Request struct {
	wire.Line
	Message wire.Message
	rt      *Runtime
}

// ID, Method and Params are as they stand on the wire.
func (q *Request) ID() wire.ID            { return q.Message.ID }
func (q *Request) Method() string         { return q.Message.Method }
func (q *Request) Params() jsontext.Value { return q.Message.Params }

// SessionID is that of a prompt.
func (q *Request) SessionID() string {
	o, _ := wire.AsObject(q.Message.Params)
	return wire.Unquote(o["sessionId"])
}

// Text is the text of a prompt: its text blocks joined, or what stands in their place as a string.
func (q *Request) Text() string {
	o, _ := wire.AsObject(q.Message.Params)
	if text, ok := o.String("contentBlocks"); ok {
		return text
	}
	blocks, _ := wire.AsArray(o["contentBlocks"])
	var b strings.Builder
	for _, block := range blocks {
		o, _ := wire.AsObject(block)
		b.WriteString(wire.Unquote(o["text"]))
	}
	return b.String()
}

// Result is the line of a response with this result. A jsontext.Value is written as it is, whatever is wrong with it.
func (q *Request) Result(v any) []byte { return ResultLine(q.ID(), v) }

// Error is the line of an error response. More than one data is a mistake; without one there is no such member.
func (q *Request) Error(code int, text string, data ...any) []byte {
	e := map[string]any{"code": code, "message": text}
	if len(data) > 0 {
		e["data"] = data[0]
	}
	return q.ErrorRaw(Encode(e))
}

// ErrorRaw is the line of a response with this error member, whatever it is.
func (q *Request) ErrorRaw(v jsontext.Value) []byte {
	return []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", q.ID().Token(), v))
}

// ResultLine is the line of a response under any id.
func ResultLine(id wire.ID, v any) []byte {
	return []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id.Token(), Encode(v)))
}

// RequestLine is the line of a request, which no sound server writes. Params that are nil are left out.
func RequestLine(id wire.ID, method string, params any) []byte {
	more := ""
	if params != nil {
		more = `,"params":` + string(Encode(params))
	}
	return []byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%s%s}`+"\n", id.Token(), Encode(method), more))
}

// NotificationLine is the line of a notification.
func NotificationLine(method string, params any) []byte {
	return []byte(fmt.Sprintf(`{"jsonrpc":"2.0","method":%s,"params":%s}`+"\n", Encode(method), Encode(params)))
}

// NewID gives an id that no request of this process has: for what a server must not ask.
func (rt *Runtime) NewID() wire.ID {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.ids++
	return wire.StringID(fmt.Sprintf("stray-%d", rt.ids))
}

// dispatch gives a request to the behaviour or to the spec. The caller holds the lock.
func (rt *Runtime) dispatch(q *Request) {
	if rt.manual(q.Method()) {
		rt.pending = append(rt.pending, q)
		return
	}
	rt.enqueue(q)
}

func (rt *Runtime) manual(method string) bool {
	return slices.Contains(rt.b.Manual, method) || slices.Contains(rt.b.Manual, All)
}

// Manual leaves requests with these methods to the spec from now on.
func (rt *Runtime) Manual(methods ...string) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.b.Manual = append(slices.Clone(rt.b.Manual), methods...)
}

// Auto answers requests with these methods by the behaviour again, those that wait for the spec included.
func (rt *Runtime) Auto(methods ...string) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.b.Manual = slices.DeleteFunc(slices.Clone(rt.b.Manual), func(m string) bool { return slices.Contains(methods, m) })
	left := rt.pending
	rt.pending = nil
	for _, q := range left {
		rt.dispatch(q)
	}
}

// Next takes the next request of the method that is left to the spec, "" for any, for which it waits.
func (rt *Runtime) Next(ctx context.Context, method string) (*Request, error) {
	what := method
	if what == "" {
		what = "further"
	}
	return rt.NextWhere(ctx, fmt.Sprintf("%s request of the SDK", what), func(q *Request) bool {
		return method == "" || q.Method() == method
	})
}

// NextPrompt takes the next prompt of the session.
func (rt *Runtime) NextPrompt(ctx context.Context, sessionID string) (*Request, error) {
	return rt.NextWhere(ctx, "prompt of the SDK", func(q *Request) bool {
		return q.Method() == protocol.MethodPrompt && q.SessionID() == sessionID
	})
}

// NextWhere takes the next request that is left to the spec and wanted. It must not call back.
func (rt *Runtime) NextWhere(ctx context.Context, awaited string, wanted func(*Request) bool) (*Request, error) {
	return rt.NextWithin(ctx, awaited, rt.deadlines.Call, wanted)
}

// NextWithin is NextWhere with a deadline of the caller's, for requests that take long to make.
func (rt *Runtime) NextWithin(ctx context.Context, awaited string, within time.Duration, wanted func(*Request) bool) (*Request, error) {
	var q *Request
	err := rt.Await(ctx, awaited, rt.Mark(), within, func([]Entry) bool {
		i := slices.IndexFunc(rt.pending, wanted)
		if i < 0 {
			return false
		}
		q = rt.pending[i]
		rt.pending = slices.Delete(rt.pending, i, i+1)
		return true
	})
	return q, err
}

// Waiting is the number of requests that are left to the spec and not taken.
func (rt *Runtime) Waiting() int {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return len(rt.pending)
}
