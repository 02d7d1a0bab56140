// Package client is a client under test: a driver that makes the SDK do things, the relay that the SDK launches, and
// the scripted runtime that the SDK then talks to.
//
//	spec ── [Driver] ──commands──> driver program ── SDK ──launches──> relay
//	  └──── [Runtime] <────────── the SDK's pipes to its runtime ────────┘
//
// A [Driver] is a program that speaks docs/driver.md; [StartDriver] starts one and greets it. [Driver.Create] makes a
// client of the SDK, whose calls ([Client.Prompt], [Client.Close], …) give what a caller of the SDK sees: a result, or
// an [*SDKError]. Every call comes as two halves as well ([Client.GoPrompt] and [Call.Await]), because most specs act
// as the runtime while the SDK waits.
//
// A [Relay] is where one client of the SDK finds its runtime: [Relay.Argv] and [Relay.Executable] go into the launch
// options. Each launch is a [Runtime], in order: [Relay.Accept]. It behaves like a sound server ([Behaviour]) but for
// the methods that the spec takes over:
//
//	relay, err := client.NewRelay(ctx, client.RelayOptions{…})
//	c, err := d.Create(ctx, client.CreateOptions{Relay: relay, …})
//	rt, err := c.Launch(ctx, client.Behaviour{Manual: []string{protocol.MethodPrompt}}) // start, accept, initialize
//	call, err := c.GoPrompt(ctx, client.Prompt{SessionID: "s", Text: "hi"})
//	q, err := rt.Next(ctx, protocol.MethodPrompt)      // the request, as it is on the wire
//	turn := q.Turn(client.Turn{Text: "hello"})         // the frames of a sound turn in the profile
//	err = rt.Write(ctx, turn.Joined())                 // any bytes, in any pieces
//	outcome, err := call.Outcome(ctx)                  // what the caller got
//
// # Whose fault it is
//
// Errors tell apart what the SDK does from what its driver does. An [*SDKError] is the SDK's own, classed. A
// [*SilentError] says that a deadline passed, an [*EndedError] that the driver's process ended while the SDK was at
// work: both may be the SDK's doing, and are its row's to judge. A [*DriverError] is the driver's alone: it speaks
// another protocol, echoes, writes junk, answers what was not asked; the run ends with its own words. While a driver is
// greeted everything is its own fault.
//
// Nothing here sleeps; deadlines are those of harness/server.
package client
