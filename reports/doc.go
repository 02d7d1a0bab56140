// Package reports holds the result of a run and everything that is rendered out of it: results.json, JUnit, the
// text table over several runs, the console, and the baseline that says which failures are known.
//
// It knows results and the catalogue ([requirements.Catalogue]), and neither Ginkgo nor processes: a suite, the
// fuzzer and `check` fill it in the same way.
//
// # From outcomes to an exit code
//
//  1. A [Collector] is made for the rows that were selected. What the specs and the monitor find out is
//     recorded as an [Outcome] under an id ("S-FRM-13/nul"); several outcomes of one id are merged, the
//     worst wins, and the same id of a variant and of its row are kept apart. Outcomes of rows that were not
//     selected land in [Run.Besides] when they are violations, and nowhere otherwise.
//  2. A [Baseline] is applied: it marks outcomes as known and finds its own stale entries.
//  3. [Judge] works out the summary, the counts, the closing line and the exit code, in one place and out of
//     the results alone, so that a results.json that was read back gives the same answer.
//
// # The unit that is counted
//
// Summaries and the closing line count requirements (rows). A row's verdict is the worst of its variants', where a
// variant that is not applicable counts for nothing as long as another one was exercised. Baselines and exit
// codes look at the variants.
//
// # Hostile bytes
//
// A subject chooses much of what is shown: frames, error messages, stderr. Whatever goes to a terminal, to
// JUnit or into a table passes [Visible] first. results.json holds the bytes themselves, as text where they are
// UTF-8 and as base64 where they are not.
package reports
