package client

import (
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dshconform/dshconform/harness/wire"
)

// read owns the driver's stdout until it ends. It is the only goroutine that reads it.
func (d *Driver) read() {
	defer close(d.ended)
	scan := wire.NewScanner(d.proc.Stdout(), 0)
	endless := false
	scan.Moved = func(int) {
		d.mu.Lock()
		d.moved = time.Now()
		d.mu.Unlock()
		if scan.Pending() > wire.MaxLine && !endless {
			endless = true
			d.blame(&DriverError{Fault: FaultFloods, Detail: fmt.Sprintf("a line of more than %d MiB", wire.MaxLine>>20)})
			d.proc.Stdout().Close()
		}
	}
	for {
		line, err := scan.Next()
		d.mu.Lock()
		if err != nil {
			d.readErr = err
			d.wake()
			d.mu.Unlock()
			return
		}
		line.Dir = wire.ServerToClient
		d.tell(line)
		dead := d.fault != nil
		d.mu.Unlock()
		if dead {
			continue // read on, or it waits for a reader; what it says does not count any more
		}
		if fault := d.message(line); fault != nil {
			d.blame(fault)
		}
	}
}

func (d *Driver) tell(line wire.Line) {
	if d.o.OnMessage != nil {
		d.o.OnMessage(line)
	}
}

// blame records the first fault of the driver, with which everything that waits fails.
func (d *Driver) blame(e *DriverError) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fault != nil {
		return
	}
	e.Stderr = d.stderr()
	d.fault = e
	d.wake()
}

// message takes a line of the driver. It gives what is wrong with it.
func (d *Driver) message(line wire.Line) *DriverError {
	said := shortLine(line)
	m := wire.Parse(line)
	if m.Kind == wire.Junk && !m.InvalidUTF8 && !line.Cut() {
		line.Raw = lenient(line.Raw)
		line.Size = int64(len(line.Raw))
		m = wire.Parse(line)
	}
	if m.Kind == wire.Blank || m.Kind == wire.Junk || m.InvalidUTF8 || m.DuplicateName != "" {
		why := m.Problem
		switch {
		case m.Kind == wire.Blank:
			why = "a blank line"
		case m.InvalidUTF8:
			why = "invalid UTF-8"
		case m.DuplicateName != "":
			why = fmt.Sprintf("the member %q stands twice", m.DuplicateName)
		}
		return &DriverError{Fault: FaultJunk, Detail: why, Said: said}
	}
	o, _ := wire.AsObject(jsontext.Value(line.Raw))
	_, echoes := o["call"]
	_, event := o["event"]
	switch {
	case echoes:
		return &DriverError{Fault: FaultEchoes, Said: said}
	case event:
		return d.event(line, o)
	case o["id"] != nil:
		return d.reply(line, o)
	}
	return &DriverError{Fault: FaultMalformed, Detail: "neither a reply (id) nor an event (event)", Said: said}
}

// reply takes the reply to a command.
func (d *Driver) reply(line wire.Line, o wire.Object) *DriverError {
	said := shortLine(line)
	form := "reply.result"
	if _, failed := o["error"]; failed {
		form = "reply.error"
	}
	if why := misfit(form, line.Raw); why != "" {
		return &DriverError{Fault: FaultMalformed, Detail: why, Said: said}
	}
	id := integer(o["id"])
	d.mu.Lock()
	call := d.calls[id]
	switch {
	case call == nil && (id < 1 || id > d.nextID):
		d.mu.Unlock()
		return &DriverError{Fault: FaultUnasked, Detail: fmt.Sprintf("there is no command %d", id), Said: said}
	case call == nil:
		d.mu.Unlock()
		return &DriverError{Fault: FaultUnasked, Detail: fmt.Sprintf("a second reply to command %d", id), Said: said}
	case call.over:
		d.mu.Unlock()
		return &DriverError{Fault: FaultUnasked, Detail: fmt.Sprintf("a second reply to %s (%d)", call.name, id), Said: said}
	}
	d.mu.Unlock()
	if form == "reply.result" {
		if fault := d.fits(call, o["result"]); fault != nil {
			fault.Said = said
			return fault
		}
	}
	r := Reply{Result: o["result"], At: line.At}
	if form == "reply.error" {
		e, _ := wire.AsObject(o["error"])
		r.Err = sdkError(e)
		if r.Err.Class == classDriver && !call.refused {
			return &DriverError{Fault: FaultRefused, Detail: fmt.Sprintf("%s: %s", call.name, r.Err.Message), Said: said}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	call.over, call.reply = true, r
	if call.name != CallHello {
		d.inFlight--
	}
	if !call.listens {
		delete(d.calls, id) // a second reply to it is one to nothing
	}
	close(call.done)
	d.wake()
	return nil
}

// fits checks a result against its form.
func (d *Driver) fits(call *Call, result jsontext.Value) *DriverError {
	if call.name == CallHello {
		o, _ := wire.AsObject(result)
		if v, given := o["protocol"]; given && wire.Unquote(v) != DriverProtocol {
			return &DriverError{Fault: FaultVersion, Detail: fmt.Sprintf("%s, and this is %s", short(string(v)), DriverProtocol)}
		}
	}
	if why := misfit("result."+call.name, result); why != "" {
		return &DriverError{Fault: FaultMalformed, Detail: "the result of " + call.name + ": " + why}
	}
	return nil
}

func sdkError(o wire.Object) *SDKError {
	class, _ := o.String("class")
	text, _ := o.String("message")
	kind, _ := o.String("type")
	e := &SDKError{Class: Class(class), Message: text, Type: kind, Code: o["code"], Data: o["data"]}
	if e.Code.Kind() == 'n' {
		e.Code = nil
	}
	return e
}

// event takes what a callback or a subscription got.
func (d *Driver) event(line wire.Line, o wire.Object) *DriverError {
	said := shortLine(line)
	name, _ := o.String("event")
	if name != "notification" && name != "ended" {
		return &DriverError{Fault: FaultMalformed, Detail: "there is no event " + short(string(o["event"])), Said: said}
	}
	if why := misfit("event."+name, line.Raw); why != "" {
		return &DriverError{Fault: FaultMalformed, Detail: why, Said: said}
	}
	of := integer(o["of"])
	d.mu.Lock()
	defer d.mu.Unlock()
	call := d.calls[of]
	if call == nil || !call.listens {
		return &DriverError{Fault: FaultUnasked, Detail: fmt.Sprintf("an event of command %d, which has no callback", of), Said: said}
	}
	if name == "ended" {
		e, _ := wire.AsObject(o["error"])
		call.ended = sdkError(e)
	} else {
		method, _ := o.String("method")
		call.events = append(call.events, Notification{method, o["params"]})
	}
	d.wake()
	return nil
}

// integer reads what the schema has found to be one. 4.0 is one, too.
func integer(v jsontext.Value) int64 {
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return n
	}
	f, _ := strconv.ParseFloat(string(v), 64)
	return int64(f)
}
