package server

import (
	"errors"
	"fmt"

	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	harness "github.com/dshconform/dshconform/harness/server"
)

// UnknownMethod is a method that no server has; its answer needs no turn.
const UnknownMethod = "no/such/method"

// Exercised makes sure that the monitor had something to judge under the
// requirement. Its silence says nothing otherwise.
func (t *T) Exercised(s *harness.Server, row string) {
	if s.Exercised(row) == 0 {
		t.NotReached("the situation came about", fmt.Errorf("nothing of the kind was on the wire"))
	}
}

// WithoutModel reports whether this subject can run no turns, so that a spec that
// can do without leaves that part out.
func (t *T) WithoutModel() bool { return t.run.noModel != "" || t.run.lacks("model") }

// Works judges that a turn on a new session runs to its end, where the subject
// can run turns at all.
func (t *T) Works(s *harness.Server, expected string) bool {
	if t.WithoutModel() {
		return t.Served(s, expected)
	}
	turn := t.Begin(s, t.Session(), t.Script(model.Text("Fine.")))
	settled, err := turn.TrySettle()
	if !t.Judge(err, expected, turn.Line) {
		return false
	}
	return t.Expect(settled.Kind == protocol.KindCompleted, expected, "the turn ended with "+settled.Kind, turn.Line, settled.Line)
}

// isRefused reports whether a prompt was answered with an error.
func isRefused(err error) bool {
	var refused *harness.RefusedError
	return errors.As(err, &refused)
}

// isSilent reports whether a subject lived and did not do what was awaited. What it
// does not do once is found to be missing; a process that died says nothing of that.
func isSilent(err error) bool {
	var silent *harness.SilentError
	return errors.As(err, &silent)
}
