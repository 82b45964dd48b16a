package observe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"syscall"
)

// LogPanic logs what was recovered, where it happened and in which command or
// tool, which must be a name of ours. of the value it tells what a gateway tells
// of its own faults: nothing that a caller sent.
func LogPanic(log *slog.Logger, where string, value any, stack []byte) {
	attrs := append(FaultAttrs(value), slog.String("in", where), slog.String("stack", string(stack)))
	log.LogAttrs(context.Background(), LevelBug, "panic", attrs...)
}

// FaultAttrs describes a fault of ours for the log, without what was worked on:
// the text of most errors and panics can hold a path, a parameter or a piece of
// a note. What is told is the kinds of the errors, and the text of the innermost
// one where its kind has only fixed texts.
func FaultAttrs(fault any) []slog.Attr {
	err, ok := fault.(error)
	if !ok {
		return []slog.Attr{slog.String("kind", fmt.Sprintf("%T", fault))}
	}
	kinds := fmt.Sprintf("%T", err)
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			break
		}
		err = inner
		kinds += " > " + fmt.Sprintf("%T", err)
	}
	attrs := []slog.Attr{slog.String("kind", kinds)}
	if text, fixed := fixedText(err); fixed {
		attrs = append(attrs, slog.String("fault", text))
	}
	return attrs
}

// fixedText returns the text of an error that cannot hold anything from outside.
func fixedText(err error) (text string, fixed bool) {
	switch err := err.(type) {
	case runtime.Error:
		return err.Error(), true
	case syscall.Errno:
		return err.Error(), true
	}
	for _, known := range plainErrors {
		if err == known {
			return err.Error(), true
		}
	}
	return "", false
}

// plainErrors are errors of the standard library that faults are made of.
var plainErrors = []error{
	io.EOF, io.ErrUnexpectedEOF, io.ErrShortWrite, io.ErrClosedPipe, fs.ErrInvalid, fs.ErrPermission, fs.ErrExist, fs.ErrNotExist, fs.ErrClosed,
	os.ErrProcessDone, os.ErrDeadlineExceeded, context.Canceled, context.DeadlineExceeded,
}
