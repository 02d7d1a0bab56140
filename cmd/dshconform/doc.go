// Command dshconform judges implementations of the dsh SDK runtime protocol: servers over their stdio, against a
// catalogue of requirements.
//
//	dshconform server -- node lib/bin.js cordis.yml   judge a server
//	dshconform list                                   what is required
//	dshconform explain S-OVL-02                       one requirement in full
//	dshconform report --format text RESULTS…          several runs side by side
//
// The exit code says how it went: 0 all applicable MUSTs held, 1 one did not, 2 wrong use, 3 the server could
// not be run, 130 interrupted.
//
// This package is flags, wiring and exit codes; a file holds a subcommand. What is judged is in suites, what is
// printed in reports, and how a process is watched in harness.
package main
