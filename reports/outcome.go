package reports

import (
	"cmp"
	"encoding/base64"
	"slices"
	"unicode/utf8"
)

// Outcome is what was found out about one requirement or one variant.
type Outcome struct {
	Verdict Verdict `json:"verdict"`
	// Expected and Actual say in words what had to come and what came. They are empty where it held.
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
	// Frames are the few that show it, in the order of the wire.
	Frames []Frame `json:"frames"`
	// More are further mismatches of the same requirement, if there were several.
	More []Mismatch `json:"more,omitempty"`
	// Repeat is the command that repeats just this.
	Repeat string `json:"repeat"`
	// Reason says why it is not applicable, was not reached or could not be judged.
	Reason string `json:"reason,omitempty"`
	// Because is the reason in two or three words ("no subagents"), for the closing line.
	Because string `json:"because,omitempty"`
	// Known is set where the baseline knows it.
	Known *Known `json:"known,omitempty"`
	// Observed is what an OBSERVE row saw, in a fixed order, so that two subjects can be compared.
	Observed []Observation `json:"observed,omitempty"`
	// Seconds is how long its specs took.
	Seconds float64 `json:"seconds"`
	// Passed and Failed count how often it was judged, which is the ratio of a flaky one.
	Passed int `json:"passed,omitempty"`
	Failed int `json:"failed,omitempty"`
	Evidence
}

// Evidence is what was kept of the spec that an outcome came up in. Files are relative to the folder of the report.
type Evidence struct {
	// Transcript is the file with the whole conversation.
	Transcript string `json:"transcript,omitempty"`
	// Input is the file with the exact bytes that were sent, where it did not hold; Script the one with the scripts of
	// the model.
	Input  string `json:"input,omitempty"`
	Script string `json:"script,omitempty"`
	// Diagnosis is what became of the subject's process, where it did not hold.
	Diagnosis *Diagnosis `json:"diagnosis,omitempty"`
}

// Mismatch is one thing that was expected and did not come.
type Mismatch struct {
	Expected string  `json:"expected"`
	Actual   string  `json:"actual"`
	Frames   []Frame `json:"frames"`
}

// Observation is one thing that an OBSERVE row saw.
type Observation struct {
	What  string `json:"what"`
	Value string `json:"value"`
}

// Known says that the baseline knows a failure.
type Known struct {
	// Reason is that of the baseline.
	Reason string `json:"reason"`
	Flaky  bool   `json:"flaky,omitempty"`
}

// Requirement is a row of the catalogue with its outcome.
type Requirement struct {
	ID    string `json:"id"`
	Level string `json:"level"`
	Outcome
	Sentence string `json:"sentence"`
	Source   string `json:"source"`
	// New marks a row that is newer than the revision that gates the run: shown, and without influence on the exit.
	New bool `json:"new,omitempty"`
	// Variants are the outcomes of the row's variants, in the order of the catalogue.
	Variants []Variant `json:"variants,omitempty"`
	// Bare is a violation of a row with variants that was found in a situation which is none of them.
	Bare *Outcome `json:"bare,omitempty"`
}

// Variant is a variant with its outcome.
type Variant struct {
	Name     string `json:"name"`
	Sentence string `json:"sentence"`
	New      bool   `json:"new,omitempty"`
	Outcome
}

// Parts returns what decides about the row: its variants' outcomes and the bare one, or its own where it has none
// of these. The pointers lead into r.
func (r *Requirement) Parts() []Part {
	var parts []Part
	for i := range r.Variants {
		v := &r.Variants[i]
		parts = append(parts, Part{ID: r.ID + "/" + v.Name, Outcome: &v.Outcome, New: r.New || v.New})
	}
	if r.Bare != nil {
		parts = append(parts, Part{ID: r.ID, Outcome: r.Bare, New: r.New})
	}
	if len(parts) == 0 {
		parts = append(parts, Part{ID: r.ID, Outcome: &r.Outcome, New: r.New})
	}
	return parts
}

// Part is an outcome with the id that baselines and `--id` address it by.
type Part struct {
	ID      string
	Outcome *Outcome
	// New is set where it does not gate the run.
	New bool
}

// Frame is one line of the wire, or a note between them, as it is kept for showing.
type Frame struct {
	// T is the time in seconds since the conversation began.
	T float64 `json:"t"`
	// Dir is the direction: c2s, s2c, model, stderr or note, as in transcripts.
	Dir string `json:"dir"`
	// Raw are the bytes where they are UTF-8, B64 where they are not; one of them is empty.
	Raw string `json:"raw,omitempty"`
	B64 string `json:"b64,omitempty"`
	// Bytes is how long the frame was, where it was shortened; the transcript has all of it.
	Bytes int `json:"bytes,omitempty"`
}

// frameKeep is how many bytes of a frame results.json keeps. A frame of 16 MiB in each of ten failures is nothing
// that a report can hold, and the transcript has it anyway.
const frameKeep = 8 << 10

// maxFrames and maxMore bound what one outcome keeps, because a subject that floods can break a rule a million times.
const (
	maxFrames = 20
	maxMore   = 10
)

// NewFrame makes a frame out of bytes that may be anything. Long ones are cut, at a character where they are text.
func NewFrame(t float64, dir string, raw []byte) Frame {
	f := Frame{T: t, Dir: dir}
	if len(raw) > frameKeep {
		f.Bytes = len(raw)
		raw = raw[:frameKeep]
		for i := 0; i < utf8.UTFMax-1 && len(raw) > 0; i++ {
			if r, size := utf8.DecodeLastRune(raw); r != utf8.RuneError || size != 1 {
				break
			}
			raw = raw[:len(raw)-1]
		}
	}
	if utf8.Valid(raw) {
		f.Raw = string(raw)
	} else {
		f.B64 = base64.StdEncoding.EncodeToString(raw)
	}
	return f
}

// Data returns the bytes of the frame, as far as they were kept.
func (f Frame) Data() []byte {
	if f.B64 != "" {
		if b, err := base64.StdEncoding.DecodeString(f.B64); err == nil {
			return b
		}
	}
	return []byte(f.Raw)
}

// Merge returns the outcome of two of one id: the worse verdict with what belongs to it, and what the other one saw
// besides. Times and counts add up.
func Merge(a, b Outcome) Outcome {
	if b.Verdict.rank() > a.Verdict.rank() {
		a, b = b, a
	}
	m := a
	m.Seconds += b.Seconds
	m.Passed, m.Failed = tries(a)
	p, f := tries(b)
	m.Passed, m.Failed = m.Passed+p, m.Failed+f
	m.Observed = mergeObserved(a.Observed, b.Observed)
	m.More = slices.Clone(a.More)
	// Further mismatches are worth showing beside one; a mismatch beside an error of the suite as well.
	if b.Verdict == a.Verdict || b.Verdict == Fail || b.Verdict == Warn {
		if b.Expected != "" || b.Actual != "" {
			m.addMore(Mismatch{Expected: b.Expected, Actual: b.Actual, Frames: b.Frames})
		}
		for _, x := range b.More {
			m.addMore(x)
		}
	}
	m.attach(b.Evidence)
	return m
}

// attach takes over what is not there yet.
func (e *Evidence) attach(other Evidence) {
	e.Transcript = cmp.Or(e.Transcript, other.Transcript)
	e.Input, e.Script = cmp.Or(e.Input, other.Input), cmp.Or(e.Script, other.Script)
	e.Diagnosis = cmp.Or(e.Diagnosis, other.Diagnosis)
}

// tries returns how often an outcome was judged; one that was never merged counts once.
func tries(o Outcome) (passed, failed int) {
	if o.Passed+o.Failed > 0 {
		return o.Passed, o.Failed
	}
	switch o.Verdict {
	case Pass:
		return 1, 0
	case Fail, Warn:
		return 0, 1
	}
	return 0, 0
}

// addMore keeps a further mismatch, unless it says the same as one that is there, up to a bound.
func (o *Outcome) addMore(m Mismatch) {
	same := func(x Mismatch) bool { return x.Expected == m.Expected && x.Actual == m.Actual }
	if len(o.More) >= maxMore || (o.Expected == m.Expected && o.Actual == m.Actual) || slices.ContainsFunc(o.More, same) {
		return
	}
	o.More = append(o.More, m)
}

func mergeObserved(a, b []Observation) []Observation {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}
