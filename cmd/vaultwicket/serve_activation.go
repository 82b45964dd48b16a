package main

import (
	"fmt"
	"net"
	"os"
	"strconv"

	"vaultwicket/cmd/internal/terminal"
)

// firstPassed is the number of the first descriptor that is passed.
const firstPassed = 3

// passedListener returns the socket that was passed to this process by socket activation, nil if
// there is none. pid is the id of this process: variables that were meant for a parent are
// ignored. The error is a [*terminal.UsageError] if the number of sockets is not one, or the
// descriptor cannot listen.
func passedListener(getenv func(string) string, pid int) (net.Listener, error) {
	if getenv("LISTEN_PID") != strconv.Itoa(pid) {
		return nil, nil
	}
	if n := getenv("LISTEN_FDS"); n != "1" {
		return nil, &terminal.UsageError{Reason: fmt.Sprintf("the service manager passes %q sockets, want 1", n), Advice: "give the socket unit one ListenStream"}
	}
	return listener(firstPassed)
}

// listener takes a descriptor over. Programs that are started later do not get it.
func listener(descriptor uintptr) (net.Listener, error) {
	file := os.NewFile(descriptor, "socket of the service manager")
	if file == nil {
		return nil, unusableSocket(os.ErrInvalid)
	}
	defer file.Close()
	l, err := net.FileListener(file)
	if err != nil {
		return nil, unusableSocket(err)
	}
	return l, nil
}

func unusableSocket(err error) error {
	return &terminal.UsageError{Reason: fmt.Sprintf("the socket of the service manager cannot be used: %v", err), Advice: "use ListenStream in the socket unit"}
}
