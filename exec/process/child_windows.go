package process

import (
	"encoding/binary"
	"errors"
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

// The jobs end what is in them when this process ends, because its handles are the only ones. Processes
// that the client starts are never in its job: one of them may be the user's app.
var (
	clientJob = sync.OnceValues(func() (windows.Handle, error) {
		return newJob(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK)
	})
	embeddedJob = sync.OnceValues(func() (windows.Handle, error) {
		return newJob(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)
	})
)

// newJob is the one place with unsafe: the call takes the address of a struct as a number.
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

func jobFor(c Child) (windows.Handle, error) {
	if c.Embedded {
		return embeddedJob()
	}
	return clientJob()
}

// confine has the process start with its first thread suspended: see start.
func confine(cmd *osexec.Cmd, c Child) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW | windows.CREATE_SUSPENDED,
	}
	_, err := jobFor(c)
	return err
}

// start makes the process, puts it into its job and only then lets it run, so that
// everything that it starts is in the job too. A process that no job ends does not run.
func start(cmd *osexec.Cmd, c Child) error {
	job, err := jobFor(c)
	if err != nil {
		return err
	}
	return startIn(cmd, job)
}

func startIn(cmd *osexec.Cmd, job windows.Handle) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := assign(cmd.Process, job); err != nil {
		_ = cmd.Process.Kill() // it has not run yet, and Wait tells only that it was killed
		_ = cmd.Wait()
		return err
	}
	return nil
}

// assign puts a process that was made suspended into a job and lets it run. The standard library closes
// the handle of the first thread, so it is looked up by its owner.
func assign(p *os.Process, job windows.Handle) error {
	var refused error
	err := p.WithHandle(func(handle uintptr) {
		refused = windows.AssignProcessToJobObject(job, windows.Handle(handle))
	})
	if err := errors.Join(err, refused); err != nil {
		return err
	}
	threads, err := threadsOf(uint32(p.Pid))
	if err != nil {
		return err
	}
	return resumeFirst(threads, resumeThread)
}

// interruptClient ends the process at once: there is no polite way to ask one that has no console.
func interruptClient(p *os.Process) error { return p.Kill() }

// interruptEmbedded ends the process at once.
func interruptEmbedded(p *os.Process) error { return p.Kill() }

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
