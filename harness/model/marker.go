package model

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Schema is the name and version of the script grammar.
const Schema = "dshconform.script/v1"

const (
	markerPrefix = "[[" + Schema + " "
	markerSuffix = "]]"
)

// ErrNoMarker says that no text holds a marker.
var ErrNoMarker = errors.New("no text holds a marker " + markerPrefix + "{…}" + markerSuffix)

// A MarkerError says why the marker that counts is none: the model call that brought it is answered by
// HTTP 400 with this text.
type MarkerError struct {
	Excerpt string // the beginning of the marker as it came
	Err     error
}

func (e *MarkerError) Error() string {
	return fmt.Sprintf("the marker that begins %q is no script: %v", e.Excerpt, e.Err)
}

func (e *MarkerError) Unwrap() error { return e.Err }

// Marker is the text to put into a prompt so that the model answers by s. It is ASCII: whatever a subject does
// to the characters of a prompt, the script still arrives.
func (s Script) Marker() string {
	data, err := s.MarshalJSON()
	if err != nil {
		// Strings, numbers and slices alone: there is nothing that could fail to marshal.
		panic(err)
	}
	return markerPrefix + escapeNonASCII(data) + markerSuffix
}

// Prompt is text, a space, and the marker of s.
func (s Script) Prompt(text string) string { return text + " " + s.Marker() }

// escapeNonASCII rewrites valid JSON, where such characters stand inside strings alone.
func escapeNonASCII(data []byte) string {
	var out strings.Builder
	out.Grow(len(data))
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		switch {
		case r < utf8.RuneSelf:
			out.WriteByte(byte(r))
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		data = data[n:]
	}
	return out.String()
}

// Find gives the script of the last marker in texts, ok false where there is none or it is malformed.
func Find(texts []string) (script Script, ok bool) {
	script, err := Search(texts)
	return script, err == nil
}

// Search is [Find] with a reason: [ErrNoMarker], or a *[MarkerError] where the last marker is malformed. It
// looks from the last text backwards; in a text the last marker counts.
func Search(texts []string) (Script, error) {
	for i := len(texts) - 1; i >= 0; i-- {
		script, err := lastMarker(texts[i])
		if !errors.Is(err, ErrNoMarker) {
			return script, err
		}
	}
	return Script{}, ErrNoMarker
}

// lastMarker reads forward, so that what looks like a marker inside the strings of another is none.
func lastMarker(text string) (found Script, err error) {
	err = ErrNoMarker
	for {
		at := strings.Index(text, markerPrefix)
		if at < 0 {
			return found, err
		}
		text = text[at+len(markerPrefix):]
		script, length, scriptErr := readMarker(text)
		if scriptErr != nil {
			found = Script{}
			err = &MarkerError{Excerpt: excerpt(text), Err: scriptErr}
		} else {
			found, err = script, nil
		}
		text = text[length:]
	}
}

// readMarker reads the rest of a marker, behind its prefix, and gives the length that it has read for sure: 0
// where no JSON object stands there, so that a marker inside the junk is still found.
func readMarker(text string) (script Script, length int, err error) {
	if !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") {
		return script, 0, errors.New("no JSON object behind the prefix")
	}
	decoder := jsontext.NewDecoder(strings.NewReader(text),
		jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	value, err := decoder.ReadValue()
	if err != nil {
		return script, 0, fmt.Errorf("reading its JSON object: %w", err)
	}
	length = int(decoder.InputOffset())
	if !strings.HasPrefix(strings.TrimLeft(text[length:], " \t\r\n"), markerSuffix) {
		return script, 0, fmt.Errorf("no %s behind its JSON object", markerSuffix)
	}
	return script, length, script.UnmarshalJSON(value)
}

func excerpt(text string) string {
	const most = 80
	if len(text) > most {
		text = text[:most] + "…"
	}
	return markerPrefix + text
}
