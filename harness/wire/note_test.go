package wire

import (
	"bytes"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestNotes(t *testing.T) {
	g := NewWithT(t)
	g.Expect(IsSignalNote(SignalNote("SIGTERM"))).To(BeTrue())
	g.Expect(IsSignalNote("the prompt was sent")).To(BeFalse(), "a remark")
	status, ok := IsEndNote(EndNote("exit status 3"))
	g.Expect(ok).To(BeTrue())
	g.Expect(status).To(Equal("exit status 3"))
	what, ok := IsGapNote(GapNote("3 lines"))
	g.Expect(ok).To(BeTrue())
	g.Expect(what).To(Equal("3 lines"))
	_, ok = IsGapNote(NoteInputClosed)
	g.Expect(ok).To(BeFalse())
	g.Expect(Line{Raw: []byte("stdin closed\n")}.NoteText()).To(Equal(NoteInputClosed))
}

func TestTranscriptKeepsThatItWasJoined(t *testing.T) {
	g := NewWithT(t)
	var b bytes.Buffer
	w, err := NewTranscriptWriter(&b, Header{Joined: true, Started: time.Unix(1, 0)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(w.Flush()).To(Succeed())
	r, err := NewTranscriptReader(&b)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Header.Joined).To(BeTrue())
}

func TestTranscriptThatIsCut(t *testing.T) {
	g := NewWithT(t)
	var b bytes.Buffer
	w, err := NewTranscriptWriter(&b, Header{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(w.Write(Line{Dir: ServerToClient, Raw: []byte("one\n"), Size: 4})).To(Succeed())
	g.Expect(w.Write(Line{Dir: ServerToClient, Raw: []byte("two\n"), Size: 4})).To(Succeed())
	g.Expect(w.Flush()).To(Succeed())
	r, err := NewTranscriptReader(bytes.NewReader(b.Bytes()[:b.Len()-4]))
	g.Expect(err).NotTo(HaveOccurred())
	l, err := r.Next()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(l.Raw)).To(Equal("one\n"))
	_, err = r.Next()
	g.Expect(errors.Is(err, ErrCutTranscript)).To(BeTrue(), "%v", err)
	g.Expect(errors.Is(err, io.EOF)).To(BeFalse())
}

func TestSplitterWithABound(t *testing.T) {
	g := NewWithT(t)
	s := NewSplitter(3)
	var got []Line
	s.Push([]byte("12345\n1\n"), func(raw []byte, size int64) { got = append(got, Line{Raw: raw, Size: size}) })
	g.Expect(got).To(HaveLen(2))
	g.Expect(string(got[0].Raw)).To(Equal("123"))
	g.Expect(got[0].Size).To(Equal(int64(6)))
	g.Expect(got[0].Cut()).To(BeTrue())
	g.Expect(got[1].Cut()).To(BeFalse())
}

// The page for readers names every note that is read, and every member of the header.
func TestPageOfRecordings(t *testing.T) {
	page, err := os.ReadFile("../../docs/recordings.md")
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	for _, word := range []string{
		NoteInputClosed, NoteOutputClosed, NoteOutputEnded, NoteStopped, SignalNote("SIGTERM"), GapNote("…"), EndNote("…"),
		string(ClientToServer), string(ServerToClient), string(ModelCall), string(StandardError), string(Note),
	} {
		g.Expect(string(page)).To(ContainSubstring("`"+word+"`"), word)
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[Header](), reflect.TypeFor[entry]()} {
		for i := range typ.NumField() {
			name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			g.Expect(string(page)).To(ContainSubstring("| `"+name+"` |"), name)
		}
	}
}
