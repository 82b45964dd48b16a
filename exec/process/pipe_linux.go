package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeSize is how much a pipe holds that a process answers through: it prints on while the
// pieces before are taken, and a piece with its head fits whole. A pipe takes memory for what
// is in it only.
const pipeSize = 256 << 10

// widen enlarges a pipe if the system allows it.
func widen(pipe *os.File) {
	raw, err := pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize)
	})
}
