package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/spec"
)

// transcriptsName is the folder of transcripts in that of a report.
const transcriptsName = "transcripts"

// keeper brings runs to their verdict and writes them to the folder of the report, again and again as specs end, so
// that what is known survives whatever happens to the program.
type keeper struct {
	dir      string // "" for no report
	baseline *reports.Baseline
	parity   *reports.ParityBaseline // of a parity run, in the place of the other
	strict   bool
	min      int

	mu    sync.Mutex
	last  *reports.Run
	final bool
	err   error // the first that kept results from being written
}

// open makes the folder and takes away what an earlier run left in it: old results beside a run that ended early would
// be taken for its own.
func (k *keeper) open() error {
	if k.dir == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Join(k.dir, transcriptsName), 0o755); err != nil {
		return misuse("--report: %w", err)
	}
	return clearReport(k.dir)
}

// clearReport takes the files of an earlier run out of the folder of a report.
func clearReport(dir string) error {
	files := []string{filepath.Join(dir, reports.FileName), filepath.Join(dir, reports.JUnitName)}
	for _, pattern := range []string{filepath.Join(transcriptsName, "*.jsonl"), filepath.Join(spec.FailuresName, "*.input"), filepath.Join(spec.FailuresName, "*.script")} {
		old, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			old = nil // the name of the folder is a malformed pattern: then files are only overwritten
		}
		files = append(files, old...)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return misuse("--report: %w", err)
		}
	}
	return nil
}

// save keeps a run that goes on.
func (k *keeper) save(r *reports.Run) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.final {
		return
	}
	k.judge(r)
	if k.dir != "" {
		k.note(reports.Save(k.dir, r))
	}
}

// finish keeps a run that ended, one way or another. The error is the first that kept results from being written.
func (k *keeper) finish(r *reports.Run) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.final = true
	k.judge(r)
	k.write(r)
	return k.err
}

// abandon keeps the last state of a run that is not waited for.
func (k *keeper) abandon(reason string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.final || k.last == nil {
		return
	}
	k.final = true
	r := *k.last // its owner may still read it
	r.Abort = &reports.Abort{Kind: reports.AbortInterrupted, Reason: reason}
	reports.Judge(&r)
	k.write(&r)
}

// judge stamps a run with what this program knows of it, and works out what it comes to.
func (k *keeper) judge(r *reports.Run) {
	r.Version, r.Platform = version(), platform()
	r.Strict, r.MinExercised = k.strict, k.min
	if k.baseline != nil {
		r.Subject.Baseline = k.baseline.File
		k.baseline.Apply(r)
	}
	if k.parity != nil {
		r.Subject.Baseline = k.parity.File
		k.parity.Apply(r)
	}
	reports.Judge(r)
	k.last = r
}

func (k *keeper) write(r *reports.Run) {
	if k.dir == "" {
		return
	}
	k.note(reports.SaveFinal(k.dir, r))
	var junit bytes.Buffer
	err := reports.JUnit(&junit, r)
	if err == nil {
		err = reports.WriteFile(filepath.Join(k.dir, reports.JUnitName), junit.Bytes(), true)
	}
	k.note(err)
}

func (k *keeper) note(err error) {
	if k.err == nil && err != nil {
		k.err = fmt.Errorf("--report: %w", err)
	}
}

// transcripts is the folder for them, "" where there is no report.
func (k *keeper) transcripts() string {
	if k.dir == "" {
		return ""
	}
	return filepath.Join(k.dir, transcriptsName)
}

// removeTree removes the scratch tree of a run. Servers leave folders in it that can't be written, such as a module
// cache.
func removeTree(dir string) error {
	if err := os.RemoveAll(dir); err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // what can't be changed shows when it can't be removed
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing the scratch tree: %s", strings.TrimPrefix(err.Error(), "unlinkat "))
	}
	return nil
}
