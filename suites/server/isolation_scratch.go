package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// scratchWatch looks for what appears in the scratch tree of the run where the
// server has no business.
type scratchWatch struct {
	root   string
	place  string   // an empty directory that nobody is told of but by a session id
	given  []string // the server's own
	before map[string]bool
}

// up is the place as a path that climbs. More steps up than any directory of the
// tree is deep end at the root: so it names the place, inside the scratch tree,
// whatever it is joined to.
func (w scratchWatch) up() string {
	path := strings.TrimPrefix(filepath.ToSlash(w.place), "/")
	return strings.Repeat("../", strings.Count(path, "/")+8) + path
}

// scratch lists the tree as it is and makes the place.
func (r *runner) scratch(t *T) scratchWatch {
	root, err := filepath.EvalSymlinks(r.cfg.Scratch)
	t.Need("find the scratch tree", err)
	root, err = filepath.Abs(root)
	t.Need("find the scratch tree", err)
	w := scratchWatch{root: root, place: filepath.Join(root, "elsewhere", strings.ReplaceAll(t.ID, "/", "-")), given: r.given()}
	t.Need("make a directory in the scratch tree", os.MkdirAll(w.place, 0o755))
	w.before, err = w.list()
	t.Need("list the scratch tree", err)
	return w
}

// given are the directories that the server was told of: its home, the
// workspace, the place for temporary files, and what else in the scratch tree
// its command line and its environment name. The tree as a whole counts for no
// directory of its own.
func (r *runner) given() []string {
	// Below it lie those of processes that have directories of their own.
	dirs := []string{r.path("home"), r.path("work"), r.path("tmp"), r.path("apart"), r.launch.Cwd, r.launch.Command.Dir}
	for _, text := range slices.Concat(r.launch.Command.Argv, r.launch.Command.Env) {
		if text == r.cfg.Scratch || strings.HasSuffix(text, "="+r.cfg.Scratch) {
			dirs = append(dirs, r.cfg.Scratch)
		}
		for {
			i := strings.Index(text, r.cfg.Scratch+string(filepath.Separator))
			if i < 0 {
				break
			}
			text = text[i:]
			end := strings.IndexAny(text, ":;,\"' ")
			if end < 0 {
				end = len(text)
			}
			dirs = append(dirs, text[:end])
			text = text[end:]
		}
	}
	var out []string
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		out = append(out, filepath.Clean(dir))
	}
	return out
}

// list gives all paths of the tree but for what is in the server's own directories.
func (w scratchWatch) list() (map[string]bool, error) {
	paths := map[string]bool{}
	err := filepath.WalkDir(w.root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // gone meanwhile
		case err != nil:
			return err
		case slices.Contains(w.given, path) && path != w.root && entry.IsDir():
			return fs.SkipDir
		}
		paths[path] = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the scratch tree: %w", err)
	}
	return paths, nil
}

// added are the paths that are new, relative to the tree.
func (w scratchWatch) added() ([]string, error) {
	now, err := w.list()
	if err != nil {
		return nil, err
	}
	var out []string
	for path := range now {
		if rel, err := filepath.Rel(w.root, path); err == nil && !w.before[path] {
			// A server whose workspace is the whole tree may write anywhere but there.
			if !slices.Contains(w.given, w.root) || strings.HasPrefix(path, w.place) {
				out = append(out, filepath.ToSlash(rel))
			}
		}
	}
	slices.Sort(out)
	return out, nil
}
