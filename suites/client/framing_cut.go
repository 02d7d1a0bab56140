package client

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// escaped is a text whose characters have one byte each, and escapes in JSON. Characters
// of several bytes are a variant of their own.
const escaped = `"quoted" \ and ` + "\t \n \u0001 behind"

// cutAnywhere cuts answers at one byte each: everywhere in the line with the text and in
// that which settles the call, and at some places between and before them.
func cutAnywhere(t *T) {
	p := t.Launch(protocol.MethodPrompt)
	turn := harness.Turn{Text: escaped}
	first := p.Ask()
	if !first.Settles("an answer in one piece is read", first.Turn(turn)) {
		return
	}
	// Places count from the end: other answers have other numbers, and other lengths.
	for place := 1; ; place++ {
		a, ok := p.Asks("an answer that is cut is read, and the next call works")
		if !ok {
			return
		}
		answer := a.Turn(turn)
		before, last := a.settling(answer)
		whole := append(joined(before), last...)
		for place < len(whole)-1 && !a.worthCutting(whole, len(last), place) {
			place++
		}
		if place >= len(whole)-1 {
			break
		}
		at := len(whole) - place
		expected := fmt.Sprintf("an answer that is cut at byte %d of %d is read", at, len(whole))
		if !a.writeApart(expected, whole[:at], whole[at:]) || !a.Gets(expected, answer) {
			return
		}
	}
}

// worthCutting says whether an answer is cut at a place, counted from its end.
func (a *Asked) worthCutting(whole []byte, last, place int) bool {
	text := bytes.Index(whole, []byte(`\"quoted`))
	at := len(whole) - place
	inText := at >= text && at < text+len(harness.Encode(escaped))
	return place <= last || inText || place%20 == 0
}

// byteByByte writes the answer of a prompt one byte at a time, from its text on.
func byteByByte(t *T) {
	const expected = "an answer that comes one byte at a time is read"
	a := t.Asked()
	answer := a.Turn(harness.Turn{Text: escaped})
	before, last := a.settling(answer)
	whole := append(joined(before), last...)
	start := max(bytes.Index(whole, []byte(`\"quoted`)), 0)
	pieces := append([][]byte{whole[:start]}, slices.Collect(slices.Chunk(whole[start:], 1))...)
	if a.writeApart(expected, pieces...) && a.Gets(expected, answer) {
		a.Works("the next call works behind an answer that came one byte at a time")
	}
}

// cutInCharacters cuts inside every character that has several bytes.
func cutInCharacters(t *T) {
	a := t.Asked()
	a.carries("text that is cut inside its characters reaches the caller", "é 你好 שלום 👩‍👩‍👧 𝒳", inCharacters)
}

// inCharacters cuts between the bytes of each character that has several.
func inCharacters(b []byte) (pieces [][]byte) {
	start := 0
	for i := 0; i < len(b); {
		_, size := utf8.DecodeRune(b[i:])
		for j := 1; j < size; j++ {
			pieces = append(pieces, b[start:i+j])
			start = i + j
		}
		i += size
	}
	return append(pieces, b[start:])
}
