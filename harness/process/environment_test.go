package process_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/dshconform/dshconform/harness/process"
)

func onUnix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows adds variables of its own")
	}
}

func TestEnvironmentIsBuiltUp(t *testing.T) {
	onUnix(t)
	home := t.TempDir()
	for _, dir := range []string{".cargo", ".rustup", ".config/nvm", "go", ".dotnet/tools", ".pyenv"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	g := NewWithT(t)
	env := process.Environment(process.EnvOptions{
		Home: "/fresh", TempDir: "/scratch/tmp",
		CallerHome: home,
		Caller: []string{
			"PATH=/bin:/usr/bin", "HOME=/home/me", "LC_CTYPE=C", "LANG=de_DE.UTF-8", "TMPDIR=/tmp", "XDG_CACHE_HOME=/x",
			"AWS_SECRET_ACCESS_KEY=s", "OPENAI_API_KEY=s", "DEEPSEEK_API_KEY=s", "GITHUB_TOKEN=s", "SSH_AUTH_SOCK=s", "HTTPS_PROXY=http://u:p@h",
			"GOPATH=/elsewhere/go", "JAVA_HOME=/opt/java", "WANTED=yes", "EMPTY=", "WANTED=second", "junk",
		},
		Inherit: []string{"WANTED", "EMPTY", "ABSENT"},
		Set:     []string{"A=1", "B=x=y", "A=2", "LANG=C", "E=", "=bad", "bad"},
	})
	g.Expect(env).To(Equal([]string{
		"PATH=/bin:/usr/bin",
		"LANG=C", "LC_CTYPE=C",
		"CARGO_HOME=" + filepath.Join(home, ".cargo"),
		"RUSTUP_HOME=" + filepath.Join(home, ".rustup"),
		"NVM_DIR=" + filepath.Join(home, ".config/nvm"),
		"PYENV_ROOT=" + filepath.Join(home, ".pyenv"),
		"GOPATH=/elsewhere/go",
		"JAVA_HOME=/opt/java",
		"TMPDIR=/scratch/tmp", "HOME=/fresh",
		"WANTED=yes", "EMPTY=",
		"A=2", "B=x=y", "E=",
	}))
	g.Expect(process.Names(env)).To(Equal([]string{
		"A", "B", "CARGO_HOME", "E", "EMPTY", "GOPATH", "HOME", "JAVA_HOME", "LANG", "LC_CTYPE", "NVM_DIR", "PATH",
		"PYENV_ROOT", "RUSTUP_HOME", "TMPDIR", "WANTED",
	}))
}

func TestEnvironmentOfDotnet(t *testing.T) {
	onUnix(t)
	g := NewWithT(t)
	home := t.TempDir()
	options := process.EnvOptions{CallerHome: home, Caller: []string{"PATH=/bin"}}
	g.Expect(os.MkdirAll(filepath.Join(home, ".dotnet", "tools"), 0o755)).To(Succeed())
	g.Expect(process.Environment(options)).To(Equal([]string{"PATH=/bin"}), "no runtime lives there")
	g.Expect(os.MkdirAll(filepath.Join(home, ".dotnet", "shared"), 0o755)).To(Succeed())
	g.Expect(process.Environment(options)).To(Equal([]string{"PATH=/bin", "DOTNET_ROOT=" + filepath.Join(home, ".dotnet")}))
}

func TestEnvironmentWithoutACaller(t *testing.T) {
	onUnix(t)
	g := NewWithT(t)
	g.Expect(process.Environment(process.EnvOptions{Caller: []string{}, CallerHome: t.TempDir()})).
		To(Equal([]string{"PATH=/usr/local/bin:/usr/bin:/bin"}))
}

func TestEnvironmentPassesOnNothingUnasked(t *testing.T) {
	onUnix(t)
	home := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[A-Z]{1,4}_?(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS|AUTH)(_[A-Z]{1,4})?`)
		secrets := rapid.SliceOf(name).Draw(t, "names")
		wanted := rapid.SliceOf(name).Draw(t, "wanted")
		var caller []string
		for _, n := range secrets {
			caller = append(caller, n+"=hidden")
		}
		asked := map[string]bool{}
		for _, n := range wanted {
			asked[n] = true
		}
		seen := map[string]bool{}
		for _, entry := range process.Environment(process.EnvOptions{Caller: caller, CallerHome: home, Inherit: wanted}) {
			n, value, _ := strings.Cut(entry, "=")
			if seen[n] {
				t.Fatalf("%s stands there twice", n)
			}
			seen[n] = true
			if value == "hidden" && !asked[n] {
				t.Fatalf("%s was passed on", n)
			}
		}
		for _, n := range secrets {
			if asked[n] && !seen[n] {
				t.Fatalf("%s was asked for", n)
			}
		}
	})
}

func TestCapabilitiesAreThoseOfTheDocumentation(t *testing.T) {
	g := NewWithT(t)
	doc, err := os.ReadFile("doc.go")
	g.Expect(err).NotTo(HaveOccurred())
	said := map[string][]string{}
	for _, line := range strings.Split(string(doc), "\n") {
		if fields := strings.Fields(strings.ReplaceAll(strings.TrimPrefix(line, "//"), "best effort", "best-effort")); len(fields) > 2 {
			switch fields[0] {
			case "linux", "darwin", "windows":
				said[fields[0]] = fields[1:3]
			}
		}
	}
	g.Expect(said).To(HaveLen(3))
	tree, signals := process.Capabilities()
	g.Expect(said[runtime.GOOS]).To(Equal([]string{yes(tree, "best-effort"), yes(signals, "no")}))
}

func yes(b bool, otherwise string) string {
	if b {
		return "yes"
	}
	return otherwise
}
