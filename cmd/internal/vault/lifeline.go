package vault

import (
	"io"
	"os"
	"strconv"

	"vaultwicket/cmd/internal/vault/command"
)

// lifelineVariable names an inherited descriptor: the reading end of a pipe
// that the gateway keeps open as long as it lives.
const lifelineVariable = "VAULTWICKET_LIFELINE"

// watchLifeline ends the process when the pipe's other end is closed, so that
// no child outlives a killed gateway. It does nothing if the variable is unset
// or does not name an open descriptor. Ending in the middle of a write is
// safe: a note is only ever replaced as a whole.
func watchLifeline(number string) {
	fd, err := strconv.ParseUint(number, 10, 31)
	const firstInherited = 3
	if err != nil || fd < firstInherited {
		return
	}
	lifeline = os.NewFile(uintptr(fd), "lifeline")
	if lifeline == nil {
		return
	}
	if info, err := lifeline.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	go func(pipe *os.File) {
		if _, err := io.Copy(io.Discard, pipe); err == nil {
			os.Exit(command.ExitFailed)
		}
	}(lifeline)
}

// lifeline is kept for the life of the process: a file that is collected is
// closed, and a wrong number may name a descriptor that is in use elsewhere.
var lifeline *os.File
