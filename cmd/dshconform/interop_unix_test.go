//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/interop"
	"github.com/dshconform/dshconform/suites/requirements"
)

// refserverLine is the reference server as a command line.
func refserverLine(args ...string) string {
	return reports.ShellJoin(append([]string{binary, "refserver"}, args...))
}

// pairsOf are a client and a server of each profile as flags.
func pairsOf(profiles ...string) (args []string) {
	for _, p := range profiles {
		args = append(args, "--client", p+"="+refclientLine("--profile", p), "--server", p+"="+refserverLine("--profile", p))
	}
	return args
}

// The reference endpoints of a profile work together, and those of different profiles do not, which violates nothing.
func TestReferenceEndpointsTogether(t *testing.T) {
	g := NewWithT(t)
	at := t.TempDir()
	dir := filepath.Join(at, "out")
	r := invocation{dir: at, args: append([]string{"interop", "--report", "out"}, pairsOf(requirements.Profiles()...)...)}.run(t)
	g.Expect(r.code).To(Equal(1), "%s%s", r.out, r.err)
	g.Expect(lastLine(r.out)).To(MatchRegexp(`^6 of 9 pairs do not work; \d+ rows judged in what they said$`))
	g.Expect(r.out).To(MatchRegexp(`(?m)^ +directional +accepted +receipt$`))
	g.Expect(r.out).To(MatchRegexp(`(?m)^directional +works, 8 +directional meets accepted +directional meets receipt$`))

	res := results(t, dir)
	g.Expect(res.Kind).To(Equal(reports.KindInterop))
	g.Expect(res.Cells).To(HaveLen(9))
	g.Expect(res.Summary.Fail).To(BeZero(), "a server is judged by the profile that it speaks")
	for _, cell := range res.Cells {
		g.Expect(cell.Works).To(Equal(cell.Client == cell.Server), "%s × %s", cell.Client, cell.Server)
		g.Expect(cell.Violations).To(BeEmpty(), "%s × %s", cell.Client, cell.Server)
		g.Expect(cell.Transcripts).NotTo(BeEmpty())
		g.Expect(filepath.Join(dir, filepath.FromSlash(cell.Transcripts[0]))).To(BeARegularFile())
		if !cell.Works {
			g.Expect(cell.Spoken).To(Equal(cell.Server))
			continue
		}
		var names []string
		for _, c := range cell.Conversations {
			names = append(names, c.Name)
			g.Expect(c.Verdict).To(Equal(reports.TalkWorks), "%s of %s: %s", c.Name, cell.Client, c.Why)
		}
		g.Expect(names).To(Equal(interop.Conversations()))
		check := dshconform(t, "check", filepath.Join(dir, filepath.FromSlash(cell.Transcripts[0])))
		g.Expect(check.code).To(Equal(0), "%s%s", check.out, check.err)
	}
	nothingLeft(t)
}

// A fault of either side shows in its pairs alone, with the command that repeats one.
func TestFaultsOfPairs(t *testing.T) {
	for name, tc := range map[string]struct{ client, server, conversation, violation string }{
		"a server that refuses nothing": {"", "overlap-returns-a-result", "an overlap", "S-OVL-01"},
		"a client that writes more":     {"initialized-notification", "", "", "C-DIR-01"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			client, server := []string{}, []string{}
			if tc.client != "" {
				client = []string{"--fault", tc.client}
			}
			if tc.server != "" {
				server = []string{"--fault", tc.server}
			}
			dir := t.TempDir()
			r := dshconform(t, "interop", "--report", dir, "--timeout-scale", "0.5",
				"--client", "sound="+refclientLine(), "--client", "other="+refclientLine(client...),
				"--server", "sound="+refserverLine(), "--server", "other="+refserverLine(server...))
			for _, cell := range results(t, dir).Cells {
				faulty := tc.client != "" && cell.Client == "other" || tc.server != "" && cell.Server == "other"
				if !faulty {
					g.Expect(cell.Works).To(BeTrue(), "%s × %s: %s%s", cell.Client, cell.Server, r.out, r.err)
					continue
				}
				g.Expect(cell.Works).To(BeFalse(), "%s × %s", cell.Client, cell.Server)
				g.Expect(cell.Violations).To(ContainElement(HaveField("ID", tc.violation)), "%s × %s", cell.Client, cell.Server)
				for _, c := range cell.Conversations {
					g.Expect(c.Verdict == reports.TalkFails).To(Equal(c.Name == tc.conversation), "%s: %s", c.Name, c.Why)
				}
				out, err := exec.CommandContext(t.Context(), "sh", "-c", cell.Repeat).CombinedOutput()
				var exit *exec.ExitError
				g.Expect(err).To(BeAssignableToTypeOf(exit), "%s", out)
				g.Expect(lastLine(string(out))).To(HavePrefix("1 of 1 pairs do not work"))
			}
			nothingLeft(t)
		})
	}
}

// Every cell has transcripts of its own, also where names are the same but for what a file's can't have.
func TestTranscriptsOfPairsThatAreNamedAlike(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	args := []string{"interop", "--report", dir}
	for _, name := range []string{"a b", "a_b", "A_B", "a.b", "a"} {
		args = append(args, "--client", name+"="+refclientLine())
	}
	r := dshconform(t, append(args, "--server", "c="+refserverLine(), "--server", "b.c="+refserverLine())...)
	files := map[string]bool{}
	for _, cell := range results(t, dir).Cells {
		for _, file := range cell.Transcripts {
			g.Expect(files).NotTo(HaveKey(strings.ToLower(file)), "%s%s", r.out, r.err)
			files[strings.ToLower(file)] = true
			g.Expect(filepath.Join(dir, filepath.FromSlash(file))).To(BeARegularFile())
		}
	}
}

// What a server that does not start says on stderr is shown whole.
func TestServerThatSaysWhyItEnds(t *testing.T) {
	g := NewWithT(t)
	r := dshconform(t, "interop", "--client", "c="+refclientLine(), "--server", "s=sh -c 'echo one >&2; echo two >&2; exit 4'")
	g.Expect(r.code).To(Equal(1), "%s%s", r.out, r.err)
	g.Expect(r.out).To(And(ContainSubstring("one\n"), ContainSubstring("two\n")))
}

// What a baseline knows does not keep a pair from working.
func TestInteropBaseline(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "known.yaml")
	g.Expect(os.WriteFile(file, []byte("schema: dshconform.baseline/v1\nknown:\n  - {id: C-DIR-01, reason: it announces itself}\n"), 0o600)).To(Succeed())
	r := dshconform(t, "interop", "--baseline", file, "--client", "c="+refclientLine("--fault", "initialized-notification"), "--server", "s="+refserverLine())
	g.Expect(r.code).To(Equal(0), "%s%s", r.out, r.err)
	g.Expect(r.out).To(ContainSubstring("works, 8, 1 known"))
}

// Clients and servers come from a file as well.
func TestFileOfPairs(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "pairs.yaml")
	text := "schema: dshconform.interop/v1\nclients:\n  - {name: c, driver: " + `"` + refclientLine() + `"` + "}\nservers:\n  - {name: s, command: " + `"` + refserverLine() + `"` + "}\n"
	g.Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
	r := dshconform(t, "interop", "--file", file)
	g.Expect(r.code).To(Equal(0), "%s%s", r.out, r.err)
	g.Expect(lastLine(r.out)).To(HavePrefix("all 1 pairs work"))
}

// What repeats a pair of a file holds it to what the file says, its baselines too, and to no other pair.
func TestRepeatOfAPairOfAFile(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	known := "schema: dshconform.baseline/v1\nknown:\n  - {id: C-DIR-01, reason: it announces itself}\n"
	g.Expect(os.WriteFile(filepath.Join(dir, "known.yaml"), []byte(known), 0o600)).To(Succeed())
	text := fmt.Sprintf("schema: dshconform.interop/v1\nclients:\n  - {name: c, driver: %q, baseline: known.yaml}\n  - {name: d, driver: %q}\n"+
		"servers:\n  - {name: s, command: %q}\n", refclientLine("--fault", "initialized-notification"), refclientLine(), refserverLine("--fault", "overlap-returns-a-result"))
	g.Expect(os.WriteFile(filepath.Join(dir, "pairs.yaml"), []byte(text), 0o600)).To(Succeed())
	r := invocation{dir: dir, args: []string{"interop", "--file", "pairs.yaml", "--pair", "c=s", "--report", "out"}}.run(t)
	cells := results(t, filepath.Join(dir, "out")).Cells
	g.Expect(cells).To(HaveLen(1), "%s%s", r.out, r.err)
	g.Expect(cells[0].Repeat).To(HaveSuffix(" interop --file pairs.yaml --pair c=s"))
	again := exec.CommandContext(t.Context(), "sh", "-c", cells[0].Repeat)
	again.Dir = dir
	out, _ := again.CombinedOutput()  // its last line tells
	said := func(out string) string { // how many rows were exercised depends on how frames arrive
		works, _, _ := strings.Cut(lastLine(out), ";")
		return works
	}
	g.Expect(said(string(out))).To(Equal(said(r.out)))
}

func TestWrongUseOfInterop(t *testing.T) {
	file := func(text string) []string {
		path := filepath.Join(t.TempDir(), "p.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{"--file", path}
	}
	const schema = "schema: dshconform.interop/v1\n"
	client, server := []string{"--client", "c=" + refclientLine()}, []string{"--server", "s=" + refserverLine()}
	refusesMisuse(t, "interop", map[string]misused{
		"no client":             {server, "there is no client"},
		"no server":             {client, "there is no server"},
		"a name twice":          {append(append([]string{"--server", "s=x"}, client...), server...), `two are named "s"`},
		"no target file":        {append([]string{"--server", "t=/nonexistent/t.yaml"}, client...), "t.yaml"},
		"a pair of nobody":      {append(append([]string{"--pair", "c=x"}, client...), server...), `--pair "c=x"`},
		"no file":               {append([]string{"--file", "nope.yaml"}, client...), "nope.yaml"},
		"file: schema":          {file("schema: x\n"), "p.yaml:1:"},
		"file: key":             {file(schema + "client: []\n"), "p.yaml:2:"},
		"file: no driver":       {file(schema + "clients:\n  - {name: c}\n"), "p.yaml:3:"},
		"file: command, target": {file(schema + "servers:\n  - {name: c, command: x, target: y}\n"), "a command or a target"},
		"file: baseline":        {file(schema + "clients:\n  - {name: c, driver: x, baseline: nope.yaml}\n"), "p.yaml:3:"},
	})
}

// A driver that can't be run ends the run; a server that can't is its pair's affair.
func TestInteropWithout(t *testing.T) {
	g := NewWithT(t)
	r := dshconform(t, "interop", "--client", "broken=true", "--server", "s="+refserverLine())
	g.Expect(r.code).To(Equal(3), "%s%s", r.out, r.err)
	g.Expect(r.err).To(ContainSubstring("broken: "))
	r = dshconform(t, "interop", "--client", "c="+refclientLine(), "--server", "none=/nonexistent/server", "--server", "s="+refserverLine())
	g.Expect(r.code).To(Equal(1), "%s%s", r.out, r.err)
	g.Expect(r.out).To(And(ContainSubstring("c × none"), ContainSubstring("the server does not start")))
	g.Expect(lastLine(r.out)).To(HavePrefix("1 of 2 pairs do not work"))
}

// The real reference server in TypeScript works with the reference client, where it was built.
func TestTypeScriptServerTogether(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "fixtures/typescript/dist/server-main.js")); err != nil {
		t.Skip("fixtures/typescript/test.sh build has not been run")
	}
	g := NewWithT(t)
	r := invocation{dir: root, args: []string{"interop", "--client", "go=" + refclientLine(), "--server", "ts=fixtures/typescript/target.yaml"}}.run(t)
	g.Expect(r.code).To(Equal(0), "%s%s", r.out, r.err)
	g.Expect(strings.Contains(r.out, "works, 8")).To(BeTrue(), r.out)
}
