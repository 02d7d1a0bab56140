// Package process starts a subject, a program that nobody here wrote, on pipes; signals it; watches
// its whole tree of processes; and ends, reaps and accounts for all of it.
//
//	p, err := process.Start(ctx, process.Command{
//		Argv:       []string{"node", "lib/bin.js"},
//		Dir:        dir,
//		Env:        process.Environment(process.EnvOptions{Home: home, TempDir: tmp}),
//		Supervisor: []string{"/path/to/dshconform", "supervise"},
//	})
//	var wrong *process.StartError
//	if errors.As(err, &wrong) { … }         // the command can't be run, and why
//	defer p.Close()                         // nothing is left, whatever the subject did
//	p.Stdin().Write(frame); p.Stdout().Read(buf)
//	p.Signal(syscall.SIGTERM)               // to the launched process alone
//	<-p.Exited(); exit, _ := p.Exit()       // its status, signal, peak memory, CPU
//	members, err := p.Tree(ctx)             // whom it left behind
//
// # Who watches
//
// Children outlive their parents, leave their group and session, and hold pipes open. On Linux a
// process that loses its parent goes to the nearest ancestor that called itself a subreaper. That is an
// attribute of a whole process, and the one who has it must wait for children whom it does not know, which would steal
// the statuses of os/exec; so the harness itself can't be it. Each subject has a small supervisor of
// its own between the harness and it, this same executable under a hidden subcommand ([Supervise]):
//
//	harness ── control channel ──> supervisor (subreaper) ──> launched process ──> children …
//	   └────────── stdin, stdout, stderr: pipes straight to the launched process ──┘
//
// The supervisor starts the launched process, reaps everything, and kills the whole tree when it is told
// to or when the control channel comes to its end, which it does when the harness dies, also of SIGKILL.
// It keeps no copy of the pipes, so EOF, EPIPE and SIGPIPE are what they are without it. When it has no child left,
// nothing of the tree is left (wait4 says ECHILD): that ends [Process.Gone] without any search.
//
// A subject may kill its supervisor, or stop it. The launched process then dies with it (the kernel sees to
// that), and the harness finds the others by their session or by a nonce in their environment.
//
// # What a platform can judge
//
//	            whole tree   signals   CPU of the tree   peak memory   tree ends with the harness
//	linux       yes          yes       while it runs     yes           yes
//	darwin      best effort  yes       once it is gone   yes           best effort
//	windows     best effort  no        while it runs     no            yes
//
// On macOS a process that leaves the group, loses its parent and cleans its environment is missed. On
// Windows a job object stands for the supervisor, and what the subject starts before it was put into the
// job is missed. Requirements ask [Capabilities]; best effort counts as no.
//
// # What is bounded
//
// stderr is read at full speed, and a tail of it is kept. Start is bounded by its context, Kill and Close by
// Command.KillTimeout: what the kernel won't end by then is named in a [LeftError].
package process
