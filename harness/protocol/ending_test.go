package protocol

import (
	"testing"

	. "github.com/onsi/gomega"
)

// TestSmallestEndings has the smallest conversations that break the rules of the
// end, with a turn in flight or without.
func TestSmallestEndings(t *testing.T) {
	const (
		prompt   = `> {"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s","contentBlocks":[]}}` + "\n"
		starts   = `< {"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"s","event":{"type":"turn/start","seq":0,"time":1700000000000,"data":{"turn":1}}}}` + "\n"
		ends     = `< {"jsonrpc":"2.0","method":"session.event","params":{"sessionId":"s","event":{"type":"turn/end","seq":1,"time":1700000000000,"data":{"turn":1,"reason":{"kind":"aborted"}}}}}` + "\n"
		aborted  = `< {"jsonrpc":"2.0","id":"p","result":{"status":"aborted","reason":{"kind":"aborted"}}}` + "\n"
		receipt  = `< {"jsonrpc":"2.0","id":"p","result":{"messageId":"m"}}` + "\n"
		shutdown = `> {"jsonrpc":"2.0","id":"q","method":"shutdown"}` + "\n"
		bye      = `< {"jsonrpc":"2.0","id":"q","result":{}}` + "\n"
		woken    = `< {"jsonrpc":"2.0","method":"session/woken","params":{"sessionId":"s"}}` + "\n"
		told     = "! told"
		turn     = prompt + starts
	)
	for _, c := range []struct {
		name, script string
		profile      Profile
		rows         []string
	}{
		{"a turn that is aborted and answered", turn + shutdown + ends + aborted + bye + told, Directional, nil},
		{"a prompt answered behind the shutdown", turn + shutdown + ends + bye + aborted + told, Directional, []string{"S-SHD-05"}},
		{"a prompt never answered", turn + shutdown + ends + bye + told, Directional, []string{"S-SHD-04"}},
		{"a prompt answered twice", turn + shutdown + ends + aborted + aborted + bye + told, Directional, []string{"S-MSG-04"}},
		{"a receipt behind the shutdown's response", prompt + shutdown + bye + receipt + told, Receipt, nil},
		{"a receipt that never comes", prompt + shutdown + bye + told, Receipt, []string{"S-SHD-04"}},
		{"a process that was killed owes nothing", turn + shutdown + ends, Directional, nil},
		{"a notification behind the last response", shutdown + bye + `< {"jsonrpc":"2.0","method":"bye","params":{}}` + "\n" + told, Directional, []string{"S-SHD-02"}},
		{"the same where nothing forbids it", shutdown + bye + `< {"jsonrpc":"2.0","method":"bye","params":{}}` + "\n" + told, Receipt, nil},
		{"an answer to what came behind the shutdown", shutdown + ask + bye + `< {"jsonrpc":"2.0","id":"a","error":{"code":1,"message":"m"}}` + "\n" + told, Directional, nil},
		{"a prompt behind the shutdown gets none", shutdown + prompt + bye + told, Directional, nil},
		{"a prompt behind the shutdown runs", shutdown + prompt + bye + woken + starts + ends + told, Directional, []string{"S-SHD-06"}},
		{"a prompt behind the shutdown is queued and told of", shutdown + prompt + bye + woken + told, Directional, []string{"S-SHD-02"}},
		{"a last frame that is cut", shutdown + `< {"jsonrpc":"2.0","id":"q","res\LF` + "\n" + told, Receipt, []string{"S-FLS-02", "S-SHD-01"}},
		{"last words that are no frame", shutdown + bye + `< goodbye\LF` + "\n" + told, Receipt, []string{"S-FRM-01"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			NewWithT(t).Expect(conversation(Options{Profile: c.profile}, c.script)).To(Equal(c.rows))
		})
	}
}
