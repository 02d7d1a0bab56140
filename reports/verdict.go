package reports

import "github.com/dshconform/dshconform/suites/requirements"

// Verdict is what was found out about a requirement or a variant. The strings are part of results.json and never
// change.
type Verdict string

const (
	// Pass: exercised, and it held.
	Pass Verdict = "pass"
	// Fail: a MUST that was exercised and did not hold.
	Fail Verdict = "fail"
	// Warn: a SHOULD that was exercised and did not hold.
	Warn Verdict = "warn"
	// Observed: an OBSERVE row; what the subject did is recorded.
	Observed Verdict = "observed"
	// NotApplicable: it does not bind this subject; the reason says why.
	NotApplicable Verdict = "not_applicable"
	// NotReached: a step that it needs failed; the reason says which.
	NotReached Verdict = "not_reached"
	// Error: the suite could not judge it; the reason says why.
	Error Verdict = "error"
)

// Verdicts returns all verdicts in the order of the summary.
func Verdicts() []Verdict {
	return []Verdict{Pass, Fail, Warn, Observed, NotApplicable, NotReached, Error}
}

// Valid says whether v is one of the seven.
func (v Verdict) Valid() bool { return v.rank() > 0 }

// Exercised says whether the requirement was put to the test and the answer is known.
func (v Verdict) Exercised() bool { return v == Pass || v == Fail || v == Warn || v == Observed }

// Sound says whether nothing speaks against the subject: it held, was observed, or does not apply.
func (v Verdict) Sound() bool { return v == Pass || v == Observed || v == NotApplicable }

// rank orders verdicts from harmless to bad; the merged verdict of several is that of the highest rank. A definite
// failure outranks an error, because what was seen stays true however the rest went. A pass outranks "observed",
// which only comes beside it when a suite mixes the two up, and both outrank "not applicable", so that one
// variant that does not apply hides nothing about the others.
func (v Verdict) rank() int {
	switch v {
	case NotApplicable:
		return 1
	case Observed:
		return 2
	case Pass:
		return 3
	case Warn:
		return 4
	case NotReached:
		return 5
	case Error:
		return 6
	case Fail:
		return 7
	}
	return 0
}

// Worst returns the verdict that stands for several, and NotReached for none: nothing passes without having been
// exercised.
func Worst(verdicts ...Verdict) Verdict {
	if len(verdicts) == 0 {
		return NotReached
	}
	worst := verdicts[0]
	for _, v := range verdicts[1:] {
		if v.rank() > worst.rank() {
			worst = v
		}
	}
	return worst
}

// AtLevel turns a verdict into the one that the level of its row allows: what does not hold is a failure for
// a MUST, a warning for a SHOULD and an observation for an OBSERVE row, and what holds on an OBSERVE row was
// observed.
func (v Verdict) AtLevel(level requirements.Level) Verdict {
	broken := v == Fail || v == Warn
	switch {
	case broken && level == requirements.Must:
		return Fail
	case broken && level == requirements.Should:
		return Warn
	case (broken || v == Pass) && level == requirements.Observe:
		return Observed
	case v == Observed && level != requirements.Observe:
		// An observation beside a MUST says that the row was exercised and nothing spoke against it.
		return Pass
	}
	return v
}
