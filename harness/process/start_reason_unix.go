//go:build linux || darwin

package process

import (
	"errors"
	"fmt"
	"syscall"
)

// startReason puts the errno of a failed start in words. The file itself was looked at before (see
// resolve): what the kernel still refuses lies in what the file names.
func startReason(f failedReport, path string) error {
	errno := syscall.Errno(f.Errno)
	interpreter := shebang(path)
	switch {
	case f.Errno == 0 || f.Own:
		return errors.New(f.Reason)
	case errno == syscall.ENOENT && interpreter != "":
		return fmt.Errorf("the interpreter in its first line, %s, does not exist: %w", interpreter, errno)
	case errno == syscall.ENOENT && executable(path) == nil:
		return fmt.Errorf("the loader that it asks for does not exist (a program for another system?): %w", errno)
	case errno == syscall.ENOENT:
		return fmt.Errorf("there is no such file: %w", errno)
	case errno == syscall.ENOEXEC:
		return fmt.Errorf("it is neither a program for this system nor a script with a #! line: %w", errno)
	case (errno == syscall.EACCES || errno == syscall.ENOTDIR) && interpreter != "":
		return fmt.Errorf("the interpreter in its first line, %s, can't be executed: %w", interpreter, errno)
	case errno == syscall.E2BIG:
		return fmt.Errorf("its arguments and environment are too long together: %w", errno)
	}
	return errno
}
