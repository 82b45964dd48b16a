package process

import (
	"encoding/binary"
	"errors"

	"golang.org/x/sys/windows"
)

// resume lets a process run that was made suspended. The standard library closes the
// handle of the first thread, so it is looked up by its owner.
func resume(pid uint32) error {
	threads, err := threadsOf(pid)
	if err != nil {
		return err
	}
	if len(threads) == 0 {
		return errors.New("the process has no thread")
	}
	for _, id := range threads {
		if _, err := resumeThread(id); err != nil {
			return err
		}
	}
	return nil
}

// threadsOf returns the ids of the threads of a process.
func threadsOf(pid uint32) ([]uint32, error) {
	all, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(all)
	var ids []uint32
	entry := windows.ThreadEntry32{Size: uint32(binary.Size(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(all, &entry); err == nil; err = windows.Thread32Next(all, &entry) {
		if entry.OwnerProcessID == pid {
			ids = append(ids, entry.ThreadID)
		}
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return nil, err
	}
	return ids, nil
}

// resumeThread returns how often the thread had been suspended: it runs if that was once.
func resumeThread(id uint32) (suspended uint32, err error) {
	thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, id)
	if err != nil {
		return 0, err
	}
	defer windows.CloseHandle(thread)
	return windows.ResumeThread(thread)
}
