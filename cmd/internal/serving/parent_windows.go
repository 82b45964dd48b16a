package serving

import "golang.org/x/sys/windows"

// lookUpProcess only reports whether a process exists. Windows does not give orphans a new parent.
func lookUpProcess(pid int) (processInfo, error) {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err == windows.ERROR_INVALID_PARAMETER {
		return processInfo{}, errNoProcess
	}
	if err != nil {
		return processInfo{}, errHidden
	}
	defer windows.CloseHandle(process)
	if event, err := windows.WaitForSingleObject(process, 0); err == nil && event == windows.WAIT_OBJECT_0 {
		return processInfo{}, errNoProcess
	}
	return processInfo{}, errHidden
}
