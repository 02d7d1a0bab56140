// Package server is the suite for servers under test: a Ginkgo spec for each
// requirement of the catalogue with role server, and the runner that turns specs
// and the findings of the monitor into verdicts.
//
// # Specs
//
// A file holds the specs of one family and registers them when a suite is built:
//
//	func direction(s *suite) {
//		s.It("S-DIR-03/unknown-id", shared, func(t *T) {
//			srv := t.Shared()
//			t.Write(srv, `{"jsonrpc":"2.0","id":"nobody","result":{}}`+"\n")
//			t.Served(srv, "the next request is answered behind a stray response")
//		})
//	}
//
// A spec brings about a situation and judges what is particular to its
// requirement. Everything that concerns order and form is judged by the monitor
// (harness/protocol), which watches all processes of the run: what it finds is
// the verdict of the requirement that it names, in whichever spec it came up.
//
// # Verdicts
//
// [T] has two kinds of steps. A step that the requirement is about is judged:
// [T.Fail], [T.Answered], [T.Served]. A step that is merely needed to get there is
// not: where it fails the spec ends as not reached, naming the step. So one
// fault of a subject costs the requirements that are about it and no others.
//
// # Processes
//
// Starting a real server is dear and a request to it cheap. Specs that leave the
// process in order share one ([T.Shared]), each with sessions of its own; specs
// that end or harm it take a fresh one ([T.Fresh]), started ahead of need. A spec
// whose requirement does not hold, by its own steps or by what the monitor found
// on that requirement meanwhile, costs its process, which is replaced. What the
// monitor finds on other requirements costs none: it does not get in the way of
// what comes next, and most of what it finds would come up in every process.
package server
