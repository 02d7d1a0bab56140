package matrix

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// program is the built program, without the race detector: what is tested here is
// how it blames, not its memory.
var program string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "dshconform-matrix-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "dshconform")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	out, err := exec.Command("go", "build", "-o", program, "github.com/dshconform/dshconform/cmd/dshconform").CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// The faults are run by shares, each fault in one of its profiles: all of them take
// long. The share and the profiles move on with every day; DSHCONFORM_ROTATE=N takes
// those of the Nth day. `make faults` runs every fault in every profile.
func rotation(t *testing.T) int {
	t.Helper()
	day := int(time.Now().Unix() / (24 * 60 * 60))
	if v := os.Getenv("DSHCONFORM_ROTATE"); v != "" {
		var err error
		day, err = strconv.Atoi(v)
		NewWithT(t).Expect(err).NotTo(HaveOccurred(), "DSHCONFORM_ROTATE")
	}
	t.Logf("the same share again: DSHCONFORM_ROTATE=%d", day)
	return day
}

func TestServerFaultsAreBlamedExactly(t *testing.T) {
	blamedExactly(t, Options{Role: "server", Share: 30}, 8)
}

// What a client breaks often shows as a call that hangs, for a deadline.
func TestClientFaultsAreBlamedExactly(t *testing.T) {
	blamedExactly(t, Options{Role: "client", Share: 48, Args: []string{"--timeout-scale", "0.5"}}, 3)
}

func blamedExactly(t *testing.T, o Options, least int) {
	t.Helper()
	g := NewWithT(t)
	o.Program, o.Parallel = program, runtime.NumCPU()
	o.Rotate = rotation(t)
	runs, err := All(context.Background(), o)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(runs)).To(BeNumerically(">=", least), "a share of the faults of ref%s", o.Role)
	for _, r := range runs {
		if !r.Exact() {
			t.Error(r)
		}
	}
}

func TestRotationComesToEveryFaultInEachProfile(t *testing.T) {
	g := NewWithT(t)
	var faults []Fault
	want := map[string]bool{}
	for i := range 50 {
		f := Fault{Name: strconv.Itoa(i), Profiles: []string{"directional", "accepted", "receipt"}[:1+i%3]}
		faults = append(faults, f)
		for _, p := range f.Profiles {
			want[f.Name+" "+p] = true
		}
	}
	for _, share := range []int{1, 6, 7} {
		got := map[string]bool{}
		for day := range 6 * share { // three profiles, or two of them
			for _, r := range (Options{Share: share, Rotate: day}).choose(faults) {
				got[r.Fault.Name+" "+r.Profile] = true
			}
		}
		g.Expect(got).To(Equal(want))
	}
	g.Expect(Options{Every: true}.choose(faults)).To(HaveLen(len(want)))
}

func TestARunIsComparedByVariant(t *testing.T) {
	g := NewWithT(t)
	r := Run{Fault: Fault{Name: "f", Breaks: []string{"S-A-01/x", "S-A-02"}}, Profile: "receipt", Failed: []string{"S-A-01/y", "S-A-02"}}
	g.Expect(r.Exact()).To(BeFalse())
	g.Expect(r.Missing()).To(Equal([]string{"S-A-01/x"}))
	g.Expect(r.Blamed()).To(Equal([]string{"S-A-01/y"}))
	g.Expect(r.String()).To(Equal("f (receipt): NOT CAUGHT S-A-01/x BLAMED BESIDES S-A-01/y"))
	r.Failed = []string{"S-A-01/x", "S-A-02"}
	g.Expect(r.Exact()).To(BeTrue())
	r.Fault.Shows, r.Observed = []string{"S-B-01", "S-B-02"}, map[string]string{"S-B-01": "one", "S-B-02": "two"}
	r.compare(Run{Observed: map[string]string{"S-B-01": "one", "S-B-02": "three"}})
	g.Expect(r.Exact()).To(BeFalse())
	g.Expect(r.String()).To(Equal("f (receipt): NOT TOLD APART BY S-B-01"))
	r.Alike = nil
	r.Err = context.DeadlineExceeded
	g.Expect(r.Exact()).To(BeFalse(), "a run that went wrong proves nothing")
}
