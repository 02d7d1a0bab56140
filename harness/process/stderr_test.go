package process

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestRingKeepsTheTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(0, 20).Draw(t, "size")
		r := newRing(size)
		var all []byte
		for _, piece := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 50)).Draw(t, "pieces") {
			r.write(piece)
			all = append(all, piece...)
			want := all[max(0, len(all)-size):]
			if got := r.tail(); !bytes.Equal(got, want) {
				t.Fatalf("tail is %q, not %q", got, want)
			}
			if r.total != int64(len(all)) {
				t.Fatalf("total is %d, not %d", r.total, len(all))
			}
			if len(r.buf) != size {
				t.Fatalf("the buffer has grown to %d", len(r.buf))
			}
		}
	})
}
