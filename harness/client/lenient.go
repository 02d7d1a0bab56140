package client

import "bytes"

// deepest is how deep a message of a driver may be nested as it is. What an SDK hands on may be nested deeper than any
// reader of ours takes.
const deepest = 1000

// tooDeep stands in the place of what is nested deeper.
const tooDeep = `"(nested too deep)"`

// notNumbers are what JSON writers of some languages make of numbers that JSON does not have.
var notNumbers = [][]byte{[]byte("-Infinity"), []byte("Infinity"), []byte("NaN")}

// lenient makes JSON of what is not quite, and is no fault of a driver that hands on what its SDK gave: what is nested
// too deep becomes a string, and so do infinite numbers and NaN. Anything else stays as wrong as it was.
func lenient(line []byte) []byte {
	var out bytes.Buffer
	depth := 0
	for i := 0; i < len(line); {
		if depth <= deepest {
			if word := notNumber(line[i:]); word != nil {
				out.WriteString(`"` + string(word) + `"`)
				i += len(word)
				continue
			}
		}
		c := line[i]
		end := i + 1
		switch c {
		case '"':
			end = i + stringLength(line[i:])
		case '[', '{':
			if depth++; depth == deepest+1 {
				out.WriteString(tooDeep)
			}
		}
		if depth <= deepest {
			out.Write(line[i:end])
		}
		if c == ']' || c == '}' {
			depth--
		}
		i = end
	}
	return out.Bytes()
}

func notNumber(rest []byte) []byte {
	for _, word := range notNumbers {
		if bytes.HasPrefix(rest, word) {
			return word
		}
	}
	return nil
}

// stringLength is the length of the string that rest begins with, its quotes included, up to the end where none closes it.
func stringLength(rest []byte) int {
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(rest)
}
