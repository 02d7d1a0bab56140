//go:build linux || darwin

package client_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// tiny is a tiny SDK, which the drivers of these tests drive. Its profile is directional or receipt.
type tiny struct {
	command []string
	dir     string
	params  map[string]any
	receipt bool
	timeout time.Duration
	grace   time.Duration

	mu      sync.Mutex
	cmd     *exec.Cmd
	in      io.WriteCloser
	next    int
	waiting map[string]chan json.RawMessage
	hear    map[int]func(string, json.RawMessage) // subscriptions
	dead    error
	exited  chan struct{}
	errTail bytes.Buffer
}

type remoteError struct {
	Code    json.RawMessage `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

func (e *remoteError) Error() string { return e.Message }

var (
	errClosed   = errors.New("the runtime is not running")
	errTimeout  = errors.New("no answer in time")
	errProtocol = errors.New("the runtime said something strange")
)

func (c *tiny) start() error {
	cmd := exec.Command(c.command[0], c.command[1:]...)
	cmd.Dir = c.dir
	cmd.Stderr = &c.errTail
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.mu.Lock()
	c.cmd, c.in, c.exited, c.dead = cmd, in, make(chan struct{}), nil
	c.waiting, c.hear = map[string]chan json.RawMessage{}, map[int]func(string, json.RawMessage){}
	c.mu.Unlock()
	go func() {
		c.read(out)
		_ = cmd.Wait()
		close(c.exited)
	}()
	return nil
}

func (c *tiny) read(out io.Reader) {
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		var f struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(line, &f) != nil {
			continue
		}
		c.mu.Lock()
		switch {
		case f.ID != nil && f.Method != "": // a stray request
		case f.ID != nil:
			if w := c.waiting[string(f.ID)]; w != nil {
				delete(c.waiting, string(f.ID))
				w <- line
			}
		default:
			for _, hear := range c.hear {
				hear(f.Method, f.Params)
			}
		}
		c.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dead = errClosed
	for id, w := range c.waiting {
		delete(c.waiting, id)
		close(w)
	}
}

func (c *tiny) request(method string, params any) (json.RawMessage, error) {
	c.mu.Lock()
	if c.cmd == nil || c.dead != nil {
		c.mu.Unlock()
		return nil, errClosed
	}
	c.next++
	id := fmt.Sprint(c.next)
	w := make(chan json.RawMessage, 1)
	c.waiting[id] = w
	request := map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method}
	if params != nil {
		request["params"] = params
	}
	frame, _ := json.Marshal(request)
	_, err := c.in.Write(append(frame, '\n'))
	c.mu.Unlock()
	if err != nil {
		return nil, errClosed
	}
	var late <-chan time.Time
	if c.timeout > 0 {
		late = time.After(c.timeout)
	}
	var line json.RawMessage
	var ok bool
	select {
	case line, ok = <-w:
	case <-late:
		return nil, errTimeout
	}
	if !ok {
		<-c.exited
		return nil, fmt.Errorf("%w: %s, stderr %q", errClosed, c.cmd.ProcessState, c.errTail.String())
	}
	var answer struct {
		Result json.RawMessage
		Error  *remoteError
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return nil, errProtocol
	}
	if answer.Error != nil {
		return nil, answer.Error
	}
	return answer.Result, nil
}

func (c *tiny) listen(hear func(string, json.RawMessage)) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	id := c.next
	c.hear[id] = hear
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.hear, id)
	}
}

type tinyOutcome struct {
	Status        string            `json:"status,omitempty"`
	Reason        json.RawMessage   `json:"reason,omitempty"`
	FinalResponse string            `json:"finalResponse"`
	Notifications []json.RawMessage `json:"notifications"`
}

func (c *tiny) prompt(session string, blocks json.RawMessage, callback func(string, json.RawMessage)) (out tinyOutcome, err error) {
	if c.cmd == nil {
		return out, errClosed
	}
	idle := make(chan struct{}, 100)
	out.Notifications = []json.RawMessage{}
	stop := c.listen(func(method string, params json.RawMessage) {
		var p struct {
			SessionID string
			Status    string
			Event     struct {
				Type string
				Data struct {
					Message struct{ Content []struct{ Text string } }
				}
			}
		}
		if json.Unmarshal(params, &p) != nil || p.SessionID != session {
			return
		}
		n, _ := json.Marshal(map[string]any{"method": method, "params": params})
		out.Notifications = append(out.Notifications, n)
		if p.Event.Type == "assistant/message" {
			out.FinalResponse = ""
			for _, b := range p.Event.Data.Message.Content {
				out.FinalResponse += b.Text
			}
		}
		if callback != nil {
			callback(method, params)
		}
		if p.Status == "idle" {
			idle <- struct{}{}
		}
	})
	defer stop()
	result, err := c.request("session/prompt", map[string]any{"sessionId": session, "contentBlocks": blocks})
	if err != nil {
		return out, err
	}
	if c.receipt {
		select {
		case <-idle:
		case <-c.exited:
			return out, errClosed
		}
		return out, nil
	}
	if json.Unmarshal(result, &out) != nil || !strings.Contains("ok error aborted", out.Status) || out.Status == "" {
		return out, errProtocol
	}
	return out, nil
}

// close walks down the ladder.
func (c *tiny) close() {
	if c.cmd == nil {
		return
	}
	answered := make(chan struct{})
	go func() {
		_, _ = c.request("shutdown", nil)
		close(answered)
	}()
	select {
	case <-answered:
	case <-time.After(c.grace):
	}
	_ = c.in.Close()
	for _, sig := range []syscall.Signal{0, syscall.SIGTERM} {
		if sig != 0 {
			_ = c.cmd.Process.Signal(sig)
		}
		select {
		case <-c.exited:
			return
		case <-time.After(c.grace):
		}
	}
	_ = c.cmd.Process.Kill()
	<-c.exited
}

// say writes a message of the driver.
func say(v any) {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	stdout.Lock()
	defer stdout.Unlock()
	_, _ = os.Stdout.Write(append(line, '\n'))
}

var stdout sync.Mutex
