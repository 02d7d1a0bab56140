package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/fixtures/drivers"
)

// The drivers that the program writes run as they are, and are sound.
func TestWrittenDriversAreSound(t *testing.T) {
	for _, name := range drivers.Names() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := filepath.Join(t.TempDir(), "my driver")
			r := dshconform(t, "driver", "init", name, dir)
			g.Expect(r.code).To(Equal(0), r.err)
			g.Expect(filepath.Join(dir, "driver.md")).To(BeARegularFile())
			again := dshconform(t, "driver", "init", name, dir)
			g.Expect(again.code).To(Equal(2))
			g.Expect(again.err).To(ContainSubstring("exists already"))

			command := drivers.Command(name)
			if command == "" {
				return
			}
			if _, err := exec.LookPath(strings.Fields(command)[0]); err != nil {
				t.Skip(err)
			}
			r = invocation{dir: dir, args: []string{"driver", "check", "--json", command}}.run(t)
			g.Expect(r.code).To(Equal(0), r.out+r.err)
			var said struct {
				Schema   string
				Driver   struct{ SDK, Profile string }
				Findings []struct{ Step, Problem, Skipped string }
			}
			g.Expect(json.Unmarshal([]byte(r.out), &said)).To(Succeed())
			g.Expect(said.Driver.SDK).To(Equal("tiny-client"))
			g.Expect(len(said.Findings)).To(BeNumerically(">=", 18))

			r = invocation{dir: dir, args: []string{"client", "--driver", command, "--label", "OUT || RSP || CLS"}}.run(t)
			g.Expect(r.code).To(Equal(0), "what it drives conforms: "+r.out+r.err)
		})
	}
}

func TestDriverCheckOfWhatIsNoDriver(t *testing.T) {
	for command, says := range map[string]string{
		"cat": "echoes its commands", "true": "it ended (exit status 0)", "/nonexistent/driver": "/nonexistent/driver",
		"sh -c 'echo no module named sdk >&2; exit 3'": "no module named sdk", "sleep 1000": "does not answer",
	} {
		t.Run(command, func(t *testing.T) {
			g := NewWithT(t)
			args := []string{"driver", "check", command}
			if strings.HasPrefix(command, "sleep") { // only a deadline ends it
				args = append(args, "--timeout-scale", "0.2")
			}
			r := dshconform(t, args...)
			g.Expect(r.code).To(Equal(3), r.out+r.err)
			g.Expect(r.out).To(ContainSubstring(says))
		})
	}
	for _, wrong := range [][]string{{"driver", "check"}, {"driver", "check", ""}, {"driver", "check", "a 'b"}, {"driver", "init", "cobol", "x"},
		{"driver", "check", "--timeout-scale", "0", "true"}, {"driver", "check", "--env", "X", "true"}} {
		NewWithT(t).Expect(dshconform(t, wrong...).code).To(Equal(2), "%q", wrong)
	}
}

// By hand the relay says what it is for, and its scratch is not the suite's.
func TestRelayByHand(t *testing.T) {
	g := NewWithT(t)
	r := dshconform(t, "relay")
	g.Expect(r.code).To(Equal(2))
	g.Expect(r.err).To(ContainSubstring("launched by an SDK under test"))
	r = dshconform(t, "relay", filepath.Join(os.TempDir(), "no-such-socket"))
	g.Expect(r.code).To(Equal(1))
	g.Expect(r.err).To(ContainSubstring("is not there"))
}
