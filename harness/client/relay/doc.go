// Package relay is the program that an SDK under test launches in the place of its runtime.
//
// It hands its stdin, stdout and stderr to the suite and stays alive as the process that the SDK watches and
// signals:
//
//	driver ── SDK ── stdin, stdout, stderr ──> relay            the SDK sees: a process, three pipes
//	                        └── the same descriptors ──> suite   which holds the real ends of the pipes
//	                               relay <── control ──> suite   signals seen; close, exit, die as told
//
// Where descriptors can be passed (SCM_RIGHTS), the suite's reads and writes are those of the runtime: cuts, stalls
// and back pressure are exact. The relay keeps its own copies until it is told to close one or ends, so that when it
// ends the kernel closes the pipes as it does for any process, together with the exit. Elsewhere it pumps bytes
// over connections of their own ([Bytes]), and half-closes and ends are passed on.
//
// This package is small on purpose: it is what has to start fast, so it imports little, and nothing of the suite.
package relay
