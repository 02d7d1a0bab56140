package reports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FileName is the name of the results in the folder of a report, JUnitName that of the JUnit file.
const (
	FileName  = "results.json"
	JUnitName = "junit.xml"
)

// Marshal returns the run as results.json holds it: one indented JSON document with an LF at its end.
func Marshal(r *Run) ([]byte, error) {
	r.Schema = Schema
	if r.Requirements == nil {
		r.Requirements = []Requirement{}
	}
	// Words of a subject may hold bytes that are no text; they must not cost the report.
	data, err := json.Marshal(r, jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encoding the results: %w", err)
	}
	return append(data, '\n'), nil
}

// WriteJSON writes the run as one JSON document, as --json prints it.
func WriteJSON(w io.Writer, r *Run) error {
	data, err := Marshal(r)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}

// Save writes the run to dir/results.json. A reader sees the old file or the new one and never half of one, also when
// the program is killed. It is called after each spec, so it does not wait for the disk; SaveFinal does.
func Save(dir string, r *Run) error { return save(dir, r, false) }

// SaveFinal is Save for the end of a run: when it returns the file is on the disk.
func SaveFinal(dir string, r *Run) error { return save(dir, r, true) }

func save(dir string, r *Run, sync bool) error {
	data, err := Marshal(r)
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, FileName), data, sync)
}

// WriteFile writes a file by way of a temporary one beside it and a rename, so that nobody ever reads half of it.
// With sync set it waits until the bytes are on the disk.
func WriteFile(path string, data []byte, sync bool) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing %s: %w", path, errors.Join(err, os.Remove(f.Name())))
		}
	}()
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// FileError is a results file that can't be read. Line and Column count from 1, and are 0 where the whole is meant.
type FileError struct {
	File         string
	Line, Column int
	Err          error
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %v", e.File, e.Err)
	}
	return fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Err)
}

func (e *FileError) Unwrap() error { return e.Err }

// Read reads a results file. Errors are *FileError.
func Read(path string) (*Run, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, &FileError{File: path, Err: err}
	}
	return Parse(path, data)
}

// Parse reads results out of bytes; the name stands in errors. Members that it does not know are passed over, because
// newer programs add some; another schema, an unknown verdict and a value of the wrong type are errors.
func Parse(name string, data []byte) (*Run, error) {
	var r Run
	if err := json.Unmarshal(data, &r, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, locate(name, data, err)
	}
	if r.Schema != Schema {
		return nil, &FileError{File: name, Line: 1, Column: 1, Err: fmt.Errorf("not results of this program: the schema is %q, not %s", r.Schema, Schema)}
	}
	for _, list := range [][]Requirement{r.Requirements, r.Besides} {
		for i := range list {
			if err := checkRead(&list[i]); err != nil {
				return nil, &FileError{File: name, Err: err}
			}
		}
	}
	return &r, nil
}

func checkRead(q *Requirement) error {
	if q.ID == "" {
		return errors.New("a requirement without an id")
	}
	if !q.Verdict.Valid() {
		return fmt.Errorf("%s has an unknown verdict %q", q.ID, q.Verdict)
	}
	for _, p := range q.Parts() {
		if !p.Outcome.Verdict.Valid() {
			return fmt.Errorf("%s has an unknown verdict %q", p.ID, p.Outcome.Verdict)
		}
	}
	return nil
}

// locate finds line and column of an error of the decoder.
func locate(name string, data []byte, err error) error {
	e := &FileError{File: name, Err: err}
	offset := int64(-1)
	var syntactic *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &syntactic):
		offset, e.Err = syntactic.ByteOffset, syntactic.Err
	case errors.As(err, &semantic):
		offset = semantic.ByteOffset
		e.Err = fmt.Errorf("%s: a JSON %s has no place here", semantic.JSONPointer, semantic.JSONKind)
		if semantic.Err != nil {
			e.Err = fmt.Errorf("%s: %w", semantic.JSONPointer, semantic.Err)
		}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		offset = int64(len(data))
	}
	if offset >= 0 && offset <= int64(len(data)) {
		// The decoder's offset of a value is that of the byte behind the token before it.
		for offset < int64(len(data)) && bytes.IndexByte([]byte(" \t\r\n,:"), data[offset]) >= 0 {
			offset++
		}
		before := data[:offset]
		e.Line = bytes.Count(before, []byte{'\n'}) + 1
		e.Column = len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:]))) + 1
	}
	if len(bytes.TrimSpace(data)) == 0 {
		e.Err = errors.New("the file is empty")
	}
	return e
}
