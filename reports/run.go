package reports

import "time"

// Schema is the name and version of the format of results.json. Members may be added to a version, none is renamed
// or removed.
const Schema = "dshconform.results/v1"

// Kinds of runs.
const (
	KindServer = "server"
	KindClient = "client"
	KindParity = "parity"
	KindFuzz   = "fuzz"
	KindCheck  = "check"
	// KindInterop: real clients with real servers.
	KindInterop = "interop"
)

// Run is the result of one run, as results.json holds it. docs/results.md documents it for readers, and the
// JSON Schema beside it for programs.
type Run struct {
	Schema string `json:"schema"`
	// Kind is one of the constants above.
	Kind string `json:"kind"`
	// Version is that of the program; Catalogue the revision of the catalogue, Frozen the one that gates the run
	// if that is another; Platform is GOOS/GOARCH.
	Version   string `json:"version"`
	Catalogue string `json:"catalogue"`
	Frozen    string `json:"frozen,omitempty"`
	Platform  string `json:"platform"`

	Started time.Time `json:"started"`
	// Seconds is how long the run took.
	Seconds float64 `json:"seconds"`

	Subject Subject `json:"subject"`
	// Subjects are those that are compared in a parity run, or brought together in one of interop, clients first.
	Subjects []Subject `json:"subjects,omitempty"`
	Profile  string    `json:"profile"`
	// ProfileNote says how the profile was found, or that the subject speaks another one; Hint is the command to
	// run instead.
	ProfileNote string `json:"profile_note,omitempty"`
	Hint        string `json:"hint,omitempty"`
	// Remarks are what else a reader has to know, a sentence each: what of a conversation was not judged.
	Remarks []string `json:"remarks,omitempty"`
	// Seed repeats the run's random choices. Seeds that the suite makes up are below 2^53, so that every JSON
	// reader holds them exactly.
	Seed uint64 `json:"seed"`

	// Strict and MinExercised are the options that decide about the exit code.
	Strict       bool `json:"strict"`
	MinExercised int  `json:"min_exercised,omitempty"`

	// Complete is false in a file that was written while the run went on, or of a run that was cut short.
	Complete bool `json:"complete"`
	// Abort says why a run ended before its end.
	Abort *Abort `json:"abort,omitempty"`

	Summary Summary `json:"summary"`
	Musts   Musts   `json:"musts"`
	// Closing is the last line of the console.
	Closing string `json:"closing"`

	// Requirements are the rows that were selected and that the suite implements, in the order of the catalogue.
	Requirements []Requirement `json:"requirements"`
	// Besides are violations of other rows that the monitor saw on the way.
	Besides []Requirement `json:"besides"`
	// Baseline is what became of the baseline, where one was given.
	Baseline *BaselineResult `json:"baseline,omitempty"`
	// Cells are the pairs of an interop run.
	Cells []Cell `json:"cells,omitzero"`
	// Differences are those between the subjects of a parity run, which always has the member, or between the pairs of
	// an interop run, where they are told and decide about nothing.
	Differences []Difference `json:"differences,omitzero"`
	Diagnosis   *Diagnosis   `json:"diagnosis,omitempty"`

	// Exit is the exit code of the program.
	Exit int `json:"exit"`
}

// Subject is what was judged, and how it was started.
type Subject struct {
	Name string `json:"name"`
	// Argv is the exact command; Dir the working directory of the process.
	Argv []string `json:"argv"`
	Dir  string   `json:"dir"`
	// Env are the names of the variables that the process got, never their values.
	Env []string `json:"env"`
	// Target and Baseline are the files that were used.
	Target   string `json:"target,omitempty"`
	Baseline string `json:"baseline,omitempty"`
	// Cwd, Provider and Model are what initialize carries.
	Cwd      string `json:"cwd,omitempty"`
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	// ModelEndpoint is how the server gets at its model: chat-completions, messages, in-server or none.
	ModelEndpoint string `json:"model_endpoint,omitempty"`
	// ServerVersion is the version in serverInfo, or that of an SDK.
	ServerVersion string `json:"server_version,omitempty"`
	// Role is client or server, in an interop run.
	Role string `json:"role,omitempty"`
	// Says is what the driver says of an SDK that has another name in the run.
	Says string `json:"says,omitempty"`
	// Lacks are the capabilities that the target says it lacks.
	Lacks []Lack `json:"lacks,omitempty"`
}

// Lack is a declared lack.
type Lack struct {
	Capability string `json:"capability"`
	Reason     string `json:"reason"`
	// Stale says how the server was seen to have what it is said to lack; empty where it was not.
	Stale string `json:"stale,omitempty"`
}

// Abort says why a run ended before its end.
type Abort struct {
	// Kind is AbortInterrupted or AbortNotRun.
	Kind string `json:"kind"`
	// Reason is one line for a human.
	Reason string `json:"reason"`
}

const (
	// AbortInterrupted: somebody stopped the run. Exit code 130.
	AbortInterrupted = "interrupted"
	// AbortNotRun: the subject could not be run, or never answered initialize. Exit code 3.
	AbortNotRun = "not_run"
)

// Summary counts requirements by verdict.
type Summary struct {
	Pass          int `json:"pass"`
	Fail          int `json:"fail"`
	Warn          int `json:"warn"`
	Observed      int `json:"observed"`
	NotApplicable int `json:"not_applicable"`
	NotReached    int `json:"not_reached"`
	Error         int `json:"error"`
}

// Of returns the count of a verdict.
func (s Summary) Of(v Verdict) int {
	if p := s.at(v); p != nil {
		return *p
	}
	return 0
}

func (s *Summary) at(v Verdict) *int {
	switch v {
	case Pass:
		return &s.Pass
	case Fail:
		return &s.Fail
	case Warn:
		return &s.Warn
	case Observed:
		return &s.Observed
	case NotApplicable:
		return &s.NotApplicable
	case NotReached:
		return &s.NotReached
	case Error:
		return &s.Error
	}
	return nil
}

// Musts counts the MUSTs among the requirements, which is what the closing line tells.
type Musts struct {
	Total     int `json:"total"`
	Exercised int `json:"exercised"`
	// Known are those of the exercised ones that fail as the baseline says.
	Known         int `json:"known"`
	NotApplicable int `json:"not_applicable"`
	// Because counts the ones that are not applicable by their short reason.
	Because map[string]int `json:"because,omitempty"`
}

// Difference is one thing that callers of the subjects of a parity run see differently.
type Difference struct {
	ID    string `json:"id"`
	Field string `json:"field"`
	// Values are what each subject showed, by its name.
	Values map[string]string `json:"values"`
	Known  *Known            `json:"known,omitempty"`
	// Transcripts are the files with their conversations, relative to the folder of the report.
	Transcripts map[string]string `json:"transcripts,omitempty"`
}
