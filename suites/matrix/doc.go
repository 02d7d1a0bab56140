// Package matrix runs the suite over the faults of a reference endpoint and
// compares what fails with what each fault breaks.
//
// A requirement is worth what its fault proves: that the suite fails on a subject
// that breaks it, and blames nothing else. The package works from outside, by the
// command line and the results of the built program alone, as every user does; so
// it serves both roles, several runs at a time, and a fault that wedges a run costs
// that run.
package matrix
