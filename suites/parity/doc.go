// Package parity plays the same scenarios on several clients and compares what their
// callers see. Nothing is right or wrong here: a difference is worth knowing also
// where every client keeps to the protocol, because a program that is moved from one
// SDK to the other meets it.
//
// # Scenarios
//
// A file holds the scenarios of one family, a row of the catalogue each (role
// parity). A scenario is a script of what the runtime writes; [Play] is one that
// plays on one client:
//
//	s.play("P-IDS-02", func(p *Play) {
//		a := p.Launch(protocol.MethodPrompt).Ask("call")   // a prompt that waits
//		a.Write(foreign(wire.StringID("nobody")), a.Turn(harness.Turn{}).Joined())
//		a.Ends()                                           // what the caller gets
//	})
//
// Every step that tells something leaves it in the view of the client, under the name
// of a field: call.outcome, call.status, call.notifications, next.error.class. Where
// a client hangs, or takes no more, that is what is seen, and its play ends.
//
// # Comparing
//
// Views are brought to one form: members sorted, times and ids of frames masked, the
// paths of the run too. Since each client has a runtime of its own, sessions, texts
// and message ids are the same in every play. Fields are compared one by one, among
// the clients that have them: what a driver does not offer is no difference, nor is
// what a client could not show because its call came to another end, which is a
// difference of its own. Names of exceptions and an SDK's own texts are not compared.
//
// The same clients show the same differences in every run, and twins show none.
package parity
