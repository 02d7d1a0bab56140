package protocol

import "github.com/dshconform/dshconform/harness/wire"

// ShapeOf tells the profile whose form the answer to a prompt has; ok is false for an
// error, and for a result of none. A hybrid that adds a messageId to a status is
// directional.
func ShapeOf(m wire.Message) (p Profile, ok bool) {
	for _, p := range []Profile{Directional, Accepted, Receipt} {
		if HasShapeOf(m, p) {
			return p, true
		}
	}
	return "", false
}

// HasShapeOf reports whether the answer to a prompt has what the profile's form of it
// has. A hybrid has that of several.
func HasShapeOf(m wire.Message, p Profile) bool {
	result, ok := wire.AsObject(m.Result)
	if !ok {
		return false
	}
	switch p {
	case Directional:
		_, ok = result.String("status")
	case Accepted:
		ok = string(result["accepted"]) == "true"
	case Receipt:
		_, ok = result.String("messageId")
	default:
		return false
	}
	return ok
}
