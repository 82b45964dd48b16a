package serving

import (
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
)

// firstPassed is the descriptor of the first socket that a service manager passes, see sd_listen_fds(3).
const firstPassed = 3

// passedListener returns the socket that the service manager passed to this process (socket activation), nil if there
// is none. pid is the id of this process: variables for a parent process are ignored. The error
// is a [*terminal.UsageError] if the number of sockets is not one, or the socket cannot be used.
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

// listener returns a listener for a descriptor, which programs that are started later do not inherit.
func listener(descriptor uintptr) (l net.Listener, err error) {
	file := os.NewFile(descriptor, "socket of the service manager")
	err = os.ErrInvalid
	if file != nil {
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
