//go:build unix

package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/fixtures/refclient"
	"github.com/dshconform/dshconform/harness/client/relay"
	"github.com/dshconform/dshconform/harness/process"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/requirements"
	"github.com/dshconform/dshconform/suites/spec"
)

// TestMain makes the test binary its own supervisor, its own relay and its own drivers.
func TestMain(m *testing.M) {
	// A binary with the race detector sleeps for a second before it exits, supervisors included.
	if os.Getenv("GORACE") == "" {
		_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	switch {
	case relay.Wanted(os.Args):
		os.Exit(relay.Run(os.Args))
	case len(os.Args) > 1 && os.Args[1] == "supervise":
		os.Exit(process.Supervise())
	case len(os.Args) > 3 && os.Args[1] == "driver":
		os.Exit(offers[os.Args[3]].drive(os.Args[2]))
	case len(os.Args) > 5 && os.Args[1] == "judge":
		os.Exit(judge(os.Args[2], os.Args[3], os.Args[4], os.Args[5:]))
	}
	os.Exit(m.Run())
}

// offer is the reference client as an SDK that has less, or does more.
type offer struct {
	hello map[string][]string // members of the greeting that are others
	eager bool                // it launches when a client is made
}

var offers = map[string]offer{
	"eager":         {eager: true},
	"streams":       {hello: map[string][]string{"outcome": {"status", "reason"}, "callbacks": {"prompt"}, "filters": {}}},
	"subscriptions": {hello: map[string][]string{"outcome": {"status", "reason"}, "callbacks": {"subscribe"}, "filters": {"session"}}},
	"asked":         {hello: map[string][]string{"outcome": {"status", "reason"}, "callbacks": {"prompt"}, "filters": {"all", "session"}}},
	"events":        {hello: map[string][]string{"outcome": {"status", "reason", "events"}, "callbacks": {}, "filters": {}}},
	"uncalled":      {hello: map[string][]string{"callbacks": {"subscribe"}, "filters": {"throw"}}},
	"no-reason":     {hello: map[string][]string{"outcome": {"status", "finalResponse"}}},
	"text-alone":    {hello: map[string][]string{"outcome": {"finalResponse"}}},
}

// ours is more than the ids that the suite gives in a test.
const ours = 1 << 30

// drive serves commands, and changes what is said of itself on its way out.
func (o offer) drive(profile string) int {
	in, commands := io.Pipe()
	replies, out := io.Pipe()
	go func() {
		for r := bufio.NewReader(os.Stdin); ; {
			line, err := r.ReadBytes('\n')
			_, _ = commands.Write(line)
			if err != nil {
				commands.Close()
				return
			}
			var m struct{ Call, Client string }
			if o.eager && json.Unmarshal(line, &m) == nil && m.Call == "create" {
				fmt.Fprintf(commands, `{"id":%d,"call":"start","client":%q}`+"\n", ours, m.Client)
			}
		}
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		r := bufio.NewReader(replies)
		for line, err := r.ReadBytes('\n'); err == nil; line, err = r.ReadBytes('\n') {
			_, _ = os.Stdout.Write(o.changed(line))
		}
	}()
	code := refclient.Run(context.Background(), refclient.Options{Profile: profile, Stdin: in, Stdout: out})
	out.Close()
	<-done
	return code
}

func (o offer) changed(line []byte) []byte {
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if d.Decode(&m) != nil || m["id"] == json.Number(fmt.Sprint(ours)) {
		return nil
	}
	result, _ := m["result"].(map[string]any)
	if result == nil {
		return line
	}
	if _, greeting := result["graces"]; greeting {
		for name, value := range o.hello {
			result[name] = value
		}
		if o.eager {
			result["calls"] = slices.DeleteFunc(result["calls"].([]any), func(call any) bool { return call == "start" })
		}
	}
	if _, settled := result["finalResponse"]; settled && o.hello["outcome"] != nil {
		for name := range result {
			if !slices.Contains(o.hello["outcome"], name) {
				delete(result, name)
			}
		}
	}
	changed, _ := json.Marshal(m)
	return append(changed, '\n')
}

// judge judges an offer by some ids, and writes the run. It is a process of its own: Ginkgo runs specs once in each.
func judge(profile, offer, dir string, ids []string) int {
	cat, err := requirements.Load()
	if err != nil {
		panic(err)
	}
	program, err := os.Executable()
	if err != nil {
		panic(err)
	}
	run, err := Run(context.Background(), Config{
		Options: spec.Options{
			Profile: protocol.Profile(profile), Program: program, Catalogue: cat, Scratch: dir, TimeoutScale: 5,
			Select: func(row requirements.Row, variant string) bool {
				return slices.Contains(ids, requirements.JoinID(row.ID, variant))
			},
		},
		Driver: process.Command{
			Argv: []string{program, "driver", profile, offer}, Dir: dir,
			Env: process.Environment(process.EnvOptions{Set: []string{"GORACE=atexit_sleep_ms=0"}}),
		},
	})
	if err != nil {
		panic(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(run); err != nil {
		panic(err)
	}
	return 0
}

// What an SDK does not offer is not held against it, and what it does offer is judged: each of these is sound.
func TestSoundClientsThatOfferLess(t *testing.T) {
	const passes, lacks = reports.Pass, reports.NotApplicable
	for _, c := range []struct {
		offer   string
		profile protocol.Profile
		want    map[string]reports.Verdict
	}{
		{"eager", protocol.Directional, map[string]reports.Verdict{"C-CLS-02/before-start": passes, "C-CLS-02/idempotent": passes}},
		{"streams", protocol.Receipt, map[string]reports.Verdict{"C-NTF-01": passes, "C-NTF-02": passes, "C-NTF-03/nested": passes, "C-NTF-05/callback": passes}},
		{"subscriptions", protocol.Accepted, map[string]reports.Verdict{"C-NTF-01": passes, "C-NTF-02": passes, "C-NTF-03/earlier-child": passes, "C-NTF-05/callback": passes}},
		{"asked", protocol.Directional, map[string]reports.Verdict{"C-NTF-01": passes, "C-NTF-05/callback": passes}},
		{"events", protocol.Directional, map[string]reports.Verdict{"C-NTF-01": passes, "C-NTF-02": passes, "C-NTF-03/child": lacks}},
		{"uncalled", protocol.Directional, map[string]reports.Verdict{"C-NTF-05/callback": lacks, "C-NTF-05/filter": passes}},
		{"no-reason", protocol.Accepted, map[string]reports.Verdict{"C-OUT-04": passes}},
		{"text-alone", protocol.Accepted, map[string]reports.Verdict{"C-OUT-04": lacks}},
		{"no-reason", protocol.Directional, map[string]reports.Verdict{"C-OUT-03": passes, "C-OUT-01/ok": reports.Fail}},
	} {
		t.Run(c.offer+"/"+string(c.profile), func(t *testing.T) {
			g := NewWithT(t)
			args := append([]string{"judge", string(c.profile), c.offer, t.TempDir()}, slices.Sorted(maps.Keys(c.want))...)
			child := exec.CommandContext(t.Context(), os.Args[0], args...)
			var errs bytes.Buffer
			child.Stderr = &errs
			out, err := child.Output()
			g.Expect(err).NotTo(HaveOccurred(), errs.String())
			var run reports.Run
			g.Expect(json.Unmarshal(out, &run)).To(Succeed())
			got, said := map[string]reports.Verdict{}, ""
			for i := range run.Requirements {
				for _, p := range run.Requirements[i].Parts() {
					if _, wanted := c.want[p.ID]; wanted {
						got[p.ID] = p.Outcome.Verdict
						said += fmt.Sprintln(p.ID, p.Outcome.Actual, p.Outcome.Reason)
					}
				}
			}
			g.Expect(got).To(Equal(c.want), said)
		})
	}
}
