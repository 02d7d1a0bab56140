package server

import (
	"context"
	"errors"
	"fmt"

	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/harness/wire"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/spec"
)

// firstAnswer is what the first prompt of a run got.
type firstAnswer struct {
	wire.Message
	early bool // while the model was still held
}

// ErrNoProfile says that the answer to a prompt has the form of no profile.
var ErrNoProfile = errors.New("the profile can't be told")

// FindProfile starts the subject once and tells the profile that it speaks by the
// form of the answer to a first prompt; how says so in a sentence. The error is
// [ErrNoProfile] where there is no such answer. Where the subject could not be run,
// or ctx ended, it is that of [Run], and comes with the run.
func FindProfile(ctx context.Context, cfg Config) (p protocol.Profile, how string, _ *reports.Run, _ error) {
	cfg.Profile = protocol.Directional // any: what is found on the way is not judged
	cfg.Transcripts, cfg.Begun, cfg.Save = "", nil, nil
	ledger, err := spec.NewRun(cfg.Options, nil)
	if err != nil {
		return "", "", nil, err
	}
	r, err := newRunner(ctx, cfg, ledger)
	if err != nil {
		return "", "", nil, err
	}
	defer r.close(context.WithoutCancel(ctx))
	if err := r.preflight(ctx); err != nil {
		r.close(context.WithoutCancel(ctx))
		return "", "", r.result(false, ""), err
	}
	p, how, err = r.first.profile()
	if r.lacks("model") {
		err = fmt.Errorf("%w: the target has no model, so no prompt is answered", ErrNoProfile)
	}
	return p, how, nil, err
}

// profile tells which form the answer has. What has that of two profiles is told by
// when it came: a receipt does not wait for the turn.
func (a firstAnswer) profile() (p protocol.Profile, how string, err error) {
	p, ok := protocol.ShapeOf(a.Message)
	switch {
	case a.Error != nil:
		return "", "", fmt.Errorf("%w: the first prompt was answered with the error %s", ErrNoProfile, protocol.Short(string(a.Error)))
	case a.Result == nil:
		return "", "", fmt.Errorf("%w: the first prompt was not answered", ErrNoProfile)
	case !ok:
		return "", "", fmt.Errorf("%w: the first prompt was answered with %s, which has the form of no profile", ErrNoProfile, protocol.Short(string(a.Result)))
	}
	how = "the first prompt was answered with " + protocol.Short(string(a.Result))
	if p != protocol.Receipt && a.early && protocol.HasShapeOf(a.Message, protocol.Receipt) {
		p, how = protocol.Receipt, how+", before its turn was over"
	}
	return p, how, nil
}
