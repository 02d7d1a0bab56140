package process

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// errNotFound and its like are reasons in a user's words; the errors of os say the same with paths
// and system call names that the user never typed.
var (
	errEmpty         = errors.New("no command was given")
	errNotFound      = errors.New("not found in PATH")
	errNoFile        = errors.New("there is no such file")
	errDirectory     = errors.New("it is a directory")
	errNotExecutable = errors.New("the file is not executable")
	errNotRegular    = errors.New("it is not a regular file")
)

// resolve finds the program of a command by the rules of Command.Argv: the path to execute, absolute
// where it has a separator, and the argv that the program gets.
func resolve(c Command) (path string, argv []string, err error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return "", nil, errEmpty
	}
	argv = append([]string(nil), c.Argv...)
	name := argv[0]
	if !hasSeparator(name) {
		path, err := exec.LookPath(name)
		if errors.Is(err, exec.ErrDot) { // PATH itself names the current directory: the caller's wish
			err = nil
		}
		if err != nil {
			return "", nil, errNotFound
		}
		path, err = filepath.Abs(path)
		return path, argv, err
	}
	path = name
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.ResolveDir, path)
		if path, err = filepath.Abs(path); err != nil {
			return "", nil, err
		}
		// A program that finds its files by argv[0] would look from Dir.
		argv[0] = path
	}
	if runtime.GOOS == "windows" { // LookPath knows the extensions that may be left out
		found, err := exec.LookPath(path)
		if err != nil {
			return "", nil, plain(err)
		}
		return found, argv, nil
	}
	if err := executable(path); err != nil {
		return "", nil, err
	}
	return path, argv, nil
}

func hasSeparator(name string) bool {
	return strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator)
}

// executable tells early, and in words, what the kernel would tell with a number.
func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return plain(err)
	case info.IsDir():
		return errDirectory
	case !info.Mode().IsRegular():
		return errNotRegular
	case info.Mode().Perm()&0o111 == 0:
		return errNotExecutable
	}
	return nil
}

// plain puts the errors of a look-up in a user's words.
func plain(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errNoFile
	case errors.Is(err, fs.ErrPermission):
		return errNotExecutable
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// directory checks a working directory before the start: the kernel's error for it can't be told
// from one for the program.
func directory(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return errors.New("its working directory " + dir + " can't be used: " + plain(err).Error())
	case !info.IsDir():
		return errors.New("its working directory " + dir + " is not a directory")
	}
	return nil
}

// shebang is the interpreter that the first line of a script names; empty if it is no script.
func shebang(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	head := make([]byte, 256)
	n, _ := file.Read(head)
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	rest, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return ""
	}
	fields := strings.Fields(rest)
	if strings.HasSuffix(line, "\r") && len(fields) == 1 {
		return fields[0] + `\r (the line ends in CR)`
	}
	if len(fields) == 0 {
		return ""
	}
	return fields[0]
}
