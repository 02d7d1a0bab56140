package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/fixtures/refclient"
	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/reports"
)

// refclientLine is the driver of the reference client as a command line.
func refclientLine(args ...string) string {
	return strings.Join(append([]string{reports.ShellQuote(binary), "refclient"}, args...), " ")
}

// The reference client is what the suite can find nothing wrong with.
func TestReferenceClientConforms(t *testing.T) {
	eachProfile(t, func(t *testing.T, profile string) {
		g := NewWithT(t)
		dir := filepath.Join(t.TempDir(), "out")
		r := dshconform(t, "client", "--report", dir, "--driver", refclientLine("--profile", profile))
		g.Expect(r.code).To(Equal(0), "%s%s", r.out, r.err)
		g.Expect(r.err).To(BeEmpty())
		g.Expect(firstLine(r.out)).To(And(ContainSubstring("client: "), ContainSubstring("profile "+profile), ContainSubstring("seed 1")),
			"the driver names the profile")
		g.Expect(lastLine(r.out)).To(MatchRegexp(`^conforms: \d+ of \d+ MUSTs exercised`))

		res := results(t, dir)
		g.Expect(res.Kind).To(Equal(reports.KindClient))
		g.Expect(res.Profile).To(Equal(profile))
		g.Expect(res.Summary.Fail + res.Summary.Warn + res.Summary.Error + res.Summary.NotReached).To(BeZero())
		g.Expect(res.Subject.Argv).To(Equal([]string{binary, "refclient", "--profile", profile}))
		g.Expect(res.Subject.Name).To(ContainSubstring("(go, high)"))
		for _, q := range res.Requirements {
			if q.Verdict == reports.NotApplicable {
				g.Expect(q.Because).To(Equal("another profile"), "%s: the reference client offers everything", q.ID)
				continue
			}
			for _, p := range q.Parts() {
				g.Expect(filepath.Join(dir, filepath.FromSlash(p.Outcome.Transcript))).To(BeARegularFile(), p.ID)
			}
		}
		soundScripts(t, dir)
	})
}

// A transcript holds both directions between the SDK and its runtime, and what the driver was told as notes.
func TestTranscriptOfAClient(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	r := dshconform(t, "client", "--report", dir, "--id", "C-DIR-04", "--driver", refclientLine())
	g.Expect(r.code).To(Equal(0), "%s%s", r.out, r.err)
	f, err := os.Open(filepath.Join(dir, transcriptsName, "C-DIR-04.1.jsonl"))
	g.Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	read, err := wire.NewTranscriptReader(f)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(read.Header.Title).To(Equal("C-DIR-04"))
	text := map[wire.Direction]string{}
	for {
		l, err := read.Next()
		if err != nil {
			break
		}
		text[l.Dir] += string(l.Raw)
	}
	g.Expect(text[wire.ClientToServer]).To(And(ContainSubstring(`"initialize"`), ContainSubstring(`"session/prompt"`)))
	g.Expect(text[wire.ServerToClient]).To(And(ContainSubstring("dshconform/stray"), ContainSubstring("serverInfo")))
	g.Expect(text[wire.Note]).To(And(ContainSubstring(`driver> {"id":`), ContainSubstring(`driver< {`), ContainSubstring("launched")))
}

// soundScripts judges what the runtime wrote in rows that are not about what is broken: a strict SDK is no wrong one.
func soundScripts(t *testing.T, dir string) {
	t.Helper()
	sound := []string{
		"C-OUT-01", "C-NTF-01", "C-NTF-02", "C-NTF-03", "C-NTF-05", "C-RSP-01", "C-FRM-03", "C-FRM-04", "C-IDS-01", "C-ERR-01", "C-END-02", "C-CON", "C-MB-01",
	}
	broken := map[string][]string{"C-OUT-01": {"S-TRN-04"}} // it is about events that say something else
	files := 0
	for _, id := range sound {
		found, err := filepath.Glob(filepath.Join(dir, transcriptsName, id+"*.jsonl"))
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		files += len(found)
		for _, file := range found {
			data, err := os.ReadFile(file)
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			// A spec that is over may end a runtime that is just ending by itself: that is no script.
			cleanTranscript(t, file, data, append(slices.Clone(broken[id]), "S-SHD-01")...)
		}
	}
	NewWithT(t).Expect(files).To(BeNumerically(">", len(sound)))
}

func TestClientFailureReadsWell(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	driver := refclientLine("--fault", "request-with-pending-id-settles")
	r := dshconform(t, "client", "--report", dir, "--label", "DIR", "--timeout-scale", "2", "--driver", driver)
	g.Expect(r.code).To(Equal(1), "%s%s", r.out, r.err)
	g.Expect(r.out).To(And(ContainSubstring("C-DIR-04"), ContainSubstring("expected: a stray request under the id of the call in flight does not settle it"),
		ContainSubstring("actual: "), ContainSubstring("source: "), ContainSubstring("dshconform/stray")))
	g.Expect(lastLine(r.out)).To(MatchRegexp(`^does not conform: 1 failed; \d+ of \d+ MUSTs exercised`))
	repeat := binary + " client --profile directional --driver " + reports.ShellQuote(driver) + " --timeout-scale 2 --id C-DIR-04"
	g.Expect(r.out).To(ContainSubstring(repeat))
	for _, q := range results(t, dir).Requirements {
		if q.ID == "C-DIR-04" {
			g.Expect(q.Frames).NotTo(BeEmpty())
			g.Expect(q.Repeat).To(Equal(repeat))
		}
	}

	out, err := exec.CommandContext(t.Context(), "sh", "-c", repeat).CombinedOutput()
	var exit *exec.ExitError
	g.Expect(err).To(BeAssignableToTypeOf(exit), "%s", out)
	g.Expect(lastLine(string(out))).To(HavePrefix("does not conform: 1 failed; 1 of 1 MUSTs exercised"))
}

func TestWrongUseOfClient(t *testing.T) {
	refusesMisuse(t, "client", map[string]misused{
		"no driver":             {nil, "--driver is missing"},
		"empty driver":          {[]string{"--driver", ""}, "is empty"},
		"quotes of the driver":  {[]string{"--driver", "python3 'driver.py"}, "--driver"},
		"argument":              {[]string{"--driver", "x", "y"}, `no argument "y"`},
		"profile":               {[]string{"--driver", "x", "--profile", "nope"}, "directional, accepted, receipt"},
		"id of a server":        {[]string{"--driver", "x", "--id", "S-DIR-01"}, "on a server, not on a client"},
		"id of another profile": {[]string{"--driver", "x", "--id", "C-OUT-05", "--profile", "accepted"}, "it binds receipt"},
		"label of a server":     {[]string{"--driver", "x", "--label", "OVL"}, "no requirement has the label"},
		"env":                   {[]string{"--driver", "x", "--env", "NAME"}, "NAME=VALUE"},
		"inherit-env":           {[]string{"--driver", "x", "--inherit-env", "A=b"}, "name of a variable"},
		"time-out scale":        {[]string{"--driver", "x", "--timeout-scale", "0"}, "--timeout-scale"},
		"what the driver's profile does not bind": {
			[]string{"--driver", refclientLine(), "--id", "C-OUT-05"}, "does not bind the profile directional",
		},
	})
}

func TestProfileOfADriver(t *testing.T) {
	g := NewWithT(t)
	r := dshconform(t, "client", "--id", "C-OUT-05", "--driver", refclientLine("--profile", "receipt"))
	g.Expect(r.code).To(Equal(0), r.out+r.err)
	g.Expect(r.out).To(ContainSubstring("the receipt profile is the one that the driver names"))
	r = dshconform(t, "client", "--id", "C-DIR-04", "--profile", "accepted", "--driver", refclientLine("--profile", "receipt"))
	g.Expect(r.out).To(And(ContainSubstring("the driver names the receipt profile, not accepted"), ContainSubstring("run instead: "+binary+" client --profile receipt")))
}

func TestListOfClients(t *testing.T) {
	g := NewWithT(t)
	var rows []listedRow
	g.Expect(json.Unmarshal([]byte(dshconform(t, "list", "--json", "--label", "client").out), &rows)).To(Succeed())
	g.Expect(len(rows)).To(BeNumerically(">=", 46))
	for _, r := range rows {
		g.Expect(r.Implemented).To(BeTrue(), r.ID)
		g.Expect(r.Level == "OBSERVE" || len(r.Faults) > 0).To(BeTrue(), "%s has a fault", r.ID)
		for _, v := range r.Variants {
			g.Expect(v.Implemented).To(BeTrue(), v.ID)
		}
	}
	g.Expect(dshconform(t, "explain", "C-DIR-04").out).To(ContainSubstring("Shown by: dshconform refclient --fault request-with-pending-id-settles"))
	g.Expect(refclient.Faults()).NotTo(BeEmpty())
}
