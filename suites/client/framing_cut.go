package client

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/protocol"
)

// mostCuts bounds the places at which one answer is cut, a prompt for each.
const mostCuts = 100

// cutAnywhere cuts answers at one byte each: everywhere in the line that settles the
// call, and at some places before.
func cutAnywhere(t *T) {
	p := t.Launch(protocol.MethodPrompt)
	first := p.Ask()
	answer := first.Turn(harness.Turn{})
	before, last := first.settling(answer)
	if !first.Settles("an answer in one piece is read", answer) {
		return
	}
	// From the end: other answers have other numbers in them, and other lengths.
	var places []int
	for i := range len(last) {
		places = append(places, i)
	}
	rest := len(bytes.Join(before, nil))
	for i := 1; i < rest; i += max(1, rest/20) {
		places = append(places, len(last)+i)
	}
	step := (len(places) + mostCuts - 1) / mostCuts
	for i, place := range places {
		// Around the end of the line every place counts.
		if place > 8 && i%step != 0 {
			continue
		}
		a := p.Ask()
		answer := a.Turn(harness.Turn{})
		before, last := a.settling(answer)
		whole := append(bytes.Join(before, nil), last...)
		at := max(1, len(whole)-place)
		expected := fmt.Sprintf("an answer that is cut at byte %d of %d is read", at, len(whole))
		if !a.writeApart(expected, whole[:at], whole[at:]) || !a.Gets(expected, answer) {
			return
		}
	}
}

// byteByByte writes the answer of a prompt one byte at a time.
func byteByByte(t *T) {
	const expected = "an answer that comes one byte at a time is read"
	a := t.Asked()
	answer := a.Turn(harness.Turn{})
	before, last := a.settling(answer)
	pieces := [][]byte{bytes.Join(before, nil)}
	for chunk := range slices.Chunk(last, 1) {
		pieces = append(pieces, chunk)
	}
	if a.writeApart(expected, pieces...) && a.Gets(expected, answer) {
		a.Works("the next call works behind an answer that came one byte at a time")
	}
}

// cutInCharacters cuts inside every character that has several bytes, in an error that
// every SDK tells and in the text of an answer.
func cutInCharacters(t *T) {
	const said = "é 你好 שלום 👩‍👩‍👧 𝒳"
	p := t.Launch(protocol.MethodPrompt)
	a := p.Ask()
	a.failsWith("text that is cut inside its characters reaches the caller, in the message of an error", said, inCharacters)
	if t.Failed() {
		return
	}
	const expected = "text that is cut inside its characters reaches the caller, in the text of an answer"
	next := p.Ask()
	answer := next.Turn(harness.Turn{Text: said})
	if next.writeApart(expected, inCharacters(answer.Joined())...) {
		next.Gets(expected, answer)
	}
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
