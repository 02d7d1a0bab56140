package protocol

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/wire"
)

// What a result has beyond the protocol is counted, in every method of it, and violates nothing.
func TestMembersBeyondTheProtocol(t *testing.T) {
	for _, c := range []struct {
		profile        Profile
		method, result string
		extras         []string
	}{
		{Directional, "initialize", `{"serverInfo":{"name":"deepseek-harness-sdk-runtime","version":"1"}}`, nil},
		{Directional, "initialize", `{"serverInfo":{"name":"deepseek-harness-sdk-runtime","version":"1","commit":"c"},"protocolVersion":"2"}`,
			[]string{"initialize result.protocolVersion", "initialize result.serverInfo.commit"}},
		{Directional, "session/prompt", `{"status":"ok","reason":{"kind":"completed"},"messageId":"m"}`, []string{"session/prompt result.messageId"}},
		{Accepted, "session/prompt", `{"accepted":true,"messageId":"m"}`, []string{"session/prompt result.messageId"}},
		{Receipt, "session/prompt", `{"messageId":"m","status":"queued"}`, []string{"session/prompt result.status"}},
		{Receipt, "shutdown", `{"sessions":0}`, []string{"shutdown result.sessions"}},
		{Receipt, "session/resume", `{"anything":true}`, nil},
	} {
		g := NewWithT(t)
		m := NewMonitor(Options{Profile: c.profile})
		m.Client(raw(wire.ClientToServer, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{}}`, c.method)))
		g.Expect(m.Server(raw(wire.ServerToClient, `{"jsonrpc":"2.0","id":1,"result":`+c.result+`}`)).Violations).To(BeEmpty(), c.result)
		names := []string{}
		for name := range m.Extras() {
			names = append(names, name)
		}
		g.Expect(names).To(ConsistOf(c.extras), "%s %s", c.profile, c.result)
	}
}
