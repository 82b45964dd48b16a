package main

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The fields of /proc/PID/stat after the name, see proc(5).
const (
	statState   = 0
	statParent  = 1
	statStarted = 19 // in ticks since the machine was started
)

// lookUpProcess asks /proc.
func lookUpProcess(pid int) (processInfo, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return processInfo{}, errNoProcess
		}
		return processInfo{}, errHidden
	}
	_, rest, _ := strings.Cut(string(text[strings.LastIndexByte(string(text), ')')+1:]), " ")
	fields := strings.Fields(rest)
	if len(fields) <= statStarted {
		return processInfo{}, errHidden
	}
	if fields[statState] == "Z" || fields[statState] == "X" {
		return processInfo{}, errNoProcess
	}
	up, err := strconv.Atoi(fields[statParent])
	started, err2 := strconv.ParseUint(fields[statStarted], 10, 64)
	if errors.Join(err, err2) != nil {
		return processInfo{}, errHidden
	}
	return processInfo{started: started, parent: up}, nil
}

// endOfProcess returns a channel that is closed when a process ends, and a function that
// releases it. Before Linux 5.10 the channel stays open.
func endOfProcess(pid int) (ended <-chan struct{}, forget func()) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return nil, func() {}
	}
	file := os.NewFile(uintptr(fd), "pidfd")
	conn, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, func() {}
	}
	done := make(chan struct{})
	go func() {
		if conn.Read(readable) == nil { // an error when the file is closed
			close(done)
		}
	}()
	return done, func() { file.Close() }
}

// readable reports whether a descriptor can be read, which one of a process is
// when that has ended.
func readable(fd uintptr) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}
