package protocol

import "github.com/dshconform/dshconform/harness/wire"

// ShapeOf tells the profile whose form the answer to a prompt has; ok is false for an
// error, and for a result of none. A hybrid that adds a messageId to a status is
// directional.
func ShapeOf(m wire.Message) (p Profile, ok bool) {
	result, ok := wire.AsObject(m.Result)
	if !ok {
		return "", false
	}
	_, status := result.String("status")
	_, receipt := result.String("messageId")
	switch {
	case status:
		return Directional, true
	case string(result["accepted"]) == "true":
		return Accepted, true
	case receipt:
		return Receipt, true
	}
	return "", false
}
