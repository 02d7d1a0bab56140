package protocol

import (
	"encoding/base64"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
)

func failing(message string) string {
	return ask + fmt.Sprintf(`< {"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":%q}}`, message)
}

func TestErrorMessagesDiscloseNothing(t *testing.T) {
	o := Options{Environment: []Variable{
		{"BASE_URL", "http://127.0.0.1:4711"}, {"HOME", "/scratch/home"}, {"FLAG", "1"},
	}}
	for _, c := range []struct {
		name, message string
		wrong         bool
	}{
		{"a sentence", "unknown method: at once (line 12)", false},
		{"a JavaScript stack", "no\n    at Runtime.run (/app/lib/a.js:120:15)", true},
		{"a JavaScript stack without a function", "no\n    at /app/lib/a.js:120:15", true},
		{"a Java stack", "no\n\tat org.a.B.c(B.java:120)", true},
		{"a .NET stack", "no\n   at A.B() in /app/b.cs:line 12", true},
		{"a Python traceback", "Traceback (most recent call last):\n  File \"a.py\", line 1", true},
		{"a Go stack", "goroutine 7 [running]:\nmain.main()", true},
		{"an endpoint", "request to http://127.0.0.1:4711/chat failed", true},
		{"another port that begins alike", "request to http://127.0.0.1:47110 failed", false},
		{"a directory", "no such file: /scratch/home", true},
		{"a file below it", "no such file: /scratch/home/a", false},
		{"a value too short to tell", "1 error", false},
	} {
		want := BeEmpty()
		if c.wrong {
			want = Equal([]string{"S-ERR-07"})
		}
		NewWithT(t).Expect(conversation(o, failing(c.message))).To(want, c.name)
	}
	// what the client said itself is no secret of the environment
	quoted := `> {"jsonrpc":"2.0","id":"a","method":"/scratch/home"}` + "\n" + `< {"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"unknown: /scratch/home"}}`
	NewWithT(t).Expect(conversation(o, quoted)).To(BeEmpty())
}

func TestSecretsAreFoundInBase64(t *testing.T) {
	const secret = "0123456789abcdef?>~0"
	o := Options{Secrets: []string{secret}}
	for _, text := range []string{secret, "user:" + secret, ":" + secret + "x", "ab" + secret} {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
			NewWithT(t).Expect(conversation(o, failing("Basic "+enc.EncodeToString([]byte(text))))).To(Equal([]string{"S-SEC-02"}), text)
		}
		NewWithT(t).Expect(conversation(o, failing(text))).To(Equal([]string{"S-SEC-02"}), text)
	}
	NewWithT(t).Expect(conversation(o, failing(secret[:len(secret)-1]))).To(BeEmpty())
}

func TestIDsThatAreNoASCIIHaveARequirementOfTheirOwn(t *testing.T) {
	script := `> {"jsonrpc":"2.0","id":"\u00e9","method":"x"}` + "\n" + `< {"jsonrpc":"2.0","id":"e\u0301","result":{}}`
	NewWithT(t).Expect(conversation(Options{}, script)).To(Equal([]string{"S-ENC-11"}))
}

// TestPromptsWithoutASessionAreNotThoseOfTheEmptyOne: a prompt whose sessionId is
// no string has no part in the session whose id is empty.
func TestPromptsWithoutASessionAreNotThoseOfTheEmptyOne(t *testing.T) {
	script := `
> {"jsonrpc":"2.0","id":"a","method":"session/prompt","params":{"sessionId":"","contentBlocks":[]}}
< {"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"no"}}
> {"jsonrpc":"2.0","id":"b","method":"session/prompt","params":{"sessionId":5,"contentBlocks":[]}}
< {"jsonrpc":"2.0","id":"b","result":{"accepted":true}}`
	NewWithT(t).Expect(conversation(Options{Profile: Accepted}, script)).To(BeEmpty())
}
