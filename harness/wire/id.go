package wire

import (
	"bytes"
	"math/big"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ID is the id of a request or a response as the token that stood on the wire.
// The zero value is the absence of an id.
type ID struct{ token jsontext.Value }

// StringID makes the id of a string.
func StringID(s string) ID {
	b, err := jsontext.AppendQuote(nil, s)
	if err != nil { // invalid UTF-8: AppendQuote has written U+FFFD in its place
		return ID{jsontext.Value(b)}
	}
	return ID{jsontext.Value(b)}
}

// IntID makes the id of an integer.
func IntID(n int64) ID { return ID{jsontext.Value(strconv.FormatInt(n, 10))} }

// RawID makes an id of a JSON token, whatever its type.
func RawID(token string) ID { return ID{jsontext.Value(token)} }

// Present reports whether there was a member "id" at all.
func (id ID) Present() bool { return len(id.token) > 0 }

// IsString, IsNumber and IsNull tell the JSON type.
func (id ID) IsString() bool { return id.token.Kind() == '"' }
func (id ID) IsNumber() bool { return id.token.Kind() == '0' }
func (id ID) IsNull() bool   { return id.token.Kind() == 'n' }

// Token is the id as it stood on the wire.
func (id ID) Token() string { return string(id.token) }

// Text is the content of a string id, and the token of any other.
func (id ID) Text() string {
	if id.IsString() {
		return Unquote(id.token)
	}
	return string(id.token)
}

// Key is equal for two ids that JSON-RPC holds equal: of the same type and the
// same value. 1, 1.0 and 1e0 are one number; 1 and "1" are two ids.
func (id ID) Key() string {
	switch {
	case !id.Present():
		return ""
	case id.IsString():
		return "s:" + Unquote(id.token)
	case id.IsNumber():
		return "n:" + canonicalNumber(string(id.token))
	}
	return "v:" + string(bytes.TrimSpace(id.token))
}

// LooseKey is equal for two ids that a careless implementation takes for one:
// it ignores the JSON type and holds numbers as float64. Two ids of one LooseKey
// and different keys were confused, not invented.
func (id ID) LooseKey() string {
	text := id.Text()
	if f, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil || f != 0 {
		return "f:" + strconv.FormatFloat(f, 'g', -1, 64)
	}
	return "t:" + text
}

// Exact reports whether a number can be held exactly by a float64 and is written as an
// integer of at most 2^53-1: what every implementation must echo.
func (id ID) Exact() bool {
	r, ok := new(big.Int).SetString(string(id.token), 10)
	return ok && r.CmpAbs(big.NewInt(1<<53-1)) <= 0
}

// exactInt is the value of a JSON number that is an integer, however it is written: JSON
// knows one kind of number, and 1000, 1e3 and 1000.0 are one.
func exactInt(tok string) (int64, bool) {
	if n, err := strconv.ParseInt(tok, 10, 64); err == nil {
		return n, true
	}
	if tok == "" || tok[0] != '-' && (tok[0] < '0' || '9' < tok[0]) {
		return 0, false
	}
	digits, power, _ := strings.Cut(canonicalNumber(tok), "e")
	if digits == "0" {
		return 0, true
	}
	zeros, err := strconv.Atoi(power)
	if err != nil || zeros < 0 || zeros > 18 {
		return 0, false
	}
	n, err := strconv.ParseInt(digits+strings.Repeat("0", zeros), 10, 64)
	return n, err == nil
}

// canonicalNumber brings a JSON number to digits and a power of ten without
// converting it: 5,000 digits and 1e400 keep their value.
func canonicalNumber(tok string) string {
	neg := strings.HasPrefix(tok, "-")
	mantissa, exp := strings.TrimPrefix(tok, "-"), 0
	if i := strings.IndexAny(mantissa, "eE"); i >= 0 {
		e, err := strconv.Atoi(strings.TrimPrefix(mantissa[i+1:], "+"))
		if err != nil {
			return tok // an exponent that no machine holds: comparable by its token alone
		}
		mantissa, exp = mantissa[:i], e
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	digits := whole + frac
	exp -= len(frac)
	trimmed := strings.TrimRight(digits, "0")
	exp += len(digits) - len(trimmed)
	digits = strings.TrimLeft(trimmed, "0")
	if digits == "" {
		return "0" // -0 and 0e7 too
	}
	if neg {
		digits = "-" + digits
	}
	return digits + "e" + strconv.Itoa(exp)
}
