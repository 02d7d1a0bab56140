//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/reports"
)

// parityOf compares the reference client of a profile with one that has a fault, "" for its twin.
func parityOf(t *testing.T, profile, fault string, args ...string) ran {
	t.Helper()
	other := []string{"--profile", profile}
	if fault != "" {
		other = append(other, "--fault", fault)
	}
	return dshconform(t, append([]string{
		"parity", "--client", "sound=" + refclientLine("--profile", profile), "--client", "other=" + refclientLine(other...),
	}, args...)...)
}

// What two of the same show is the same.
func TestTwinsAgree(t *testing.T) {
	t.Run("each", func(t *testing.T) { eachProfile(t, twinsAgree) })
	nothingLeft(t)
}

func twinsAgree(t *testing.T, profile string) {
	g := NewWithT(t)
	dir := filepath.Join(t.TempDir(), "out")
	r := parityOf(t, profile, "", "--report", dir)
	g.Expect(r.code).To(Equal(0), "%s%s", r.out, r.err)
	g.Expect(r.err).To(BeEmpty())
	g.Expect(lastLine(r.out)).To(MatchRegexp(`^the clients agree; \d+ of \d+ scenarios compared`))

	res := results(t, dir)
	g.Expect(res.Kind).To(Equal(reports.KindParity))
	g.Expect(res.Profile).To(Equal(profile))
	g.Expect(res.Differences).To(BeEmpty())
	g.Expect(res.Subjects).To(HaveLen(2))
	g.Expect(res.Subjects[0].Name).To(Equal("sound"))
	g.Expect(res.Subjects[0].Says).To(ContainSubstring("(go, high)"))
	for _, q := range res.Requirements {
		if q.Verdict == reports.NotApplicable {
			g.Expect(q.Because).To(Equal("another profile"), "%s: the reference client offers everything", q.ID)
			continue
		}
		g.Expect(q.Verdict).To(Equal(reports.Observed), "%s: %s", q.ID, q.Reason)
		for _, transcript := range []string{".1.jsonl", ".2.jsonl"} {
			g.Expect(filepath.Join(dir, transcriptsName, q.ID+transcript)).To(BeARegularFile())
		}
	}
}

// Each kind of fault shows in the scenario that is about it, and says what it is.
func TestFaultsShowAsDifferences(t *testing.T) {
	for _, tc := range []struct{ fault, profile, id, field, sound, other string }{
		{"handshake-without-model", "directional", "P-INI-01", "frames[0]", `"model":`, `"provider":`},
		{"other-server-refused", "accepted", "P-INI-02", `{"serverInfo":{"name":"another-runtime","version":"1"}}: initialize`, "succeeds", "fails"},
		{"failed-handshake-leaves-runtime", "receipt", "P-INI-03", `"no": runtime`, "is ended", "lives on"},
		{"answers-requests-between-calls", "directional", "P-DIR-01", "frames", "3: session/prompt", "a response: "},
		{"request-with-pending-id-succeeds", "directional", "P-DIR-02", `"dshconform/stray": call.reason`, "completed", "stray"},
		{"reason-cut-to-its-kind", "directional", "P-OUT-01", "call.reason", "ModelError", `{"kind":"error"}`},
		{"unknown-status-is-passed-on", "directional", "P-OUT-02", `"fine": call`, "fails", "succeeds"},
		{"ok-overruled-by-events", "directional", "P-OUT-04", "call.status", `"ok"`, `"error"`},
		{"session-finished-wins", "directional", "P-OUT-05", "before the outcome: call", "ok", "error"},
		{"stale-idle-settles", "receipt", "P-OUT-07", "behind an idle of an earlier interval: call.status", "ok", "(none)"},
		{"task-for-each-notification", "receipt", "P-NTF-02", "call.notifications", "s1 turn/start", ""},
		{"strangers-let-in", "accepted", "P-NTF-03", "call.notifications", "s1 turn/start", "stranger"},
		{"lineage-lost-between-calls", "directional", "P-NTF-04", "next.notifications", "child assistant/message", "s1 turn/start"},
		{"unknown-event-type-fails-turn", "directional", "P-NTF-05", "an unknown type of event: call", "succeeds", "fails"},
		{"callback-panic-ends-turn", "directional", "P-NTF-06", "call", "", ""},
		{"filter-panic-ends-all-subscriptions", "directional", "P-NTF-08", "call.notifications", "turn/start", "none"},
		{"blocks-joined-by-newlines", "directional", "P-RSP-01", "several text blocks: call.finalResponse", `"one two\nthree"`, `"one \ntwo\n\nthree"`},
		{"crlf-not-trimmed", "directional", "P-FRM-01", "CR LF: call", "succeeds", ""},
		{"bom-hides-response", "directional", "P-FRM-05", "a byte order mark before it: call", "fails", "succeeds"},
		{"splits-at-u-2028", "accepted", "P-FRM-06", "call", "", ""},
		{"limit-of-1-mib", "directional", "P-FRM-08", "16 MiB: call", "fails", ""},
		{"responses-in-a-queue", "directional", "P-IDS-01", "call 1", "", ""},
		{"ids-compared-as-text", "receipt", "P-IDS-04", "call", "succeeds", "fails"},
		{"error-data-lost", "directional", "P-ERR-01", "call.error.data", "tested", "(none)"},
		{"error-null-fails", "directional", "P-ERR-03", `"error":null: call`, "succeeds", "fails"},
		{"exit-outruns-last-response", "directional", "P-END-02", "call", "succeeds", "fails"},
		{"exit-code-not-told", "directional", "P-END-05", "later.error tells the exit code", "true", "false"},
		{"late-response-settles-next-call", "directional", "P-END-06", "next", "", ""},
		{"no-sigterm", "directional", "P-CLS-01", "steps", "SIGTERM", "killed"},
		{"second-close-fails", "directional", "P-CLS-02", "twice: second close", "succeeds", "fails"},
		{"large-prompt-cut", "directional", "P-CON-04", "frames[0]", "", ""},
		{"joiners-stripped", "directional", "P-MB-01", "emoji with ZWJ: frames[0]", "\u200d", ""},
	} {
		t.Run(tc.fault, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			r := parityOf(t, tc.profile, tc.fault, "--id", tc.id, "--json")
			g.Expect(r.code).To(Equal(1), "%s%s", r.out, r.err)
			var res reports.Run
			g.Expect(json.Unmarshal([]byte(r.out), &res)).To(Succeed())
			found := false
			var all []string
			for _, d := range res.Differences {
				g.Expect(d.ID).To(Equal(tc.id))
				g.Expect(d.Values).To(And(HaveKey("sound"), HaveKey("other")))
				all = append(all, d.Field+": "+d.Values["sound"]+" / "+d.Values["other"])
				found = found || strings.Contains(d.Field, tc.field) && strings.Contains(d.Values["sound"], tc.sound) && strings.Contains(d.Values["other"], tc.other)
			}
			g.Expect(found).To(BeTrue(), "no difference of %s is that %s is %q here and %q there: %s", tc.field, tc.id, tc.sound, tc.other, strings.Join(all, "\n"))
		})
	}
}

// The table has clients across, the report their transcripts, and the repeated command gives the same.
func TestDifferenceReadsWell(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	r := parityOf(t, "directional", "text-trimmed", "--id", "P-MB-01,P-RSP-01", "--report", dir)
	g.Expect(r.code).To(Equal(1), "%s%s", r.out, r.err)
	g.Expect(r.out).To(MatchRegexp(`(?m)^scenario  field +sound +other$`))
	g.Expect(r.out).To(MatchRegexp(`(?m)^P-MB-01   controls: call.finalResponse  +"`))
	g.Expect(lastLine(r.out)).To(Equal("the clients differ: 1 difference; 2 of 2 scenarios compared"))
	res := results(t, dir)
	g.Expect(res.Differences).To(HaveLen(1))
	for _, file := range res.Differences[0].Transcripts {
		g.Expect(filepath.Join(dir, filepath.FromSlash(file))).To(BeARegularFile())
	}
	g.Expect(res.Requirements[1].Repeat).To(And(HavePrefix(binary+" parity --profile directional --client "), HaveSuffix(" --id P-MB-01")))
	junit, err := os.ReadFile(filepath.Join(dir, reports.JUnitName))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(junit)).To(And(ContainSubstring(`failures="1"`), ContainSubstring("1 difference, the first of them in controls: call.finalResponse")))
}

// A client that hangs costs its deadline; the rest of the scenario is played with another driver.
func TestHangIsADifference(t *testing.T) {
	g := NewWithT(t)
	r := parityOf(t, "directional", "error-without-code-hangs", "--id", "P-ERR-02", "--json", "--timeout-scale", "0.5")
	g.Expect(r.code).To(Equal(1), "%s%s", r.out, r.err)
	var res reports.Run
	g.Expect(json.Unmarshal([]byte(r.out), &res)).To(Succeed())
	g.Expect(res.Differences).To(ContainElement(And(
		HaveField("Field", `{"message":"no code"}: call`), HaveField("Values", map[string]string{"sound": "fails", "other": "hangs"}),
	)))
	g.Expect(res.Requirements[0].Observed).To(ContainElement(reports.Observation{What: `"boom": call`, Value: "fails"}))
	nothingLeft(t)
}

// A baseline is drafted, refused until it gives reasons, and knows what it says and nothing else.
func TestParityBaseline(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "known.yaml")
	compare := func(fault string, args ...string) ran {
		return parityOf(t, "directional", fault, append([]string{"--id", "P-RSP-01", "--baseline", file}, args...)...)
	}
	g.Expect(compare("blocks-joined-by-newlines", "--update-baseline").code).To(Equal(1))
	r := compare("blocks-joined-by-newlines")
	g.Expect(r.code).To(Equal(2), "%s%s", r.out, r.err)
	g.Expect(r.err).To(MatchRegexp(`known\.yaml:3:\d+: P-RSP-01 has no reason`))

	draft, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(file, []byte(strings.ReplaceAll(string(draft), `reason: ""`, "reason: it always did")), 0o600)).To(Succeed())
	r = compare("blocks-joined-by-newlines")
	g.Expect(r.code).To(Equal(0), "%s%s", r.out, r.err)
	g.Expect(lastLine(r.out)).To(MatchRegexp(`^the clients agree; \d+ known differences?, 1 of 1 scenarios compared$`))

	r = compare("")
	g.Expect(r.code).To(Equal(1), "%s%s", r.out, r.err)
	g.Expect(r.out).To(MatchRegexp(`(?m)^STALE P-RSP-01 several text blocks: call.finalResponse is no such difference any more: take it out of .*known.yaml, line 3$`))
	r = compare("all-blocks-joined")
	g.Expect(r.code).To(Equal(1), "%s%s", r.out, r.err)
	g.Expect(r.out).To(And(ContainSubstring("DIFFERENCES"), ContainSubstring("STALE")))
}

func TestWrongUseOfParity(t *testing.T) {
	one := []string{"--client", "a=" + refclientLine()}
	two := append([]string{"--client", "b=" + refclientLine()}, one...)
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "b.yaml")
		if err := os.WriteFile(path, []byte("schema: dshconform.parity-baseline/v1\nknown:\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	known := func(text string) []string { return append([]string{"--baseline", file(text)}, two...) }
	refusesMisuse(t, "parity", map[string]misused{
		"no client":           {nil, "--client is wanted twice"},
		"one client":          {one, "--client is wanted twice"},
		"no name":             {append([]string{"--client", "./driver"}, one...), "NAME=COMMAND"},
		"an empty command":    {append([]string{"--client", "b= "}, one...), "NAME=COMMAND"},
		"a name twice":        {append(one, one...), `two are named "a"`},
		"quotes":              {append([]string{"--client", "b=x 'y"}, one...), "--client b"},
		"profile":             {append([]string{"--profile", "nope"}, two...), "there is no profile"},
		"two profiles":        {append([]string{"--client", "b=" + refclientLine("--profile", "receipt")}, one...), "different profiles: b receipt, a directional"},
		"id of a client":      {append([]string{"--id", "C-DIR-01"}, two...), "on a client, not on a parity"},
		"baseline: schema":    {append([]string{"--baseline", "known.yaml"}, two...), "known.yaml"},
		"baseline: key":       {known("  - id: P-MB-01\n    value: x\n"), "b.yaml:4:"},
		"baseline: id":        {known("  - id: P-MB-99\n"), "b.yaml:3:"},
		"baseline: no field":  {known("  - id: P-MB-01\n    reason: x\n    values: {a: x, b: y}\n"), "b.yaml:3:"},
		"baseline: one value": {known("  - id: P-MB-01\n    field: call\n    reason: x\n    values: {a: x, b: x}\n"), "no values that differ"},
		"baseline: profile":   {known("  - id: P-OUT-07\n    field: call\n    reason: x\n    values: {a: x, b: y}\n    profiles: [accepted]\n"), "b.yaml:7:"},
		"baseline: a server's": {
			append([]string{"--baseline", file("  - id: S-DIR-01\n    reason: x\n    field: call\n    values: {a: x, b: y}\n")}, two...), "no scenario of parity",
		},
	})
}

// A client that can't be run ends the run, with its name.
func TestParityWithoutAClient(t *testing.T) {
	for name, driver := range map[string]string{"no such program": "/nonexistent/driver", "ends": "true", "echoes": "cat"} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := dshconform(t, "parity", "--client", "a="+refclientLine(), "--client", "broken="+driver)
			g.Expect(r.code).To(Equal(3), "%s%s", r.out, r.err)
			g.Expect(r.err).To(ContainSubstring("broken: "))
			nothingLeft(t)
		})
	}
}

func TestListOfParity(t *testing.T) {
	g := NewWithT(t)
	var rows []listedRow
	g.Expect(json.Unmarshal([]byte(dshconform(t, "list", "--json", "--label", "parity").out), &rows)).To(Succeed())
	g.Expect(len(rows)).To(BeNumerically(">=", 45))
	for _, r := range rows {
		g.Expect(r.Role).To(Equal("parity"))
		g.Expect(r.Implemented).To(BeTrue(), r.ID)
	}
	g.Expect(dshconform(t, "explain", "P-FRM-05").out).To(ContainSubstring("How it is tested"))
}
