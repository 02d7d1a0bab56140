package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
)

// defaultBaseline is the file that --update-baseline writes where --baseline names none.
const defaultBaseline = "dshconform-baseline.yaml"

// baselineFile is the file of the baseline, "" for none.
func (f *judgingFlags) baselineFile() string {
	if f.update && !f.changed("baseline") {
		return defaultBaseline
	}
	return f.baseline
}

// knownFailures reads the baseline, nil where there is none.
func (f *judgingFlags) knownFailures(cat *requirements.Catalogue) (*reports.Baseline, error) {
	if !f.baselineThere() {
		return nil, nil
	}
	b, err := reports.ReadBaseline(cat, f.baselineFile())
	if err != nil {
		return nil, misuse("%w", err)
	}
	return b, nil
}

// knownDifferences reads the baseline of a parity run, nil where there is none.
func (f *judgingFlags) knownDifferences(cat *requirements.Catalogue) (*reports.ParityBaseline, error) {
	if !f.baselineThere() {
		return nil, nil
	}
	b, err := reports.ReadParityBaseline(cat, f.baselineFile())
	if err != nil {
		return nil, misuse("%w", err)
	}
	return b, nil
}

// baselineThere says whether there is a baseline to read. One that is to be written need not be there yet.
func (f *judgingFlags) baselineThere() bool {
	if !f.update {
		return f.changed("baseline")
	}
	_, err := os.Stat(f.baselineFile())
	return !errors.Is(err, fs.ErrNotExist)
}

// updateBaseline writes the baseline that the runs of a subject ask for. A run that did not come to its end says
// nothing about what it did not reach.
func updateBaseline(runs []*judging) error {
	j := runs[0]
	if !j.flags.update {
		return nil
	}
	var ended []*reports.Run
	for _, r := range runs {
		if r.ended == nil || r.ended.Abort != nil {
			j.out.note("the baseline is left as it is: the run did not come to its end")
			return nil
		}
		ended = append(ended, r.ended)
	}
	file := j.flags.baselineFile()
	draft := reports.DraftBaseline
	if j.role == requirements.Parity {
		draft = func(runs []*reports.Run, _ *reports.Baseline) []byte {
			return reports.DraftParityBaseline(runs[0], j.keep.parity)
		}
	}
	if err := reports.WriteFile(file, draft(ended, j.keep.baseline), true); err != nil {
		return failed("--update-baseline: %w", err)
	}
	j.out.note("wrote %s: every entry needs a reason before it counts", file)
	return nil
}
