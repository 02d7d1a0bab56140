package deadline

import (
	"context"
	"errors"
	"io"
	"os"
	"time"
)

// Writer is an end of a pipe or of a connection whose writes a deadline can cut.
type Writer interface {
	io.Writer
	SetWriteDeadline(t time.Time) error
}

// CutAtEnd ends a write that is under way when the context ends. Once the function that it
// gives has returned, no deadline of its can come after one that is set later.
func CutAtEnd(ctx context.Context, to Writer) (release func()) {
	cut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { defer close(cut); _ = to.SetWriteDeadline(time.Unix(1, 0)) })
	return func() {
		if !stop() {
			<-cut
		}
	}
}

// atOnce is how much is written at a time: what a reader has taken of it shows.
const atOnce = 64 << 10

// Write writes p within the deadline, which counts from the last byte that was taken:
// who reads slowly does read. What takes a little now and then is given up after twenty.
// took, where it is not nil, is told how many bytes were taken, each time. The
// error is the cause of the context, os.ErrDeadlineExceeded with the time that was
// waited for it, or what the write says of a reader that is gone. Where the platform has
// no deadlines for pipes, the write lasts until one of these ends it.
func Write(ctx context.Context, to Writer, p []byte, within time.Duration, took func(n int)) (written int, waited time.Duration, err error) {
	start := time.Now()
	defer CutAtEnd(ctx, to)()
	for written < len(p) {
		_ = to.SetWriteDeadline(time.Now().Add(within)) // an end that is closed is told by the write
		if ctx.Err() != nil {                           // the deadline that it brought may be the one just replaced
			return written, 0, context.Cause(ctx)
		}
		n, err := to.Write(p[written:min(written+atOnce, len(p))])
		written += n
		if n > 0 && took != nil {
			took(n)
		}
		late := errors.Is(err, os.ErrDeadlineExceeded)
		switch {
		case written == len(p):
		case ctx.Err() != nil:
			return written, 0, context.Cause(ctx)
		case err != nil && !late:
			return written, 0, err
		case time.Since(start) > lifetimes*within:
			return written, time.Since(start), os.ErrDeadlineExceeded
		case late && n == 0:
			return written, within, err
		}
	}
	return written, 0, nil
}
