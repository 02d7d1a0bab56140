package process

import (
	"fmt"
	"strings"
)

// StartError says that the subject could not be started, for a reason that lies in the command: not
// found, not executable, a directory, a broken script or binary, a working directory that is not
// there. Its text is one line that names the command. Trouble of the suite's own (no supervisor, no
// descriptors left, an ended context) is never a StartError.
type StartError struct {
	Argv []string
	Err  error
}

func (e *StartError) Error() string {
	name := ""
	if len(e.Argv) > 0 {
		name = e.Argv[0]
	}
	return fmt.Sprintf("cannot start %q: %s", name, oneLine(e.Err.Error()))
}

func (e *StartError) Unwrap() error { return e.Err }

// LeftError says that processes of the tree could not be ended in time: they wait in the kernel
// without interruption, or belong to somebody whom the caller may not signal.
type LeftError struct {
	Argv    []string
	Members []Member
}

func (e *LeftError) Error() string {
	const shown = 5
	names := make([]string, 0, shown)
	for _, m := range e.Members {
		if len(names) == shown {
			break
		}
		names = append(names, m.String())
	}
	more := ""
	if rest := len(e.Members) - len(names); rest > 0 {
		more = fmt.Sprintf(" and %d more", rest)
	}
	return fmt.Sprintf("could not end %d of the processes of %q: %s%s",
		len(e.Members), e.Argv[0], oneLine(strings.Join(names, ", ")), more)
}

// oneLine keeps what came from a subject (names, diagnostics) from breaking a report's lines.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.TrimSpace(s))
}
