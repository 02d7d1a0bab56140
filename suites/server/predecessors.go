package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
)

// holds reports whether nothing of a run failed.
func holds(run *reports.Run) bool {
	return !slices.ContainsFunc(slices.Concat(run.Requirements, run.Besides), func(q reports.Requirement) bool { return !q.Verdict.Sound() })
}

// behindPredecessors judges what was selected, and held, once more: behind the specs
// that come before it in a whole run, which share its process. A failure that
// needs what they leave behind shows only there.
func behindPredecessors(ctx context.Context, cfg Config, alone *reports.Run) (*reports.Run, error) {
	selected, before := predecessors(cfg)
	cfg.Select = func(row requirements.Row, variant string) bool {
		return slices.Contains(append(before, selected...), requirements.JoinID(row.ID, variant))
	}
	cfg.Begun, cfg.Save = nil, nil
	cfg.Scratch = filepath.Join(cfg.Scratch, "behind")
	if err := os.Mkdir(cfg.Scratch, 0o755); err != nil {
		return alone, fmt.Errorf("lay out the scratch tree of a second run: %w", err)
	}
	behind, err := judge(ctx, cfg)
	if err != nil {
		return alone, err
	}
	again := ""
	if cfg.Repeat != nil {
		again = cfg.Repeat(append(before, selected...)...)
	}
	needed := replaceFailed(alone, behind, again)
	for _, q := range behind.Besides {
		alone.Remarks = append(alone.Remarks, fmt.Sprintf("behind them %s was violated besides: %s", q.ID, q.Actual))
	}
	if len(needed) == 0 {
		alone.Remarks = append(alone.Remarks, fmt.Sprintf("what was selected holds alone, and behind the %d that come before it in a whole run", len(before)))
		return alone, nil
	}
	alone.Remarks = append(alone.Remarks, fmt.Sprintf("%s holds alone, and not behind the %d that come before it in a whole run", strings.Join(needed, ", "), len(before)))
	return alone, nil
}

// replaceFailed takes over what failed behind the others, and gives its ids.
func replaceFailed(alone, behind *reports.Run, again string) (needed []string) {
	for i, q := range alone.Requirements {
		at := slices.IndexFunc(behind.Requirements, func(b reports.Requirement) bool { return b.ID == q.ID })
		if at < 0 || behind.Requirements[at].Verdict.Sound() {
			continue
		}
		b := behind.Requirements[at]
		b.Repeat = again
		for j := range b.Variants {
			b.Variants[j].Repeat = again
		}
		alone.Requirements[i] = b
		needed = append(needed, b.ID)
	}
	return needed
}

// predecessors gives the ids of the specs that are selected, and of those that come
// before the last of them in a whole run of the profile.
func predecessors(cfg Config) (selected, before []string) {
	suite := newSuite(cfg.Catalogue)
	chosen, _ := suite.Choose(cfg.Options)
	for _, e := range chosen {
		selected = append(selected, e.ID)
	}
	all := cfg.Options
	all.Select = nil
	specs, _ := suite.Choose(all)
	suite.inOrder(specs)
	last := 0
	for i, e := range specs {
		if slices.Contains(selected, e.ID) {
			last = i
		}
	}
	for _, e := range specs[:last] {
		if !slices.Contains(selected, e.ID) {
			before = append(before, e.ID)
		}
	}
	return selected, before
}
