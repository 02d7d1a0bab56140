// Package protocol is an executable form of the dsh SDK runtime protocol.
//
// The wire exists in three profiles, see [Profile]. What a payload has to look
// like is said by the JSON Schemas of this package; what may come when is said
// by the [Monitor]: fed every line of both directions in the order in which
// they were on the wire, it knows what is owed (responses), what is open (turns,
// children) and what may come, and reports each departure as a [Violation] that
// names the requirement.
//
// The monitor is the one judge of order: every spec of the suites, every
// sequence of the fuzzer, a tapped conversation and a recording run through it,
// so a rule is written once. A spec only brings about the situation and adds
// what is particular to it.
//
//	m := protocol.NewMonitor(protocol.Options{Profile: protocol.Directional})
//	m.Client(line)              // before the line is written
//	seen := m.Server(line)      // as it is read
//	for _, v := range seen.Violations { … }
//	m.End(protocol.EndOfStream{})
//
// One line violates one requirement, the most specific one. What has no right
// answer (the reply to a batch, to a request whose id is null, …) is recognised
// from the client's own lines and exempt.
//
// Everything that the monitor keeps is bounded by what is open: requests in flight,
// children that run, and sessions, which a client may prompt again at any time. Of
// what is over (answered ids, lines that need no answer, served messages, finished
// children) it keeps the last ones. Lines that it needs as evidence are kept shortened.
package protocol
