package interop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	harness "github.com/dshconform/dshconform/harness/client"
	"github.com/dshconform/dshconform/harness/model"
	"github.com/dshconform/dshconform/harness/protocol"
	"github.com/dshconform/dshconform/reports"
	"github.com/dshconform/dshconform/suites/sdk"
	"github.com/dshconform/dshconform/suites/target"
)

// cell is one pair at work. It belongs to one goroutine.
type cell struct {
	reports.Cell
	r       *runner
	client  Client
	server  Server
	sdk     *sdk.SDK
	profile protocol.Profile
	stub    *model.Stub
	scratch string
	tags    int

	recordings []string // files
	c          *harness.Client
	visit      *sdk.Visit
}

// pair has a client and a server hold all conversations. The error is one that is
// neither's: it ends the run.
func (r *runner) pair(ctx context.Context, client, server int) (reports.Cell, error) {
	c := &cell{r: r, client: r.cfg.Clients[client], server: r.cfg.Servers[server], sdk: r.sdks[client], profile: r.cfg.Profile}
	if c.profile == "" {
		c.profile = c.sdk.Hello().Profile
	}
	start := time.Now()
	c.Cell = reports.Cell{Client: c.client.Name, Server: c.server.Name, Profile: string(c.profile), Conversations: []reports.Conversation{}, Violations: []reports.CellViolation{}}
	if r.cfg.Repeat != nil {
		c.Repeat = r.cfg.Repeat(c.Client, c.Server)
	}
	var err error
	if c.scratch, err = os.MkdirTemp(r.cfg.Scratch, "pair-"); err != nil {
		return c.Cell, fmt.Errorf("lay out the scratch tree: %w", err)
	}
	if c.stub, err = model.Start(ctx, model.Options{Default: []model.Step{model.Text(delegated)}}); err != nil {
		return c.Cell, err
	}
	defer c.stub.Close()
	err = c.converse(ctx)
	if leaveErr := c.leave(ctx); err == nil {
		err = leaveErr
	}
	if err != nil {
		return c.Cell, err
	}
	if err := c.judge(); err != nil {
		return c.Cell, err
	}
	c.Seconds = time.Since(start).Seconds()
	c.Works = c.works()
	return c.Cell, nil
}

// works says whether nothing has gone wrong that is not known.
func (c *cell) works() bool {
	for _, t := range c.Conversations {
		if t.Verdict != reports.TalkWorks && t.Verdict != reports.TalkNotOffered {
			return false
		}
	}
	for _, v := range c.Violations {
		if v.Known == nil {
			return false
		}
	}
	return true
}

// converse holds the conversations, in their order. Where the first one does not work
// the others are not begun: nothing could be said about them.
func (c *cell) converse(ctx context.Context) error {
	for i, conv := range conversations {
		lacking := conv.lacking(c)
		switch {
		case lacking != "":
			c.note(reports.Conversation{Name: conv.name, Verdict: reports.TalkNotOffered, Why: lacking})
			continue
		case i > 0 && c.Conversations[0].Verdict != reports.TalkWorks:
			c.note(reports.Conversation{Name: conv.name, Verdict: reports.TalkNotReached, Why: "the first conversation does not work"})
			continue
		}
		t := &talk{cell: c, ctx: ctx, Conversation: reports.Conversation{Name: conv.name, Verdict: reports.TalkWorks, Saw: []reports.Observation{}}}
		if err := t.hold(conv.hold); err != nil {
			return err
		}
		c.note(t.Conversation)
		if t.Verdict != reports.TalkWorks {
			c.abandon()
			if err := c.leave(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *cell) note(t reports.Conversation) { c.Conversations = append(c.Conversations, t) }

// launch makes a client and has it launch the server, unless there is one.
func (c *cell) launch(ctx context.Context) error {
	if c.c != nil {
		return nil
	}
	command, run, err := c.command()
	if err != nil {
		return err
	}
	c.visit = c.sdk.Visit(sdk.VisitOptions{Name: pairName(c.Client, c.Server), Profile: c.profile})
	client, err := c.visit.Create(ctx, func(o *harness.CreateOptions) {
		o.Server, o.RuntimeDir, o.Cwd = command, c.scratch, run.Cwd
		o.Provider, o.Model = c.server.Target.Provider, c.server.Target.Model
	})
	if err != nil {
		return err
	}
	c.c = client
	started, err := client.GoStart(ctx)
	if err == nil && started != nil {
		_, err = c.visit.Own(started).Result(ctx)
	}
	if err != nil {
		return err
	}
	handshake, err := client.GoInitialize(ctx)
	if err != nil {
		return err
	}
	_, err = c.visit.Own(handshake).Result(ctx)
	return err
}

// recordLimit bounds what a server or an SDK that floods leaves on the disk, in MiB. Of what works nothing comes near.
const recordLimit = "64"

// command is the server behind the tap, as one executable that needs no arguments, no
// environment and no directory: SDKs have their own ideas about each.
func (c *cell) command() (*harness.ServerCommand, target.Prepared, error) {
	t := c.server.Target
	run, err := t.Prepare(c.profile, c.scratch, target.ModelAccess{URL: c.stub.URL(), Key: c.stub.Key(), Control: c.stub.Control()})
	if err != nil {
		return nil, run, err
	}
	n := len(c.recordings) + 1
	record := filepath.Join(c.scratch, fmt.Sprintf("%d.jsonl", n))
	if dir := c.r.cfg.Transcripts; dir != "" {
		name := c.r.transcript(fmt.Sprintf("%s.%s.%d", fileName(c.Client), fileName(c.Server), n))
		record = filepath.Join(dir, name)
		c.Transcripts = append(c.Transcripts, "transcripts/"+name)
	}
	if record, err = filepath.Abs(record); err != nil { // the tap runs where the SDK starts it
		return nil, run, fmt.Errorf("find the place of the recording: %w", err)
	}
	c.recordings = append(c.recordings, record)
	argv := []string{c.r.cfg.Program, "tap", "--quiet", "--profile", string(c.profile), "--record", record, "--record-limit", recordLimit,
		"--process-cwd", run.Dir}
	for _, v := range append([]string{"HOME=" + run.Home, "TMPDIR=" + run.Temp}, run.Set...) {
		argv = append(argv, "--env", v)
	}
	argv = append(append(argv, "--"), run.Argv...)
	script, err := harness.WriteExecutable(filepath.Join(c.scratch, fmt.Sprintf("server-%d", n)), argv, false)
	if err != nil {
		return nil, run, fmt.Errorf("write the server's command: %w", err)
	}
	return &harness.ServerCommand{Argv: []string{script}, Executable: script}, run, nil
}

// transcript gives the name of a file that no other cell has: what is left of two names may be the same, also where
// letters of one are small.
func (r *runner) transcript(name string) string {
	free := name
	for i := 2; r.names[strings.ToLower(free)]; i++ {
		free = fmt.Sprintf("%s~%d", name, i)
	}
	r.names[strings.ToLower(free)] = true
	return free + ".jsonl"
}

// fileName is a name of the user's as part of that of a file.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("/\\:*?\"<>| ", r) || r < ' ' {
			return '_'
		}
		return r
	}, name)
}

// abandon gives a client up in which a conversation went wrong, and its driver.
func (c *cell) abandon() {
	if c.visit != nil {
		c.visit.Spoil("a conversation of " + pairName(c.Client, c.Server) + " went wrong")
	}
}

// leave closes the client, upon which the server ends, and puts in order what is left.
func (c *cell) leave(ctx context.Context) error {
	if c.visit == nil {
		return nil
	}
	if c.c != nil && c.sdk.Hello().Offers(harness.CallClose) && ctx.Err() == nil {
		if closing, err := c.c.GoClose(ctx); err == nil {
			_, _ = closing.Await(ctx) // how close ends is a conversation of its own
		}
	}
	for _, g := range c.stub.Gates() {
		g.Open()
	}
	err := c.visit.Release(ctx)
	c.visit, c.c = nil, nil
	return err
}

// mine reports whether an error ends the run: it is neither the SDK's nor the server's.
func (c *cell) mine(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if harness.DriverFault(err) {
		return fmt.Errorf("%s: %s", c.Client, harness.Explain(err))
	}
	var sdkError *harness.SDKError
	var silent *harness.SilentError
	var ended *harness.EndedError
	if errors.As(err, &sdkError) || errors.As(err, &silent) || errors.As(err, &ended) {
		return nil
	}
	return err
}
