package process

import (
	"fmt"
	"os"
	osexec "os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// firstException is where Windows status codes of severity "error" begin, such
// as 0xC0000005 for an access violation.
const firstException = 0xC0000000

// The jobs end what is in them when this process ends, because its handles are
// the only ones. Processes that the client starts are never in its job: one of
// them may be the user's app.
var (
	clientJob = sync.OnceValues(func() (windows.Handle, error) {
		return newJob(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK)
	})
	embeddedJob = sync.OnceValues(func() (windows.Handle, error) {
		return newJob(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)
	})
)

// newJob is the one place with unsafe: the call takes the address of a struct
// as a number.
func newJob(flags uint32) (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = flags
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(job) // the first error is the one that counts
		return 0, err
	}
	return job, nil
}

func jobFor(embedded bool) (windows.Handle, error) {
	if embedded {
		return embeddedJob()
	}
	return clientJob()
}

func confine(cmd *osexec.Cmd, embedded bool) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
	_, err := jobFor(embedded)
	return err
}

// start puts the process into its job right after it was made. Only a gateway
// that is killed between the two steps leaves it behind.
func start(cmd *osexec.Cmd, embedded bool) error {
	job, err := jobFor(embedded)
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	// A process that has ended already cannot be assigned, and need not be.
	_ = cmd.Process.WithHandle(func(handle uintptr) {
		_ = windows.AssignProcessToJobObject(job, windows.Handle(handle))
	})
	return nil
}

// interrupt ends the process at once: there is no polite way to ask one that
// has no console.
func interrupt(p *os.Process, _ bool) error { return p.Kill() }

// killGroup has nothing to do: our own program starts no other.
func killGroup(int) {}

func exitOf(state *os.ProcessState) (status int, crash string) {
	status = state.ExitCode()
	if code := uint32(status); code >= firstException {
		return status, fmt.Sprintf("exception %#x", code)
	}
	return status, ""
}

// closeInherited has nothing to do: handles are not inherited unless listed.
func closeInherited() {}
