package wire

import (
	"strings"
	"testing"
)

func TestNormal(t *testing.T) {
	for in, want := range map[string]string{
		`{"b":1,"a":{"d":[],"c":2}}`: `{"a":{"c":2,"d":[]},"b":1}`,
		`[1.0, 1e2 , -0, 2.50]`:      `[1,100,0,2.5]`,
		`9007199254740993`:           `9007199254740993`,
		`1e400`:                      `1e400`,
		`"\u8fd0\ud83d\ude80\/"`:     `"运🚀/"`,
		`"a\ud800b"`:                 `"a«lone d800»b"`,
		`"\ud83d\ude80\uD800\\u"`:    `"🚀«lone d800»\\u"`,
		`"a\u0000"`:                  `"a\u0000"`,
		` null `:                     `null`,
	} {
		if got := Normal([]byte(strings.TrimSpace(in))); got != want {
			t.Errorf("%s is brought to %s, not to %s", in, got, want)
		}
	}
}
