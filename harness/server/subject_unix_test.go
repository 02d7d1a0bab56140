//go:build linux || darwin

package server_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// play is a subject: a small server with one bad habit, named by the role.
func play(role string) int {
	switch role {
	case "dies-at-once":
		fmt.Fprintln(os.Stderr, "no such profile")
		return 7
	case "silent":
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	case "deaf": // and it stays when it is told to end
		signal.Ignore(syscall.SIGTERM)
		fmt.Fprintln(os.Stderr, "deaf")
		_, _ = io.Copy(io.Discard, os.Stdin)
		forever()
	case "reads-nothing":
		forever()
	case "closes-stdin":
		os.Stdin.Close()
		forever()
	case "closes-stdout":
		os.Stdout.Close()
		forever()
	case "junk":
		flood([]byte("this is a log line and no frame\n"))
	case "blank":
		flood([]byte("\n"))
	case "frames":
		flood([]byte(`{"jsonrpc":"2.0","method":"some/notification","params":{"text":"` + strings.Repeat("x", 1000) + "\"}}\n"))
	case "small-frames":
		flood([]byte(`{"jsonrpc":"2.0","method":"a","params":{}}` + "\n"))
	case "endless-line":
		flood(bytes.Repeat([]byte("x"), 100))
	case "trickle":
		for {
			if _, err := os.Stdout.WriteString("x"); err != nil {
				return 1
			}
			time.Sleep(time.Millisecond)
		}
	case "half-frame-at-eof":
		_, _ = io.Copy(io.Discard, os.Stdin)
		_, _ = os.Stdout.WriteString(`{"jsonrpc":"2.0","method":"session.ev`)
		return 0
	case "slow-reader":
		buf := make([]byte, 16<<10)
		for {
			if _, err := os.Stdin.Read(buf); err != nil {
				return 0
			}
			time.Sleep(time.Millisecond)
		}
	}
	return serve(role)
}

// forever is a loop that the runtime does not take for a deadlock.
func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

// flood writes a piece again and again until nobody reads.
func flood(piece []byte) {
	block := bytes.Repeat(piece, 1+(64<<10)/len(piece))
	for {
		if _, err := os.Stdout.Write(block); err != nil {
			os.Exit(1)
		}
	}
}

// serve answers line by line, with the bad habits that concern the end.
func serve(role string) int {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var q struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(line, &q) != nil {
			continue
		}
		result := `"result":{}`
		switch q.Method {
		case "initialize":
			result = `"result":{"serverInfo":{"name":"deepseek-harness-sdk-runtime","version":"1"}}`
		case "shutdown":
			switch role {
			case "silent-at-shutdown":
				return 0
			case "stays-after-shutdown":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", q.ID)
				forever()
			case "streams-after-shutdown":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", q.ID)
				for {
					if _, err := os.Stdout.WriteString("x"); err != nil {
						return 1
					}
					time.Sleep(time.Millisecond)
				}
			}
		default:
			result = `"error":{"code":-32603,"message":"no"}`
			switch role {
			case "dies-half-way":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"err`, q.ID)
				fmt.Fprintln(os.Stderr, "out of luck")
				return 3
			case "big-answers":
				result = `"error":{"code":-32603,"message":"` + strings.Repeat("m", 32<<10) + `"}`
			}
		}
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", q.ID, result)
		if q.Method != "shutdown" {
			continue
		}
		switch role {
		case "wrong-code":
			return 4
		case "leaves-a-child", "leaves-a-child-on-stdout":
			leave(role == "leaves-a-child-on-stdout")
		}
		return 0
	}
}

// leave starts a child in a session of its own that outlives this process.
func leave(stdout bool) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	c := exec.Command(self, "subject", "reads-nothing")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if stdout {
		c.Stdout = os.Stdout
	}
	if err := c.Start(); err != nil {
		panic(err)
	}
}
