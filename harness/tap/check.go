package tap

import (
	"errors"
	"fmt"
	"io"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
)

// Recording is what [Check] read.
type Recording struct {
	Result
	Header wire.Header
	// Cut is set where the recording ends inside an entry; what came before was judged.
	Cut bool
	// Ended is set where it tells how the process ended. Without it nothing is owed.
	Ended bool
}

// Check judges a recording or a transcript. An empty profile in o is that of the
// header, and found from the conversation where that names none. The error says that
// r is no recording, and in which line.
func Check(r io.Reader, o JudgeOptions) (Recording, error) {
	t, err := wire.NewTranscriptReader(r)
	if err != nil {
		return Recording{}, err
	}
	rec := Recording{Header: t.Header}
	if o.Monitor.Profile == "" && t.Header.Profile != "" {
		if o.Monitor.Profile, err = protocol.ParseProfile(t.Header.Profile); err != nil {
			return rec, fmt.Errorf("transcript line 1: %w", err)
		}
	}
	o.Joined = o.Joined || t.Header.Joined
	j := NewJudge(o)
	for {
		line, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
		case errors.Is(err, wire.ErrCutTranscript):
			rec.Cut = true
		case err != nil:
			return rec, err
		default:
			j.Line(line)
			continue
		}
		rec.Result = j.Result()
		rec.Ended = j.end.over
		return rec, nil
	}
}
