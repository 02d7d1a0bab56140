package interop

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/tap"
	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
)

// judged is what the monitors found in all recordings.
type judged struct {
	cat   *requirements.Catalogue
	held  map[string]int // rows that were exercised, by how often they held
	found []found
}

// found is a violation that no baseline knows, in one pair.
type found struct {
	protocol.Violation
	pair, repeat string
}

// judge judges the recordings of a cell, both directions.
func (c *cell) judge() error {
	for _, file := range c.recordings {
		if err := c.judgeServer(file); err != nil {
			return err
		}
		if err := c.judgeClient(file); err != nil {
			return err
		}
	}
	return nil
}

// open opens a recording. A server that was never launched has none.
func open(file string, read func(io.Reader) error) error {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read a recording: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() == 0 {
		return nil // the tap was killed before it had written anything
	}
	return read(f)
}

// judgeServer judges what the server wrote by the profile of the client. One that was
// seen to speak another is judged by that: the two do not go together, which says
// nothing against either.
func (c *cell) judgeServer(file string) error {
	profile := c.profile
	for {
		var violations []protocol.Violation
		var rec tap.Recording
		err := open(file, func(r io.Reader) (err error) {
			rec, err = tap.Check(r, tap.JudgeOptions{
				Monitor:     protocol.Options{Profile: profile, MaxTokensAsSuccess: c.server.Target.MaxTokensAsSuccess, Secrets: []string{c.stub.Key()}},
				OnViolation: func(v protocol.Violation) { violations = append(violations, v) },
			})
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if rec.Spoken != "" && rec.Spoken != profile && profile == c.profile {
			profile, c.Spoken = rec.Spoken, string(rec.Spoken)
			continue
		}
		for id, n := range rec.Rows {
			c.r.exercised(id, n.Applied-n.Violated)
		}
		for _, v := range violations {
			c.violated(v, c.server.Baseline, profile)
		}
		return nil
	}
}

func (c *cell) judgeClient(file string) error {
	return open(file, func(r io.Reader) error {
		t, err := wire.NewTranscriptReader(r)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		mon := protocol.NewClientMonitor(protocol.ClientOptions{Profile: c.profile})
		for seq := 0; ; seq++ {
			line, err := t.Next()
			if errors.Is(err, io.EOF) || errors.Is(err, wire.ErrCutTranscript) {
				break
			}
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			line.Seq = seq
			switch line.Dir {
			case wire.ServerToClient:
				mon.Server(line)
			case wire.ClientToServer:
				for _, v := range mon.Client(line).Violations {
					c.violated(v, c.client.Baseline, c.profile)
				}
			}
		}
		for _, row := range c.r.cat.Rows(requirements.Client) {
			if n := mon.Exercised(row.ID); n > 0 {
				c.r.exercised(row.ID, n-mon.Violations(row.ID))
			}
		}
		return nil
	})
}

// violated keeps a violation, once for each row.
func (c *cell) violated(v protocol.Violation, known *reports.Baseline, profile protocol.Profile) {
	if slices.ContainsFunc(c.Violations, func(o reports.CellViolation) bool { return o.ID == v.Row }) {
		return
	}
	entry := reports.CellViolation{ID: v.Row, Expected: v.Expected, Actual: v.Actual, Known: known.Knows(v.Row, string(profile))}
	c.Violations = append(c.Violations, entry)
	c.r.exercised(v.Row, 0)
	if entry.Known == nil {
		c.r.found = append(c.r.found, found{v, pairName(c.Client, c.Server), c.Repeat})
	}
}

func (j *judged) exercised(id string, held int) {
	if j.held == nil {
		j.held = map[string]int{}
	}
	j.held[id] += max(0, held)
}

// requirements are the rows that the recordings gave occasion to judge.
func (j *judged) requirements(begun time.Time) []reports.Requirement {
	ids := make([]string, 0, len(j.held))
	for id := range j.held {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	collector, err := reports.NewCollector(j.cat, "", "", ids)
	if err != nil {
		panic(fmt.Sprintf("a monitor names a row that there is not: %v", err)) // a test rules that out
	}
	for _, v := range j.found {
		o := reports.Outcome{Verdict: reports.Fail, Expected: v.Expected, Actual: v.pair + ": " + v.Actual, Frames: []reports.Frame{}, Repeat: v.repeat}
		for _, l := range v.Frames {
			f := reports.NewFrame(l.At.Sub(begun).Seconds(), string(l.Dir), l.Raw)
			if l.Cut() {
				f.Bytes = int(l.Size)
			}
			o.Frames = append(o.Frames, f)
		}
		collector.Record(v.Row, o)
	}
	for _, id := range ids {
		if n := j.held[id]; n > 0 {
			collector.Record(id, reports.Outcome{Verdict: reports.Pass, Passed: n, Frames: []reports.Frame{}})
		}
		row, _, _ := j.cat.Find(id)
		for _, one := range row.IDs() {
			if _, known := collector.Outcome(one); !known {
				collector.Record(one, reports.NotProvoked())
			}
		}
	}
	return collector.Requirements(true, "its situation never arose")
}
