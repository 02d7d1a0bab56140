package reports

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestSaverWritesTheLastState(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	c := collect(t, "directional", "S-FRM-01", "S-FRM-02", "S-FRM-04")
	s := NewSaver(dir, func() *Run {
		r := sampleRun()
		r.Complete = false
		r.Requirements = c.Requirements(false, "")
		Judge(r)
		return r
	})
	for _, id := range []string{"S-FRM-01", "S-FRM-02", "S-FRM-04"} {
		c.Record(id, passed)
		s.Changed()
	}
	g.Expect(s.Close(nil)).To(Succeed(), "it waits for what is still to be written")
	r, err := Read(filepath.Join(dir, FileName))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Requirements).To(HaveLen(3))
	g.Expect(r.Complete).To(BeFalse())
	g.Expect(r.Exit).To(Equal(ExitFails), "a run that was killed conforms to nothing")

	g.Expect(s.Close(finish(c))).To(Succeed())
	r, err = Read(filepath.Join(dir, FileName))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Complete).To(BeTrue())
	g.Expect(r.Exit).To(BeZero())
}

func TestSaverReportsWhatItCouldNotWrite(t *testing.T) {
	g := NewWithT(t)
	s := NewSaver(filepath.Join(t.TempDir(), "none"), sampleRun)
	s.Changed()
	g.Expect(s.Close(nil)).To(MatchError(os.ErrNotExist))
}
