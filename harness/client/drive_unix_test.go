//go:build linux || darwin

package client_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

type order struct {
	ID           int
	Call, Client string
	Launch       struct {
		Argv            []string
		Executable, Cwd string
	}
	Cwd           string
	Provider      string
	Model         string
	Timeouts      struct{ Call, Close int }
	SessionID     string
	ContentBlocks json.RawMessage
	Callback      string
	Method        string
	Params        json.RawMessage
	Filter        string
	Of            int
}

type m = map[string]any

// drive is a driver of the tiny SDK; habits are what it does wrong, or another way.
func drive(habits []string) int {
	has := func(h string) bool {
		for _, x := range habits {
			if x == h {
				return true
			}
		}
		return false
	}
	switch {
	case has("dies"):
		fmt.Fprintln(os.Stderr, "no such module: sdk")
		return 4
	case has("silent"):
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	case has("echo"):
		_, _ = io.Copy(os.Stdout, os.Stdin)
		return 0
	case has("banner"):
		fmt.Println("Welcome to the SDK")
	case has("deaf"):
		select {}
	}
	clients := map[string]*tiny{}
	subscriptions := map[int]func(){}
	var mu sync.Mutex
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			switch {
			case has("stays"):
				time.Sleep(time.Hour)
			case has("exits-1"):
				return 1
			}
			return 0
		}
		var o order
		if err := json.Unmarshal(line, &o); err != nil {
			panic(err)
		}
		mu.Lock()
		c := clients[o.Client]
		mu.Unlock()
		reply := func(result any, err error) {
			switch {
			case err != nil:
				e := classed(err)
				if has("no-data") {
					delete(e, "data")
				}
				if has("other-class") {
					e["class"] = "other"
				}
				say(m{"id": o.ID, "error": e})
			default:
				say(m{"id": o.ID, "result": result})
			}
		}
		switch o.Call {
		case "hello":
			h := m{
				"protocol": "dshconform.driver/v1", "sdk": "tiny", "version": "1", "language": "go", "profile": "directional", "layer": "high",
				"calls":      []string{"hello", "create", "start", "initialize", "prompt", "request", "subscribe", "unsubscribe", "surface", "close"},
				"concurrent": true, "settles": true, "outcome": []string{"status", "reason", "finalResponse", "notifications"},
				"callbacks": []string{"prompt", "subscribe"}, "filters": []string{"all"}, "timeouts": []string{"call", "close"},
				"graces": m{"shutdown": 1000, "eof": 1000, "term": 1000},
			}
			switch {
			case has("receipt"):
				h["profile"] = "receipt"
				h["outcome"] = []string{"finalResponse", "notifications"}
			case has("old"):
				h["protocol"] = "dshconform.driver/v0"
			case has("incomplete"):
				delete(h, "graces")
			case has("refuses"):
				say(m{"id": o.ID, "error": m{"class": "driver", "message": "I do not want to"}})
				continue
			}
			reply(h, nil)
		case "create":
			c := &tiny{command: o.Launch.Argv, dir: o.Launch.Cwd, receipt: has("receipt"), grace: time.Second, timeout: time.Duration(o.Timeouts.Call) * time.Millisecond}
			c.params = m{"cwd": o.Cwd, "provider": o.Provider, "model": o.Model}
			if has("wrong-cwd") {
				c.params["cwd"] = "/elsewhere"
			}
			if has("no-timeout") {
				c.timeout = 0
			}
			if has("by-path") {
				c.command = []string{o.Launch.Executable, "--profile", "sdk"}
			}
			if o.Timeouts.Close > 0 {
				c.grace = time.Duration(o.Timeouts.Close) * time.Millisecond
			}
			mu.Lock()
			clients[o.Client] = c
			mu.Unlock()
			reply(m{}, nil)
		case "start":
			if has("launches-nothing") {
				reply(m{}, nil)
				continue
			}
			reply(m{}, c.start())
		case "initialize":
			go func() {
				if has("launches-nothing") {
					reply(nil, errClosed)
					return
				}
				raw, err := c.request("initialize", c.params)
				if err != nil {
					c.close()
				}
				reply(raw, err)
			}()
		case "prompt":
			switch {
			case has("wrong-id"):
				say(m{"id": o.ID + 100, "result": m{}})
				continue
			case has("twice"):
				reply(m{}, nil)
				reply(m{}, nil)
				continue
			case has("malformed"):
				say(m{"id": o.ID, "result": m{"notifications": "none"}})
				continue
			case has("junk"):
				fmt.Println("Traceback (most recent call last):")
				continue
			case has("crashes"):
				fmt.Fprintln(os.Stderr, "segmentation fault")
				return 9
			case has("hangs"):
				continue
			case has("strange-event"):
				say(m{"event": "notification", "of": 999, "method": "x", "params": m{}})
				continue
			}
			callback := func(method string, params json.RawMessage) {
				if o.Callback != "" && !has("no-callback") {
					say(m{"event": "notification", "of": o.ID, "method": method, "params": params})
				}
			}
			blocks := o.ContentBlocks
			if has("text-only") {
				blocks = json.RawMessage(`[{"type":"text","text":"` + "a \\\"q\\\" " + `"}]`)
			}
			prompt := func() {
				out, err := c.prompt(o.SessionID, blocks, callback)
				result := m{"finalResponse": out.FinalResponse, "notifications": out.Notifications}
				if !c.receipt {
					result["status"], result["reason"] = out.Status, out.Reason
				}
				switch {
				case has("wrong-status"):
					result["status"] = "fine"
				case has("unlisted"):
					result["messageId"] = "m"
				case has("lacks-reason"):
					delete(result, "reason")
				case has("reversed"):
					slices.Reverse(out.Notifications)
				}
				reply(result, err)
			}
			switch {
			case has("early"):
				reply(m{"status": "ok", "reason": m{"kind": "completed"}, "finalResponse": "", "notifications": []string{}}, nil)
				go c.prompt(o.SessionID, blocks, callback)
			case has("one-at-a-time"):
				prompt()
			default:
				go prompt()
			}
		case "request":
			go func() {
				var params any = m{}
				if o.Params != nil {
					params = o.Params
				}
				raw, err := c.request(o.Method, params)
				if has("request-unwrapped") {
					reply(m{"d": 1}, err)
					return
				}
				reply(m{"result": raw}, err)
			}()
		case "subscribe":
			subscriptions[o.ID] = c.listen(func(method string, params json.RawMessage) {
				say(m{"event": "notification", "of": o.ID, "method": method, "params": params})
			})
			reply(m{}, nil)
		case "unsubscribe":
			subscriptions[o.Of]()
			reply(m{}, nil)
		case "surface":
			reply(m{"members": []string{"Client", "Client.prompt"}}, nil)
		case "close":
			go func() {
				if !has("leaves-runtime") {
					c.close()
				}
				reply(m{}, nil)
			}()
		default:
			if has("obliging") {
				reply(m{}, nil)
				continue
			}
			reply(nil, fmt.Errorf("%w %q", errNoCall, o.Call))
		}
	}
}

var errNoCall = errors.New("there is no call")

func classed(err error) m {
	var remote *remoteError
	e := m{"class": "other", "message": err.Error(), "type": strings.TrimPrefix(fmt.Sprintf("%T", err), "*")}
	switch {
	case errors.As(err, &remote):
		e["class"], e["code"], e["data"] = "remote", remote.Code, remote.Data
	case errors.Is(err, errClosed):
		e["class"] = "closed"
	case errors.Is(err, errTimeout):
		e["class"] = "timeout"
	case errors.Is(err, errProtocol):
		e["class"] = "protocol"
	case errors.Is(err, errNoCall):
		e["class"] = "driver"
	}
	return e
}
