// Package requirements is the catalogue of what a server or a client of the protocol has to do: data,
// its loader, and what is printed straight out of it (`dshconform list`, `explain`, the generated page
// docs/requirements.md).
//
// # Rows, ids, levels
//
// A requirement is a [Row]. Its id (`S-FRM-13`: role, family, number) is stable: it is never renumbered
// and never reused, because baselines, CI configurations and recorded results refer to it. Its level says
// what a violation means: MUST fails the run, SHOULD warns (and fails under --strict), OBSERVE has no
// right answer, it is recorded and compared.
//
// A row with several inputs or situations has named variants, addressed as `S-FRM-13/nul`. The bare id
// stands for all of them. [Catalogue.Find] takes both forms.
//
// # Where the data is
//
// The folder catalogue holds YAML that is embedded in the binary:
//
//	index.yaml          the order of the families
//	sources.yaml        what AC1, J, U … stand for
//	capabilities.yaml   what a subject may lack, a closed set
//	revisions.yaml      the revisions of the catalogue, oldest first
//	server-framing.yaml …   a file for each family of a role
//
// [Load] is strict, so a slip in the data is an error with file, line and column and never a row that
// silently binds nobody. A new row goes to the end of its family with the next number and with `since`
// set to the newest revision; a row that gets stricter gets an entry in `revised`. That is what
// `--catalogue REVISION` and the changelog are worked out from.
//
// # Generated documentation
//
// docs/requirements.md is written by the generator in gendoc (`go generate ./suites/requirements`); a test
// fails when it is stale.
package requirements

//go:generate go run ./gendoc ../../docs/requirements.md
