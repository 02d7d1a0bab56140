package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

func parse(s string) Message { return Parse(Line{Raw: []byte(s), Size: int64(len(s))}) }

func TestParseClassifies(t *testing.T) {
	for _, c := range []struct {
		line string
		kind Kind
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"m"}`, Request},
		{`{"id":null,"method":"m"}`, Request},
		{`{"id":1,"method":5}`, Request},
		{`{"jsonrpc":"2.0","id":"a","result":{}}`, Response},
		{`{"id":null,"error":{}}`, Response},
		{`{"jsonrpc":"2.0","method":"m","params":{}}`, Notification},
		{`{"method":7}`, Other},
		{`{}`, Other},
		{`{"ID":1,"Method":"m"}`, Other},
		{" \t{\"id\":1}\r", Response},
		{"", Blank},
		{" \t\r", Blank},
		{"\u00a0", Junk},
		{"\ufeff{}", Junk},
		{"null", Junk},
		{"[{}]", Junk},
		{"{} {}", Junk},
		{`{"a":NaN}`, Junk},
		{`{"id":1,`, Junk},
		{"hello", Junk},
		{"{\"a\":\"\x00\"}", Junk},
	} {
		for _, end := range []string{"\n", ""} {
			NewWithT(t).Expect(parse(c.line+end).Kind).To(Equal(c.kind), "%q", c.line)
		}
	}
}

func TestParseSeesWhatStrictReadersObjectTo(t *testing.T) {
	g := NewWithT(t)
	g.Expect(parse(`{"id":1,"result":{"a":1,"b":{"x":1,"x":2}}}`).DuplicateName).To(Equal("x"))
	g.Expect(parse(`{"id":1,"id":2}`).DuplicateName).To(Equal("id"))
	g.Expect(parse(`{"id":1,"id":2}`).ID.Token()).To(Equal("2"))
	g.Expect(parse(`{"id":1,"result":{}}`).DuplicateName).To(BeEmpty())
	m := parse("{\"id\":1,\"result\":\"a\xffb\"}")
	g.Expect(m.InvalidUTF8).To(BeTrue())
	g.Expect(m.Kind).To(Equal(Response), "the line is still read")
	g.Expect(parse("[1]").IsArray).To(BeTrue())
	g.Expect(parse(`{"id":1,"result":{},"extra":1}`).Extra).To(Equal([]string{"extra"}))
	g.Expect(parse("hello\n").Problem).To(ContainSubstring("no JSON"))
	g.Expect(parse("true\n").Problem).To(Equal("JSON, but no object"))
	deep := `{"id":1,"result":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "}"
	g.Expect(parse(deep).Kind).To(Equal(Junk), "the reader's own depth is bounded")
}

func TestVersionIsAStringHoweverItIsWritten(t *testing.T) {
	for raw, want := range map[string]bool{
		`"2.0"`: true, `"\u0032.0"`: true, `"\u0032\u002e\u0030"`: true, `"2.00"`: false, `2.0`: false, `""`: false, `null`: false, `["2.0"]`: false,
	} {
		line := Line{Raw: []byte(`{"jsonrpc":` + raw + `,"method":"x"}` + "\n")}
		if got := Parse(line).V2(); got != want {
			t.Errorf("jsonrpc %s is 2.0: %v", raw, got)
		}
	}
}

func TestIDsCompareByTypeAndValue(t *testing.T) {
	g := NewWithT(t)
	same := [][2]string{{"1", "1.0"}, {"100", "1e2"}, {"-0", "0"}, {`"a"`, `"\u0061"`}, {"0.1", "1e-1"}, {"1e400", "10e399"}}
	for _, p := range same {
		g.Expect(RawID(p[0]).Key()).To(Equal(RawID(p[1]).Key()), "%s and %s", p[0], p[1])
	}
	different := [][2]string{{"1", `"1"`}, {"9007199254740993", "9007199254740992"}, {`""`, "null"}, {"1e400", "1e401"}, {"0.1", "0.10000000000000001"}}
	for _, p := range different {
		g.Expect(RawID(p[0]).Key()).NotTo(Equal(RawID(p[1]).Key()), "%s and %s", p[0], p[1])
	}
	confused := [][2]string{{"1", `"1"`}, {"9007199254740993", "9007199254740992"}, {"0.1", "0.10000000000000001"}}
	for _, p := range confused {
		g.Expect(RawID(p[0]).LooseKey()).To(Equal(RawID(p[1]).LooseKey()), "%s and %s", p[0], p[1])
	}
	g.Expect(RawID("9007199254740991").Exact()).To(BeTrue())
	g.Expect(RawID("9007199254740992").Exact()).To(BeFalse())
	g.Expect(RawID("1.0").Exact()).To(BeFalse())
	g.Expect(ID{}.Present()).To(BeFalse())
}

func TestAnIntegerIsOneInAnyNotation(t *testing.T) {
	g := NewWithT(t)
	for token, value := range map[string]int64{
		"0": 0, "-0": 0, "0e9": 0, "5": 5, "5.0": 5, "1e3": 1000, "1E+3": 1000, "12.50e1": 125, "-32603.000": -32603, "1e18": 1e18,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64, "0.0005e4": 5,
	} {
		n, ok := Object{"n": jsontext.Value(token)}.Int("n")
		g.Expect(ok).To(BeTrue(), token)
		g.Expect(n).To(Equal(value), token)
	}
	for _, token := range []string{"", "1.5", "5e-1", "1e19", "9223372036854775808", "1e99999999999999999999", `"5"`, "null", "true", "[5]", "{}"} {
		_, ok := Object{"n": jsontext.Value(token)}.Int("n")
		g.Expect(ok).To(BeFalse(), token)
	}
}

func TestDocumentsAreWhatValidatorsRead(t *testing.T) {
	g := NewWithT(t)
	for _, text := range []string{
		`{"a":[1,2.50,1e400,{"b":null}],"c":true,"d":false,"e":"\u00e9\n","":{}}`, `[]`, `[[],[[]]]`, `"x"`, `-0`, `null`, `true`,
	} {
		want, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		g.Expect(err).NotTo(HaveOccurred())
		if want == nil {
			g.Expect(Document(jsontext.Value(text))).To(BeNil(), text)
			continue
		}
		g.Expect(Document(jsontext.Value(text))).To(Equal(want), text)
	}
	g.Expect(Document(jsontext.Value(`{"a":1,"a":2}`))).To(Equal(map[string]any{"a": json.Number("2")}), "the last counts, as elsewhere")
	for _, broken := range []string{``, `{`, `{"a"`, `{"a":`, `[1,`, `[1 2]`, `{"a":}`, "ÿ"} {
		Document(jsontext.Value(broken)) // comes to its end
	}
}

func TestOnlyLFEndsALine(t *testing.T) {
	g := NewWithT(t)
	in := "a\u2028b\u0085c\rd\n\n\x00\xff\ntail"
	s := NewScanner(iotest.OneByteReader(strings.NewReader(in)), 0)
	var got []string
	for {
		l, err := s.Next()
		if err != nil {
			g.Expect(err).To(Equal(io.EOF))
			break
		}
		got = append(got, string(l.Raw))
		g.Expect(l.Terminated()).To(Equal(strings.HasSuffix(string(l.Raw), "\n")))
	}
	g.Expect(got).To(Equal([]string{"a\u2028b\u0085c\rd\n", "\n", "\x00\xff\n", "tail"}))
}

func TestLinesOverTheBoundAreCountedNotKept(t *testing.T) {
	g := NewWithT(t)
	s := NewScanner(io.MultiReader(strings.NewReader(strings.Repeat("x", 1000)+"\n"), strings.NewReader("ok\n")), 64)
	l, err := s.Next()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(l.Cut()).To(BeTrue())
	g.Expect(l.Size).To(Equal(int64(1001)))
	g.Expect(len(l.Raw)).To(Equal(64))
	l, err = s.Next()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(l.Raw)).To(Equal("ok\n"))
}

func TestScannerKeepsTheErrorOfTheStream(t *testing.T) {
	g := NewWithT(t)
	broken := errors.New("broken")
	s := NewScanner(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), 0)
	l, _ := s.Next()
	g.Expect(string(l.Raw)).To(Equal("a\n"))
	l, _ = s.Next()
	g.Expect(string(l.Raw)).To(Equal("b"))
	_, err := s.Next()
	g.Expect(err).To(MatchError(broken))
}

func TestScannerLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.SampledFrom([]byte{'\n', '\r', 'a', 0, 0xff, 0xe2, 0x80, 0xa8})).Draw(t, "in")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 5), 1, 10).Draw(t, "sizes")
		s := NewScanner(&pieces{in, sizes, 0}, 0)
		var got []byte
		for {
			l, err := s.Next()
			if err != nil {
				break
			}
			if n := bytes.IndexByte(l.Raw, '\n'); n >= 0 && n != len(l.Raw)-1 {
				t.Fatalf("a line with an LF inside: %q", l.Raw)
			}
			got = append(got, l.Raw...)
		}
		if !bytes.Equal(got, in) {
			t.Fatalf("got %q of %q", got, in)
		}
	})
}

type pieces struct {
	rest  []byte
	sizes []int
	i     int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := min(p.sizes[p.i%len(p.sizes)], len(p.rest), len(b))
	p.i++
	copy(b, p.rest[:n])
	p.rest = p.rest[n:]
	return n, nil
}

func TestTranscriptsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := time.Unix(1_700_000_000, 0).UTC()
		var buf bytes.Buffer
		w, err := NewTranscriptWriter(&buf, Header{Profile: "receipt", Started: start})
		if err != nil {
			t.Fatal(err)
		}
		lines := rapid.SliceOf(rapid.SliceOf(rapid.Byte())).Draw(t, "lines")
		for i, raw := range lines {
			l := Line{Raw: raw, Size: int64(len(raw)), Dir: ServerToClient, At: start.Add(time.Duration(i) * time.Second)}
			if err := w.Write(l); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		r, err := NewTranscriptReader(&buf)
		if err != nil {
			t.Fatal(err)
		}
		for i, raw := range lines {
			l, err := r.Next()
			if err != nil {
				t.Fatalf("entry %d: %v", i, err)
			}
			if !bytes.Equal(l.Raw, raw) || l.Dir != ServerToClient || l.At.Sub(start) != time.Duration(i)*time.Second {
				t.Fatalf("entry %d: %q at %v, not %q", i, l.Raw, l.At, raw)
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatalf("behind the last: %v", err)
		}
	})
}

func TestWhatIsNoTranscriptIsSaid(t *testing.T) {
	g := NewWithT(t)
	_, err := NewTranscriptReader(strings.NewReader("hello\n"))
	g.Expect(err).To(MatchError(ContainSubstring("line 1")))
	_, err = NewTranscriptReader(strings.NewReader(`{"schema":"other/v1"}` + "\n"))
	g.Expect(err).To(MatchError(ContainSubstring("other/v1")))
	r, err := NewTranscriptReader(strings.NewReader(`{"schema":"dshconform.transcript/v1"}` + "\n{\"t\":1}\n"))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = r.Next()
	g.Expect(err).To(MatchError(ContainSubstring("line 2")))
}

func TestEqualComparesByMeaning(t *testing.T) {
	g := NewWithT(t)
	g.Expect(SameValue([]byte(`{"a":1,"b":[1e2,"x"]}`), []byte(`{"b": [100,"\u0078"], "a": 1.0}`))).To(BeTrue())
	for _, p := range [][2]string{{`{"a":1}`, `{"a":1,"b":null}`}, {`[1,2]`, `[2,1]`}, {`"1"`, `1`}, {`null`, `false`}} {
		g.Expect(SameValue([]byte(p[0]), []byte(p[1]))).To(BeFalse(), "%s and %s", p[0], p[1])
	}
}
