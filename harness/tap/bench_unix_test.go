//go:build unix

package tap

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/dshconform/dshconform/harness/wire"
)

// BenchmarkTap compares the speed of bytes through `cat` alone with that through a tap
// of `cat`, in the same run: x-of-cat is the ratio. A server that echoes at full speed
// is more than any judge keeps up with, so most of it passes unjudged; what a slower
// conversation costs is shown by BenchmarkJudge.
func BenchmarkTap(b *testing.B) {
	cat, err := exec.LookPath("cat")
	if err != nil {
		b.Skip("there is no cat here")
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	data := events(64 << 20)
	for b.Loop() {
		plain := echoed(b, data, "", cat)
		tapped := echoed(b, data, "tap", self, cat)
		b.ReportMetric(float64(len(data))/(1<<20)/plain.Seconds(), "cat-MiB/s")
		b.ReportMetric(float64(len(data))/(1<<20)/tapped.Seconds(), "tap-MiB/s")
		b.ReportMetric(plain.Seconds()/tapped.Seconds(), "x-of-cat")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkJudge is how fast a conversation is judged that never waits for anything.
func BenchmarkJudge(b *testing.B) {
	data := events(4 << 20)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		q := newQueue(defaultQueue)
		l := &listener{queue: q, judge: NewJudge(JudgeOptions{}), in: wire.NewSplitter(0), out: wire.NewSplitter(0)}
		l.piece(piece{dir: "s2c", data: data, last: true})
		if r := l.judge.Result(); r.Lines == 0 {
			b.Fatal("nothing was judged")
		}
	}
}

// events are about n bytes of events of one session, each in its line.
func events(n int) []byte {
	var out bytes.Buffer
	text := bytes.Repeat([]byte("x"), 700)
	for seq := 0; out.Len() < n; seq++ {
		fmt.Fprintf(&out, `{"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"s","event":{"type":"note","seq":%d,"time":1796050026712,"data":{"text":"%s"}}}}`+"\n", seq, text)
	}
	return out.Bytes()
}

// echoed is how long a program takes to give data back.
func echoed(b *testing.B, data []byte, fake, program string, args ...string) time.Duration {
	b.Helper()
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), fakeVariable+"="+fake)
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	var write sync.WaitGroup
	write.Go(func() {
		defer in.Close()
		_, _ = in.Write(data) // what is missing shows at the other end
	})
	got, err := io.Copy(io.Discard, out)
	took := time.Since(start)
	write.Wait()
	if waitErr := c.Wait(); waitErr != nil || err != nil || got != int64(len(data)) {
		b.Fatalf("%d bytes of %d came back: %v %v", got, len(data), err, waitErr)
	}
	return took
}
