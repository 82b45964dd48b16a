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

// firstException is the lowest Windows status code of severity "error". An access violation, for example, has
// 0xC0000005.
const firstException = 0xC0000000

// Windows ends the processes in these jobs when this process ends, because nobody else has their handles. Processes
// that the Obsidian CLI starts are never in its job: one of them may be the user's app.
var (
	clientJob = sync.OnceValues(func() (windows.Handle, error) {
		return newJob(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK)
	})
	embeddedJob = sync.OnceValues(func() (windows.Handle, error) {
		return newJob(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)
	})
)

// newJob creates a job with the given limits. It is the only place with unsafe: the system call takes the address of
// a struct as a number.
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
		_ = windows.CloseHandle(job) // err is more useful than its error
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

// confine makes the process start with its first thread suspended, see start.
func confine(cmd *osexec.Cmd, c Child) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW | windows.CREATE_SUSPENDED,
	}
	_, err := jobFor(c)
	return err
}

// start starts the process suspended, puts it into its job, and only then resumes it, so that everything it starts
// is in the job too. A process that cannot be put into its job does not run.
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
		_ = cmd.Process.Kill() // it has not run yet, and Wait would only report that it was killed
		_ = cmd.Wait()
		return err
	}
	return nil
}

// assign puts a suspended process into a job and resumes it. The standard library has closed the handle of its first
// thread, so the threads are looked up by their process.
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

// interruptClient ends the process at once, because a process without a console cannot be asked to end.
func interruptClient(p *os.Process) error { return p.Kill() }

// interruptEmbedded ends the process at once.
func interruptEmbedded(p *os.Process) error { return p.Kill() }

// killGroup does nothing: the embedded program starts no other processes.
func killGroup(int) {}

// exitOf returns the exit status. crash describes the exception that ended the process, "" if none did.
func exitOf(state *os.ProcessState) (status int, crash string) {
	status = state.ExitCode()
	if code := uint32(status); code >= firstException {
		return status, fmt.Sprintf("exception %#x", code)
	}
	return status, ""
}

// closeInherited does nothing: handles are only inherited if they are listed.
func closeInherited() {}

// threadsOf returns the ids of the threads of a process.
func threadsOf(pid uint32) ([]uint32, error) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(snapshot)
	var ids []uint32
	entry := windows.ThreadEntry32{Size: uint32(binary.Size(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID == pid {
			ids = append(ids, entry.ThreadID)
		}
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return nil, err
	}
	return ids, nil
}

// resumeThread resumes a thread and returns how often it had been suspended. It runs only if that was once.
func resumeThread(id uint32) (suspended uint32, err error) {
	thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, id)
	if err != nil {
		return 0, err
	}
	defer windows.CloseHandle(thread)
	return windows.ResumeThread(thread)
}
