package server

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

func TestProfileOfTheFirstAnswer(t *testing.T) {
	for text, want := range map[string]struct {
		early   bool
		profile protocol.Profile
	}{
		`"result":{"status":"ok","reason":{"kind":"completed"}}`:           {profile: protocol.Directional},
		`"result":{"accepted":true}`:                                       {profile: protocol.Accepted},
		`"result":{"messageId":"m-1"}`:                                     {early: true, profile: protocol.Receipt},
		`"result":{"messageId":"m-1","status":"ok","reason":{"kind":"x"}}`: {profile: protocol.Directional},
		`"result":{"messageId":"m-1","status":"queued"}`:                   {early: true, profile: protocol.Receipt},
		`"result":{"status":"ok"}`:                                         {early: true, profile: protocol.Directional},
		`"result":{}`:                                                      {},
		`"result":null`:                                                    {},
		`"error":{"code":-32603,"message":"no"}`:                           {},
	} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			raw := []byte(`{"jsonrpc":"2.0","id":1,` + text + "}\n")
			a := firstAnswer{wire.Parse(wire.Line{Raw: raw, Size: int64(len(raw))}), want.early}
			p, how, err := a.profile()
			if want.profile == "" {
				g.Expect(err).To(MatchError(ErrNoProfile))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(p).To(Equal(want.profile))
			g.Expect(how).To(ContainSubstring("the first prompt was answered with {"))
		})
	}
	_, _, err := firstAnswer{}.profile()
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("was not answered")))
}
