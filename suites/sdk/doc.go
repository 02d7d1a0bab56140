// Package sdk is an SDK under test as suites hold it: a driver that is started
// anew where the last one was spent, and what a spec does with it.
//
// An [SDK] lasts as long as a run. A spec makes a [Visit]: the clients that it has
// the SDK make, each with a relay of its own where its runtime is found, and the
// calls that may outlast it. [Visit.Release] puts all of that in order, so that the
// next spec meets nothing of it. A driver in which something hangs is spoiled, and
// costs no other spec than the one that it happened in.
package sdk
