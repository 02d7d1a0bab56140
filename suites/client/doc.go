// Package client is the suite for clients under test: a Ginkgo spec for each
// requirement of the catalogue with role client. The suite plays the server: a
// driver has the SDK make calls, and each spec is the runtime that the SDK then
// talks to.
//
// # Specs
//
// A file holds the specs of one family and registers them when a suite is built:
//
//	func ids(s *suite) {
//		s.It("C-IDS-02/unknown-id", func(t *T) {
//			a := t.Asked()                                   // a prompt that waits for its answer
//			nobody := harness.ResultLine(wire.StringID("nobody"), nil)
//			a.Settles("…", a.Turn(harness.Turn{}), nobody)   // written before the turn
//			a.Works("the next call works behind it")
//		})
//	}
//
// A spec brings a situation about and judges what a caller of the SDK sees of it.
// What the SDK writes is judged by the monitor (harness/protocol), which watches
// every conversation of the run: what it finds is the verdict of the requirement
// that it names, in whichever spec it came up.
//
// # Verdicts
//
// [T] has two kinds of steps. A step that the requirement is about is judged; one
// that is merely needed to get there is not: where it fails the spec ends as not
// reached, naming the step. A step that the driver does not offer makes the
// requirement not applicable, by name.
//
// # Whose fault it is
//
// An SDK that hangs in a call, or takes its process along, is judged by the spec
// that it happens in; the driver is replaced and the run goes on. What the driver
// itself does wrong (it echoes, writes junk, answers what was not asked, could not
// carry out a command) ends the run as one that could not be made.
//
// # Processes
//
// One driver serves all specs, each with clients of its own. Nothing a spec does
// waits for its own sake: that something does not come is shown by what the SDK
// does next, and what has to come is waited for within a deadline.
package client
