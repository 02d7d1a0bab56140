package protocol

import (
	"fmt"
	"testing"

	"github.com/dshconform/dshconform/harness/wire"
)

// BenchmarkMonitor is the cost of judging one event of a stream.
func BenchmarkMonitor(b *testing.B) {
	m := NewMonitor(Options{Profile: Receipt})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		raw := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"s","event":{"type":"assistant/chunk","seq":%d,"time":1796046906723,"data":{"step":1,"chunk":{"type":"text-delta","index":0,"text":"there"}}}}}`+"\n", i)
		m.Server(wire.Line{Raw: raw, Size: int64(len(raw))})
	}
}
