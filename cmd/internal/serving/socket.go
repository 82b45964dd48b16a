package serving

import (
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
)

const firstPassed = 3

// passedListener returns the socket that was passed to this process by socket activation, nil if there
// is none. pid is the id of this process: variables that were meant for a parent are ignored. The error
// is a [*terminal.UsageError] if the number of sockets is not one, or the descriptor cannot listen.
func passedListener(getenv func(string) string, pid int) (net.Listener, error) {
	if getenv("LISTEN_PID") != strconv.Itoa(pid) {
		return nil, nil
	}
	if n := getenv("LISTEN_FDS"); n != "1" {
		return nil, &terminal.UsageError{
			Reason: fmt.Sprintf("the service manager passes %q sockets, want 1", n),
			Advice: "give the socket unit one ListenStream",
		}
	}
	return listener(firstPassed)
}

// listener takes a descriptor over. Programs that are started later do not get it.
func listener(descriptor uintptr) (l net.Listener, err error) {
	file := os.NewFile(descriptor, "socket of the service manager")
	if err = os.ErrInvalid; file != nil {
		defer file.Close()
		l, err = net.FileListener(file)
	}
	if err != nil {
		return nil, &terminal.UsageError{
			Reason: fmt.Sprintf("the socket of the service manager cannot be used: %v", err),
			Advice: "use ListenStream in the socket unit",
		}
	}
	return l, nil
}
