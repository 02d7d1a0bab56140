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
// long. DSHCONFORM_ROTATE=N takes the Nth next share and profiles; `make faults` runs
// every fault in every profile.

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
	o.Rotate, _ = strconv.Atoi(os.Getenv("DSHCONFORM_ROTATE"))
	runs, err := All(context.Background(), o)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(runs)).To(BeNumerically(">=", least), "a share of the faults of ref%s", o.Role)
	for _, r := range runs {
		if !r.Exact() {
			t.Error(r)
		}
	}
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
