package tap

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/dshconform/dshconform/harness/protocol"
)

func TestZZSuffix(t *testing.T) {
	files, _ := filepath.Glob(os.Getenv("TRS"))
	total, bad := 0, 0
	for _, f := range files {
		data, _ := os.ReadFile(f)
		if len(data) > 3<<20 {
			continue
		}
		ls := bytes.SplitAfter(data, []byte("\n"))
		head := bytes.TrimRight(ls[0], "\n}")
		head = append(append([]byte{}, head...), []byte(`,"joined":true}`+"\n")...)
		step := max(1, len(ls)/80)
		for i := 1; i < len(ls); i += step {
			doc := append(append([]byte{}, head...), bytes.Join(ls[i:], nil)...)
			var vs []protocol.Violation
			_, err := Check(bytes.NewReader(doc), JudgeOptions{OnViolation: func(v protocol.Violation) { vs = append(vs, v) }})
			if err != nil {
				if bytes.Contains(head, []byte(`"joined":true,"joined"`)) {
					break
				}
				head2 := ls[0]
				doc = append(append([]byte{}, head2...), bytes.Join(ls[i:], nil)...)
				if _, err = Check(bytes.NewReader(doc), JudgeOptions{OnViolation: func(v protocol.Violation) { vs = append(vs, v) }}); err != nil {
					t.Fatal(err)
				}
			}
			total++
			if len(vs) > 0 {
				bad++
				if bad < 40 {
					t.Errorf("%s from %d: %s expected %s actual %s", f, i, vs[0].Row, vs[0].Expected, vs[0].Actual)
				}
			}
		}
	}
	t.Logf("%d suffixes %d bad", total, bad)
}
