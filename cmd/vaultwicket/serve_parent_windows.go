package main

import (
	"sync"

	"golang.org/x/sys/windows"
)

// forgetWithin is how long, in milliseconds, a thread may still wait for a process after its
// result is no longer needed.
const forgetWithin = 500

// lookUpProcess knows whether a process is there. Nobody takes the place of a parent on
// Windows, and while endOf has it open its number is not given away.
func lookUpProcess(pid int) (processInfo, error) {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err == windows.ERROR_INVALID_PARAMETER {
		return processInfo{}, errNoProcess
	}
	if err != nil {
		return processInfo{}, errHidden
	}
	defer windows.CloseHandle(process)
	if hasEnded(process, 0) {
		return processInfo{}, errNoProcess
	}
	return processInfo{}, errHidden
}

func hasEnded(process windows.Handle, milliseconds uint32) bool {
	event, err := windows.WaitForSingleObject(process, milliseconds)
	return err == nil && event == windows.WAIT_OBJECT_0
}

// endOfProcess returns a channel that is closed when a process ends, and a function that
// releases it.
func endOfProcess(pid int) (ended <-chan struct{}, forget func()) {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return nil, func() {}
	}
	done, unwanted := make(chan struct{}), make(chan struct{})
	go func() {
		defer windows.CloseHandle(process)
		for {
			if hasEnded(process, forgetWithin) {
				close(done)
				return
			}
			select {
			case <-unwanted:
				return
			default:
			}
		}
	}()
	return done, sync.OnceFunc(func() { close(unwanted) })
}
