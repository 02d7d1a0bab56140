// Package server is a server under test: a process, its two streams as lines,
// and the monitor that judges them.
//
// A [Launch] says how to start the subject; [Launch.Start] gives a running
// [Server]. Everything that is written passes the monitor before it reaches the
// pipe, and everything that is read passes it before a waiter sees it, so that
// the order that the monitor judges is the order of the wire.
//
// Specs speak to the subject on three levels:
//
//   - [Server.Call] sends a request and waits for its response,
//   - [Server.Send] sends one and gives the [Call] to wait for later,
//   - [Server.Write] writes bytes, in pieces where asked.
//
// Nothing here sleeps. What must come is awaited with a deadline of
// [Deadlines], the one place that holds them; what must not come is proved by
// [Server.Barrier]: a request whose answer is sure, behind which all that was
// going to come on the ordered stream has come.
//
// Errors tell who is at fault: [*DiedError] (the process ended, or closed its
// stdout), [*SilentError] (a deadline passed while it lived), [*WriteError] (it does
// not take its input), [*FloodError] (it writes more than anybody waits for). A
// context that ends is nobody's fault and is told as such.
//
// A subject may be hostile. Every wait and every write is bounded, also where a few
// bytes move now and then; what is kept of its output is bounded between two calls
// of [Server.Forget]; and [Server.Stop] leaves no process of its tree and no
// goroutine of ours.
package server
