package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	. "github.com/onsi/gomega"
)

// fullRun is a run in which every member of the format is set.
func fullRun() *Run {
	exit := 5
	o := failed
	o.More = []Mismatch{{Expected: "x", Actual: "y", Frames: []Frame{NewFrame(1, "note", []byte("n"))}}}
	o.Reason, o.Because, o.Passed, o.Failed = "r", "no subagents", 1, 2
	o.Evidence = Evidence{
		Transcript: "transcripts/a.jsonl", Input: "failures/a.input", Script: "failures/a.script.json",
		Diagnosis: &Diagnosis{Exit: &exit, Signal: "SIGKILL", Stderr: "s", StderrBytes: 1, StartupSeconds: 0.5, PeakBytes: 5 << 20, Processes: 2, Left: []string{"sleep"}},
	}
	o.Observed = []Observation{{What: "reply", Value: "nothing"}}
	o.Known = &Known{Reason: "k", Flaky: true}
	big := NewFrame(3, "s2c", bytes.Repeat([]byte("a"), frameKeep*2))
	o.Frames = append(o.Frames, big)
	q := Requirement{ID: "S-FRM-13", Level: "MUST", Outcome: o, Sentence: "s", Source: "U (x)", New: true, Bare: &o,
		Variants: []Variant{{Name: "nul", Sentence: "v", New: true, Outcome: o}}}
	r := sampleRun()
	r.Frozen, r.ProfileNote, r.Hint, r.Strict, r.MinExercised = "2026.12", "note", "hint", true, 3
	r.Remarks = []string{"not judged: 1 frame"}
	r.Abort = &Abort{Kind: AbortInterrupted, Reason: "Ctrl-C"}
	r.Subject = Subject{Name: "n", Argv: []string{"a"}, Dir: "d", Env: []string{"PATH"}, Target: "t", Baseline: "b", Cwd: "c", Provider: "p",
		Model: "m", ModelEndpoint: "messages", ServerVersion: "1", Role: "client", Says: "an SDK 1 (python, high)", Lacks: []Lack{{Capability: "subagents", Reason: "r", Stale: "s"}}}
	r.Subjects = []Subject{r.Subject}
	r.Requirements, r.Besides = []Requirement{q}, []Requirement{q}
	r.Musts = Musts{1, 1, 1, 1, map[string]int{"no subagents": 1}}
	r.Summary = Summary{1, 2, 3, 4, 5, 6, 7}
	r.Baseline = &BaselineResult{File: "b", Entries: 1, Known: []string{"x"}, Stale: []StaleEntry{{ID: "a", Reason: "b", Line: 1, Field: "f"}}, Flaky: []FlakyEntry{{"a", 1, 2}}, Unused: []string{"u"}}
	r.Cells = []Cell{{Client: "py", Server: "ref", Profile: "receipt", Spoken: "accepted", Works: true,
		Conversations: []Conversation{{Name: "a turn", Verdict: TalkFails, Why: "w", Saw: []Observation{{"the turn", "succeeds"}}}},
		Violations:    []CellViolation{{ID: "S-ORD-10", Expected: "e", Actual: "a", Known: &Known{Reason: "r", Flaky: true}}},
		Transcripts:   []string{"transcripts/py.ref.1.jsonl"}, Repeat: "dshconform interop", Seconds: 1.5}}
	r.Differences = []Difference{{ID: "P-NTF-02", Field: "status", Values: map[string]string{"a": "ok", "b": "error"}, Known: &Known{Reason: "r", Flaky: true},
		Transcripts: map[string]string{"a": "transcripts/P-NTF-02.1.jsonl"}}}
	r.Diagnosis = &Diagnosis{Exit: &exit, Signal: "SIGKILL", Stderr: "s", StderrBytes: 1, StartupSeconds: 0.5, PeakBytes: 5 << 20, Processes: 2, Left: []string{"sleep"}}
	r.Closing = "closing"
	return r
}

func TestFullRunSetsEveryMember(t *testing.T) {
	var check func(v reflect.Value, path string)
	check = func(v reflect.Value, path string) {
		switch v.Kind() {
		case reflect.Pointer:
			if v.IsNil() {
				t.Errorf("%s is not set", path)
				return
			}
			check(v.Elem(), path)
		case reflect.Struct:
			if v.Type().PkgPath() != reflect.TypeFor[Run]().PkgPath() {
				return
			}
			for i := range v.NumField() {
				name := v.Type().Field(i).Name
				// Of a frame only one form of its bytes is set.
				if f := v.Field(i); f.IsZero() && name != "B64" && name != "Raw" && name != "Bytes" && name != "Exit" && name != "T" {
					t.Errorf("%s.%s is not set", path, name)
				} else {
					check(f, path+"."+name)
				}
			}
		case reflect.Slice:
			if v.Len() == 0 {
				t.Errorf("%s is empty", path)
			}
			for i := range v.Len() {
				check(v.Index(i), path)
			}
		}
	}
	check(reflect.ValueOf(fullRun()), "Run")
}

func TestReadGivesBackWhatWasWritten(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	want := fullRun()
	g.Expect(SaveFinal(dir, want)).To(Succeed())
	got, err := Read(filepath.Join(dir, FileName))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(want))
	entries, err := os.ReadDir(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(HaveLen(1), "no temporary file stays")
}

func TestWordsOfASubjectThatAreNoTextCostNothing(t *testing.T) {
	g := NewWithT(t)
	r := sampleRun()
	r.Requirements = []Requirement{row("S-DIR-01", "MUST", Fail, func(q *Requirement) { q.Actual = "\xff\x00" })}
	data, err := Marshal(r)
	g.Expect(err).NotTo(HaveOccurred())
	back, err := Parse("x", data)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(back.Requirements[0].Actual).To(Equal("\ufffd\x00"))
}

func TestReadErrorsSayWhere(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"no JSON":         {"hello\n", "r.json:1:1: invalid character 'h'"},
		"cut":             {"{\n  \"schema\": \"dshconform.results/v1\",\n", "r.json:3:1: unexpected EOF"},
		"empty":           {"", "r.json:1:1: the file is empty"},
		"another schema":  {`{"schema":"dshconform.transcript/v1"}`, "r.json:1:1: not results of this program"},
		"an array":        {"[]", "r.json:1:1: : a JSON [ has no place here"},
		"type":            {"{\n  \"schema\": \"dshconform.results/v1\",\n  \"exit\": \"none\"}", "r.json:3:11: /exit"},
		"nested type":     {"{\"schema\": \"dshconform.results/v1\", \"requirements\": [\n {\"id\": 5}]}", "r.json:2:9: /requirements/0/id"},
		"twice":           {"{\"exit\": 1,\n \"exit\": 2}", "r.json:2:2: duplicate object member name"},
		"unknown verdict": {`{"schema":"dshconform.results/v1","requirements":[{"id":"S-DIR-01","verdict":"passed"}]}`, `r.json: S-DIR-01 has an unknown verdict "passed"`},
		"no id":           {`{"schema":"dshconform.results/v1","requirements":[{"verdict":"pass"}]}`, "r.json: a requirement without an id"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := Parse("r.json", []byte(tc.text))
			var fe *FileError
			g.Expect(errors.As(err, &fe)).To(BeTrue(), "%v", err)
			g.Expect(err.Error()).To(HavePrefix(tc.want))
		})
	}
	g := NewWithT(t)
	_, err := Read(filepath.Join(t.TempDir(), "none.json"))
	g.Expect(err).To(MatchError(os.ErrNotExist))
	g.Expect(err.Error()).NotTo(ContainSubstring("open "), "the name stands there once")
	r, err := Parse("r.json", []byte(`{"schema":"dshconform.results/v1","news":[1,2]}`))
	g.Expect(err).NotTo(HaveOccurred(), "members that newer programs add are passed over")
	g.Expect(r.Schema).To(Equal(Schema))
}

// Somebody who reads the file while it is written sees one whole state or another.
func TestSaveIsAtomic(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	small, large := sampleRun(), fullRun()
	g.Expect(Save(dir, small)).To(Succeed())
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := Read(filepath.Join(dir, FileName)); err != nil {
				t.Errorf("half a file: %v", err)
				return
			}
		}
	})
	for i := range 200 {
		r := small
		if i%2 == 0 {
			r = large
		}
		g.Expect(Save(dir, r)).To(Succeed())
	}
	close(stop)
	wg.Wait()
}

func TestSaveSaysWhatWentWrong(t *testing.T) {
	g := NewWithT(t)
	err := Save(filepath.Join(t.TempDir(), "none"), sampleRun())
	g.Expect(err).To(MatchError(ContainSubstring("results.json")))
	g.Expect(err).To(MatchError(os.ErrNotExist))
}

func compile(t *testing.T, doc any) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.AssertContent()
	if err := c.AddResource("mem:schema", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:schema")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func unmarshal(t *testing.T, data []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestResultsFitTheirSchema(t *testing.T) {
	schema := compile(t, unmarshal(t, resultsSchema))
	// Closed, the schema shows members that the program writes and the schema doesn't describe.
	closed := unmarshal(t, resultsSchema)
	closeObjects(closed)
	strict := compile(t, closed)

	c := collect(t, "directional", "S-FRM-13", "S-DIR-01", "S-TRN-16", "S-ORD-04", "S-FRM-08")
	c.Record("S-FRM-13/nul", failed)
	c.Record("S-DIR-01", passed)
	c.Record("S-MSG-01", failed)
	c.Record("S-FRM-08", Outcome{Verdict: Observed, Observed: []Observation{{"reply", "nothing"}}})
	for name, r := range map[string]*Run{"empty": sampleRun(), "full": fullRun(), "collected": finish(c)} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			data, err := Marshal(r)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(schema.Validate(unmarshal(t, data))).To(Succeed())
			g.Expect(strict.Validate(unmarshal(t, data))).To(Succeed(), "a member that the schema does not describe")
		})
	}
	g := NewWithT(t)
	g.Expect(schema.Validate(unmarshal(t, []byte(`{"schema":"dshconform.results/v1"}`)))).NotTo(Succeed())
}

// The members that other programs rely on stand there even where they are empty.
func TestMembersThatAlwaysStandThere(t *testing.T) {
	g := NewWithT(t)
	r := finish(collect(t, "directional", "S-DIR-01"))
	data, err := Marshal(r)
	g.Expect(err).NotTo(HaveOccurred())
	var doc map[string]any
	g.Expect(json.Unmarshal(data, &doc)).To(Succeed())
	for _, m := range []string{"schema", "kind", "subject", "profile", "seed", "seconds", "summary", "requirements", "besides", "catalogue", "exit"} {
		g.Expect(doc).To(HaveKey(m))
	}
	q := doc["requirements"].([]any)[0].(map[string]any)
	for _, m := range []string{"id", "level", "verdict", "sentence", "source", "expected", "actual", "frames", "repeat", "seconds"} {
		g.Expect(q).To(HaveKey(m))
	}
	g.Expect(q["frames"]).To(BeEmpty())
	g.Expect(bytes.Count(data, []byte("\n\n"))).To(BeZero())
	g.Expect(strings.HasSuffix(string(data), "}\n")).To(BeTrue())
}

// closeObjects sets additionalProperties to false on every object that lists its properties.
func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["properties"].(map[string]any); ok {
			v["additionalProperties"] = false
		}
		for _, x := range v {
			closeObjects(x)
		}
	case []any:
		for _, x := range v {
			closeObjects(x)
		}
	}
}

func TestPublishedSchemasAreNotStale(t *testing.T) {
	for name, data := range Schemas() {
		got, err := os.ReadFile(filepath.Join("..", "docs", "schemas", name))
		g := NewWithT(t)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n"))) == string(data)).To(BeTrue(), "docs/schemas/%s is stale: run `go generate ./reports`", name)
	}
}

func TestBaselineSchemaCompiles(t *testing.T) {
	g := NewWithT(t)
	s := compile(t, unmarshal(t, baselineSchema))
	g.Expect(s.Validate(unmarshal(t, []byte(`{"schema":"dshconform.baseline/v1","known":[{"id":"S-FRM-13/nul","reason":"r","profiles":["receipt"],"flaky":true}]}`)))).To(Succeed())
	g.Expect(s.Validate(unmarshal(t, []byte(`{"schema":"dshconform.baseline/v1","known":[{"id":"S-FRM","reason":"r"}]}`)))).NotTo(Succeed())
	g.Expect(s.Validate(unmarshal(t, []byte(`{"schema":"dshconform.baseline/v1","known":[{"id":"S-FRM-01","reason":" "}]}`)))).NotTo(Succeed())
}

func FuzzParse(f *testing.F) {
	full, err := Marshal(fullRun())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)
	f.Add([]byte(`{"schema":"dshconform.results/v1"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse("r.json", data)
		if err != nil {
			return
		}
		var b bytes.Buffer
		Judge(r)
		if Console(&b, r, ConsoleOptions{Verbose: true}) != nil || JUnit(&b, r) != nil || Text(&b, []Column{{"a", r}, {"b", r}}, false) != nil {
			t.Error("what can be read can be rendered")
		}
	})
}

// Results are written after each spec: what that costs is to stay small beside a spec.
func BenchmarkSave(b *testing.B) {
	cat := catalogue(b)
	var all []string
	for _, r := range cat.Rows("server") {
		all = append(all, r.ID)
	}
	c, err := NewCollector(cat, "directional", "", all)
	if err != nil {
		b.Fatal(err)
	}
	for _, r := range cat.Rows("server") {
		for _, id := range r.IDs() {
			c.Record(id, passed)
		}
	}
	dir := b.TempDir()
	for b.Loop() {
		r := sampleRun()
		r.Requirements = c.Requirements(false, "")
		Judge(r)
		if err := Save(dir, r); err != nil {
			b.Fatal(err)
		}
	}
}
