//go:build linux || darwin

package process_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/dshconform/dshconform/harness/process"
)

func TestPipesCarryBytesAndEOF(t *testing.T) {
	g := NewWithT(t)
	p := start(t, command(t, "cat"))
	_, err := p.Stdin().WriteString("hello\n")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(line(t, p)).To(Equal("hello"))
	g.Expect(p.Stdin().Close()).To(Succeed())
	g.Expect(readAll(t, p)).To(BeEmpty())
	g.Expect(exit(t, p).Success()).To(BeTrue())
	wait(t, p.Gone(), "the tree to be gone")
	g.Expect(closed(t, p)).To(BeEmpty())
}

func TestStdoutEndsWhenTheSubjectClosesIt(t *testing.T) {
	g := NewWithT(t)
	p := start(t, command(t, "sh", "-c", "echo x; exec 1>&-; read line; exit 3"))
	g.Expect(readAll(t, p)).To(Equal("x\n"), "EOF comes though the process still runs")
	_, ended := p.Exit()
	g.Expect(ended).To(BeFalse())
	_, err := p.Stdin().WriteString("\n")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(exit(t, p).Code).To(Equal(3))
}

func TestClosedStdoutIsSIGPIPEToTheSubject(t *testing.T) {
	g := NewWithT(t)
	p := start(t, command(t, "yes"))
	g.Expect(line(t, p)).To(Equal("y"))
	g.Expect(p.Stdout().Close()).To(Succeed())
	e := exit(t, p)
	g.Expect(e.Signal).To(Equal("SIGPIPE"))
	g.Expect(e.Code).To(Equal(-1))
	g.Expect(e.Status()).To(Equal(128 + 13))
}

func TestClosedStdinOfTheSubjectIsEPIPEToUs(t *testing.T) {
	g := NewWithT(t)
	p := start(t, command(t, "sh", "-c", "exec 0<&-; echo ready; exec sleep 600"))
	g.Expect(line(t, p)).To(Equal("ready"))
	_, err := p.Stdin().WriteString("x")
	g.Expect(errors.Is(err, syscall.EPIPE)).To(BeTrue(), "%v", err)
	g.Expect(closed(t, p)).To(HaveLen(1))
}

func TestSubjectFindsACleanPlace(t *testing.T) {
	g := NewWithT(t)
	c := role(t, "describe", "a b", "\xff", "")
	c.Env = []string{"A=1", "EMPTY=", "RAW=\xfe", process.NonceVariable + "=stale"}
	p := start(t, c)
	var d description
	g.Expect(json.Unmarshal([]byte(readAll(t, p)), &d)).To(Succeed())
	g.Expect(d.Argv[1:]).To(Equal([]string{"subject", "describe", "a b", "\uFFFD", ""}), "JSON shows the raw byte as U+FFFD")
	g.Expect(d.Env).To(ConsistOf("A=1", "EMPTY=", "RAW=\uFFFD", process.NonceVariable+"="+p.Nonce()))
	dir, err := filepath.EvalSymlinks(c.Dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(d.Dir).To(Equal(dir))
	g.Expect(d.Pid).To(Equal(p.Pid()))
	g.Expect(d.Parent).NotTo(Equal(os.Getpid()))
	g.Expect(d.Session).To(Equal(d.Pid), "a session of its own")
	g.Expect(d.Group).To(Equal(d.Pid), "a group of its own")
	g.Expect(d.Terminal).To(BeFalse())
	g.Expect(d.Descriptors).To(Equal([]int{0, 1, 2}), "no other descriptor is inherited")
	g.Expect(d.NonBlocking).To(BeEmpty(), "pipes are blocking, as everywhere else")
	g.Expect(exit(t, p).Success()).To(BeTrue())
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("plain.txt", "no program", 0o644)
	write("empty", "", 0o755)
	write("text", "neither\n", 0o755)
	write("bad-shebang", "#!/no/such/interpreter -x\n", 0o755)
	write("crlf-shebang", "#!/bin/sh\r\n", 0o755)
	write("dir-shebang", "#!/tmp\n", 0o755)
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		argv   []string
		dir    string
		reason string
	}{
		{"nothing", nil, "", "no command was given"},
		{"empty name", []string{""}, "", "no command was given"},
		{"not in PATH", []string{"no-such-program-of-ours"}, "", "not found in PATH"},
		{"no file", []string{"/no/such/file", "x"}, "", "there is no such file"},
		{"no relative file", []string{"./nothing"}, "", "there is no such file"},
		{"directory", []string{"./folder"}, "", "it is a directory"},
		{"not executable", []string{"./plain.txt"}, "", "the file is not executable"},
		{"below a file", []string{"./plain.txt/x"}, "", "not a directory"},
		{"device", []string{"/dev/null"}, "", "it is not a regular file"},
		{"empty file", []string{"./empty"}, "", "neither a program for this system nor a script"},
		{"no #! line", []string{"./text"}, "", "neither a program for this system nor a script"},
		{"no interpreter", []string{"./bad-shebang"}, "", "the interpreter in its first line, /no/such/interpreter, does not exist"},
		{"CR in the #! line", []string{"./crlf-shebang"}, "", `/bin/sh\r (the line ends in CR), does not exist`},
		{"directory as interpreter", []string{"./dir-shebang"}, "", "the interpreter in its first line, /tmp, can't be executed"},
		{"no working directory", []string{"cat"}, "/no/such/dir", "its working directory /no/such/dir can't be used: there is no such file"},
		{"file as working directory", []string{"cat"}, filepath.Join(dir, "plain.txt"), "is not a directory"},
		{"NUL", []string{"cat", "a\x00b"}, "", "NUL"},
		{"too long", []string{"cat", strings.Repeat("x", 2<<20)}, "", "too long"},
		{"several lines", []string{"./a\nb"}, "", "there is no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			cmd := command(t, c.argv...)
			cmd.ResolveDir = dir
			if c.dir != "" {
				cmd.Dir = c.dir
			}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			p, err := process.Start(ctx, cmd)
			g.Expect(p).To(BeNil())
			var wrong *process.StartError
			g.Expect(errors.As(err, &wrong)).To(BeTrue(), "%v", err)
			g.Expect(err.Error()).To(ContainSubstring(c.reason))
			g.Expect(err.Error()).NotTo(ContainSubstring("\n"))
			g.Expect(err.Error()).To(HavePrefix("cannot start "))
			if len(c.argv) > 0 {
				g.Expect(wrong.Argv).To(Equal(c.argv), "as it was given")
			}
		})
	}
}

func TestRelativeCommandsAreThoseOfTheCaller(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\necho \"$0 in $(pwd)\"\n"), 0o755)).To(Succeed())
	c := command(t, "./tool")
	c.ResolveDir = dir
	p := start(t, c)
	work, err := filepath.EvalSymlinks(c.Dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(readAll(t, p)).To(Equal(filepath.Join(dir, "tool") + " in " + work + "\n"))

	// A bare name comes from the caller's PATH, though the subject's is another.
	c = command(t, "sh", "-c", "echo $PATH")
	c.Env = []string{"PATH=/nowhere"}
	p = start(t, c)
	g.Expect(readAll(t, p)).To(Equal("/nowhere\n"))
}

func TestAFreshlyWrittenProgramStarts(t *testing.T) {
	// While a program is written, a fork elsewhere in this process copies the descriptor, and the
	// program can't be executed until that fork has become another program.
	true_, err := exec.LookPath("true")
	if err != nil {
		t.Skip("there is no program named true")
	}
	binary, err := os.ReadFile(true_)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			g := NewWithT(t)
			path := filepath.Join(t.TempDir(), "tool")
			g.Expect(os.WriteFile(path, binary, 0o755)).To(Succeed())
			p := start(t, command(t, path))
			g.Expect(exit(t, p).Success()).To(BeTrue())
		})
	}
	all.Wait()
}

func TestAWrongSupervisorIsNoErrorOfTheSubject(t *testing.T) {
	t.Parallel() // one of these waits for its bound
	for _, c := range []struct {
		name       string
		supervisor []string
		text       string
	}{
		{"none", nil, "Supervisor is empty"},
		{"not there", []string{"/no/such/supervisor"}, "start the supervisor"},
		{"exits", []string{"sh", "-c", "echo 'unknown command' >&2; exit 2"}, "unknown command"},
		{"says nothing", []string{"true"}, "ended before it had started cat: exit status 0"},
		{"leaves a child with the channel", []string{"sh", "-c", "sleep 20 & exit 5"}, "exit status 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			cmd := command(t, "cat")
			cmd.Supervisor = c.supervisor
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			_, err := process.Start(ctx, cmd)
			g.Expect(err).To(MatchError(ContainSubstring(c.text)))
			var wrong *process.StartError
			g.Expect(errors.As(err, &wrong)).To(BeFalse())
		})
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := process.Start(ctx, command(t, "cat"))
	g.Expect(err).To(MatchError(context.Canceled))

	cmd := command(t, "cat")
	cmd.Supervisor = []string{"sh", "-c", "exec sleep 600"} // it never says anything
	ctx, cancel = context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err = process.Start(ctx, cmd)
	g.Expect(err).To(MatchError(context.DeadlineExceeded))
	var wrong *process.StartError
	g.Expect(errors.As(err, &wrong)).To(BeFalse())
}
