package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"
	"pgregory.net/rapid"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/suites/requirements"
)

func TestLabelsInExpressions(t *testing.T) {
	for expression, want := range map[string][]string{
		"":                             nil,
		"DIR":                          {"DIR"},
		" S-DIR && !(MUST || SHOULD) ": {"S-DIR", "MUST", "SHOULD"},
		"DIR, FRM":                     {"DIR", "FRM"},
		"/^S-(D|F)/ && MUST":           {"MUST"},
		"!/a/":                         nil,
	} {
		NewWithT(t).Expect(labelsIn(expression)).To(Equal(want), expression)
	}
}

func TestDidYouMean(t *testing.T) {
	g := NewWithT(t)
	known := []string{"DIR", "FRM", "directional", "stderr-flood"}
	for word, want := range map[string]string{
		"FMR": "FRM", "dri": "DIR", "driectional": "directional", "directionla": "directional", "stderr-floods": "stderr-flood",
		"XYZ": "", "": "", "no-such-label": "",
	} {
		if want != "" {
			want = " (did you mean " + want + "?)"
		}
		g.Expect(didYouMean(word, known)).To(Equal(want), word)
	}
}

func TestDistanceIsAMetricOfEdits(t *testing.T) {
	word := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := distance(a, b)
		if d != distance(b, a) || (d == 0) != (a == b) || d > max(len(a), len(b)) || d < max(len(a), len(b))-min(len(a), len(b)) {
			t.Fatalf("distance %d of %q and %q", d, a, b)
		}
	})
}

func TestSeeds(t *testing.T) {
	g := NewWithT(t)
	for _, text := range []string{"", "-1", "1.5", "0x10", "9007199254740992", "18446744073709551616", "Random"} {
		_, err := seedOf(text)
		g.Expect(err).To(HaveOccurred(), text)
	}
	seed, err := seedOf("9007199254740991")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(seed).To(Equal(uint64(seedLimit - 1)))
	for range 100 {
		seed, err := seedOf("random")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(seed).To(BeNumerically("<", uint64(seedLimit)))
	}
}

// repeated is what a shell makes of a command line that repeats a run with these flags.
func repeated(t *testing.T, args []string, command []string) string {
	t.Helper()
	f := &serverFlags{judgingFlags: judgingFlags{set: pflag.NewFlagSet("server", pflag.ContinueOnError)}}
	f.add()
	if err := f.set.Parse(args); err != nil {
		t.Fatal(err)
	}
	seed, err := seedOf(f.seed)
	if err != nil {
		t.Fatal(err)
	}
	return repeater{
		flags: &f.judgingFlags, role: requirements.Server, own: serverOwn, profile: protocol.Receipt, seed: seed, command: command,
	}.ids("S-A-01", "S-B-02/x")
}

func TestRepeatKeepsTheSubjectAndItsOptions(t *testing.T) {
	g := NewWithT(t)
	kept := []string{
		"--target", "a b.yaml", "--cwd", "/w", "--process-cwd", "p", "--provider", "x", "--model", "m", "--timeout-scale", "2", "--catalogue", "2026.12",
		"--seed", "7", "--strict", "--inherit-env", "A", "--inherit-env", "B", "--env", "C=d e", "--env", "MY_API_KEY=secret",
	}
	dropped := []string{"--report", "r", "--json", "--verbose", "--no-color", "--min-exercised", "3", "--label", "DIR", "--id", "S-Z-09", "--baseline", "b"}
	got := repeated(t, append(kept, dropped...), []string{"./serve", "--flag", "it's"})
	g.Expect(got).To(Equal(os.Args[0] + ` server --profile receipt --target 'a b.yaml' --cwd /w --process-cwd p --provider x --model m` +
		` --timeout-scale 2 --catalogue 2026.12 --seed 7 --strict --inherit-env A --inherit-env B --id S-A-01,S-B-02/x` +
		` --env 'C=d e' --env MY_API_KEY="$MY_API_KEY" -- ./serve --flag 'it'\''s'`))
	g.Expect(repeated(t, nil, nil)).To(Equal(os.Args[0] + " server --profile receipt --id S-A-01,S-B-02/x"))
}

// The supervisor takes over before what it does not need is initialised, or each process of a run pays for it.
func TestSupervisorStartsEarly(t *testing.T) {
	g := NewWithT(t)
	trace := func(arg string) string {
		c := exec.CommandContext(t.Context(), binary, arg)
		c.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		out, _ := c.CombinedOutput() // the supervisor has no harness to talk to, and says so
		return string(out)
	}
	const costly = "init github.com/santhosh-tekuri/jsonschema"
	g.Expect(trace("version")).To(ContainSubstring(costly), "the rest of the program does initialise it")
	supervisor := trace("supervise")
	g.Expect(strings.Count(supervisor, "init ")).To(BeNumerically(">", 5))
	g.Expect(supervisor).NotTo(ContainSubstring(costly))
}

func TestAnEmptyIDSelectsNothing(t *testing.T) {
	g := NewWithT(t)
	r := dshconform(t, "server", "--id", "")
	g.Expect(r.code).To(Equal(2), "%s%s", r.out, r.err)
	g.Expect(r.err).To(ContainSubstring("names no requirement"))
}
