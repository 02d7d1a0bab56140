package tap

import (
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// finder judges a conversation by every profile until its own shows, which is when the
// first prompt is answered. However much comes before that, nothing is guessed.
type finder struct {
	candidates []*candidate
	prompts    map[string]bool // ids in flight, by key
	seen       protocol.Profile
}

// candidate is the judge of one profile, and what it has found.
type candidate struct {
	*Judge
	found []protocol.Violation // a few of each requirement, as Judge tells them
}

func newFinder(o JudgeOptions) *finder {
	f := &finder{prompts: map[string]bool{}}
	for _, p := range protocol.Profiles {
		c := &candidate{}
		o.Monitor.Profile = p
		o.OnViolation = func(v protocol.Violation) { c.found = append(c.found, v) }
		c.Judge = NewJudge(o)
		f.candidates = append(f.candidates, c)
	}
	return f
}

// line takes the next line. It gives the profile when it is known, and how.
func (f *finder) line(l wire.Line) (protocol.Profile, string) {
	for _, c := range f.candidates {
		c.Line(l)
	}
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
	return "", ""
}

// guess is the profile where the conversation ended before a prompt's answer showed it.
func (f *finder) guess() (protocol.Profile, string) {
	switch f.seen {
	case protocol.Receipt:
		return f.seen, "from " + protocol.NotificationStatus
	case protocol.Accepted:
		return f.seen, "from " + protocol.NotificationFinished
	}
	return protocol.Directional, "no prompt was answered"
}

// of is the judge of a profile.
func (f *finder) of(p protocol.Profile) *candidate {
	for _, c := range f.candidates {
		if c.o.Monitor.Profile == p {
			return c
		}
	}
	return nil // not one of protocol.Profiles, which ShapeOf and guess never give
}
