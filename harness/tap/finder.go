package tap

import (
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// finder holds a conversation back until its profile shows, which is when the first
// prompt is answered. How much it holds is bounded.
type finder struct {
	held    []wire.Line
	bytes   int64
	prompts map[string]bool // ids in flight, by key
	seen    protocol.Profile
}

// mostHeld bounds what is held, in bytes; a line costs lineCost besides.
const (
	mostHeld = 8 << 20
	lineCost = 256
)

func newFinder() *finder { return &finder{prompts: map[string]bool{}} }

// line holds one more. It gives the profile when it is known, and how.
func (f *finder) line(l wire.Line) (protocol.Profile, string) {
	f.held = append(f.held, l)
	f.bytes += int64(len(l.Raw)) + lineCost
	switch l.Dir {
	case wire.ClientToServer:
		if m := wire.Parse(l); m.Kind == wire.Request && m.Method == protocol.MethodPrompt {
			f.prompts[m.ID.Key()] = true
		}
	case wire.ServerToClient:
		m := wire.Parse(l)
		switch {
		case m.Kind == wire.Response && f.prompts[m.ID.Key()]:
			delete(f.prompts, m.ID.Key())
			if p, ok := protocol.ShapeOf(m); ok {
				return p, "from the first prompt's answer"
			}
		case m.Kind == wire.Notification && m.Method == protocol.NotificationStatus:
			f.seen = protocol.Receipt
		case m.Kind == wire.Notification && m.Method == protocol.NotificationFinished:
			f.seen = protocol.Accepted
		}
	}
	if f.bytes > mostHeld {
		return f.guess()
	}
	return "", ""
}

// guess is the profile where no prompt's answer showed it.
func (f *finder) guess() (protocol.Profile, string) {
	switch f.seen {
	case protocol.Receipt:
		return f.seen, "from " + protocol.NotificationStatus
	case protocol.Accepted:
		return f.seen, "from " + protocol.NotificationFinished
	}
	return protocol.Directional, "no prompt was answered"
}
