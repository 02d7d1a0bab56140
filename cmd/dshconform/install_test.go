package main

import (
	"archive/zip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

const modulePath = "github.com/dshconform/dshconform"

// `go install …@VERSION` from outside the tree, out of a module proxy in a folder: the go command refuses a module with
// a replace directive there, takes nothing that is not in the module, and finds the module under its final path
// alone. The program that comes out has to do its work in an empty directory.
func TestInstallFromOutsideTheTree(t *testing.T) {
	g := NewWithT(t)
	const version = "v0.0.1-test"
	root := filepath.Join("..", "..")
	proxy, gobin := t.TempDir(), t.TempDir()
	publish(t, root, filepath.Join(proxy, filepath.FromSlash(modulePath), "@v"), version)

	// The modules that it needs are those that this test was built with: the network is no part of the test.
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", "env", "-json", "GOMODCACHE").Output()
	g.Expect(err).NotTo(HaveOccurred())
	var env struct{ GOMODCACHE string }
	g.Expect(json.Unmarshal(out, &env)).To(Succeed())
	cache := filepath.Join(env.GOMODCACHE, "cache", "download")

	c := exec.CommandContext(ctx, "go", "install", "-trimpath", modulePath+"/cmd/dshconform@"+version)
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(),
		"GOPROXY="+fileURL(proxy)+","+fileURL(cache), "GOSUMDB=off", "GONOPROXY=none", "GOPRIVATE=", "GOTOOLCHAIN=local", "GOWORK=off",
		"GOFLAGS=-modcacherw", "GOMODCACHE="+t.TempDir(), "GOBIN="+gobin,
	)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("go install: %v\n%s", err, out)
	}

	installed := filepath.Join(gobin, filepath.Base(binary))
	for _, args := range [][]string{
		{"version"}, {"list", "--json"}, {"explain", "S-OVL-02"}, {"server", "--label", "DIR || TRN"},
	} {
		c := exec.CommandContext(ctx, installed, args...)
		c.Dir = t.TempDir()
		out, err := c.CombinedOutput()
		g.Expect(err).NotTo(HaveOccurred(), "%v: %s", args, out)
		if args[0] == "version" {
			g.Expect(string(out)).To(HavePrefix("dshconform " + strings.TrimPrefix(version, "v") + ", "))
		}
	}
}

// publish lays the module out as a proxy serves it: what is under version control, or would be, and is no module of
// its own.
func publish(t *testing.T, root, to, version string) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(os.MkdirAll(to, 0o755)).To(Succeed())
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	g.Expect(err).NotTo(HaveOccurred())
	info := fmt.Sprintf(`{"Version":%q,"Time":%q}`, version, time.Unix(0, 0).UTC().Format(time.RFC3339))
	g.Expect(os.WriteFile(filepath.Join(to, "list"), []byte(version+"\n"), 0o600)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(to, version+".info"), []byte(info), 0o600)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(to, version+".mod"), gomod, 0o600)).To(Succeed())

	f, err := os.Create(filepath.Join(to, version+".zip"))
	g.Expect(err).NotTo(HaveOccurred())
	archive := zip.NewWriter(f)
	for _, name := range moduleFiles(t, root) {
		w, err := archive.Create(modulePath + "@" + version + "/" + name)
		g.Expect(err).NotTo(HaveOccurred())
		r, err := os.Open(filepath.Join(root, filepath.FromSlash(name)))
		g.Expect(err).NotTo(HaveOccurred())
		_, err = io.Copy(w, r)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(r.Close()).To(Succeed())
	}
	g.Expect(archive.Close()).To(Succeed())
	g.Expect(f.Close()).To(Succeed())
}

// moduleFiles are the files of the module, in slash form. What is hidden, built or fetched is left out, as .gitignore
// does.
func moduleFiles(t *testing.T, root string) (names []string) {
	t.Helper()
	built := map[string]bool{"bin": true, "node_modules": true, "reports-out": true, "report": true, "__pycache__": true}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case d.IsDir():
			_, module := os.Stat(filepath.Join(root, filepath.FromSlash(name), "go.mod"))
			if strings.HasPrefix(path.Base(name), ".") || built[path.Base(name)] || module == nil {
				return fs.SkipDir
			}
			return nil
		case d.Type().IsRegular():
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func fileURL(dir string) string {
	dir = filepath.ToSlash(dir)
	if runtime.GOOS == "windows" {
		dir = "/" + dir
	}
	return "file://" + dir
}
