package tap

import (
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// finder judges a conversation by every profile until its own shows, which is when the
// first prompt is answered. However much comes before that, nothing is guessed.
type finder struct {
	candidates []*candidate
	prompts    map[string]*asked // in flight, by key of the id
	seen       protocol.Profile
}

// asked is a prompt that is not answered.
type asked struct {
	session string
	over    bool // a turn of its session has ended since
}

// candidate is the judge of one profile, and what it has found.
type candidate struct {
	*Judge
	found []protocol.Violation // a few of each requirement, as Judge tells them
}

func newFinder(o JudgeOptions) *finder {
	f := &finder{prompts: map[string]*asked{}}
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
	m := wire.Parse(l)
	switch {
	case l.Dir == wire.ClientToServer && m.Kind == wire.Request && m.Method == protocol.MethodPrompt:
		params, _ := wire.AsObject(m.Params)
		session, _ := params.String("sessionId")
		f.prompts[m.ID.Key()] = &asked{session: session}
	case l.Dir != wire.ServerToClient:
	case m.Kind == wire.Response:
		if a := f.prompts[m.ID.Key()]; a != nil {
			delete(f.prompts, m.ID.Key())
			return a.profile(m)
		}
	case m.Kind == wire.Notification:
		f.notification(m)
	}
	return "", ""
}

func (f *finder) notification(m wire.Message) {
	switch m.Method {
	case protocol.NotificationStatus:
		f.seen = protocol.Receipt
	case protocol.NotificationFinished:
		f.seen = protocol.Accepted
	case protocol.NotificationEvent:
		params, _ := wire.AsObject(m.Params)
		session, _ := params.String("sessionId")
		event, _ := wire.AsObject(params["event"])
		if kind, _ := event.String("type"); kind != protocol.EventTurnEnd {
			return
		}
		for _, a := range f.prompts {
			a.over = a.over || a.session == session
		}
	}
}

// profile tells which form the answer has. What has that of two profiles is told by
// when it came: a receipt does not wait for the turn.
func (a *asked) profile(m wire.Message) (protocol.Profile, string) {
	p, ok := protocol.ShapeOf(m)
	switch {
	case !ok:
		return "", ""
	case p != protocol.Receipt && !a.over && protocol.HasShapeOf(m, protocol.Receipt):
		return protocol.Receipt, "from the first prompt's answer, which came before its turn was over"
	}
	return p, "from the first prompt's answer"
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
