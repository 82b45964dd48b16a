//go:build unix

package process

import (
	"fmt"
	"os"
	osexec "os/exec"
	"strconv"
	"sync"
	"syscall"
)

// lifelineVariable names the descriptor that the embedded program watches: the read end of a pipe that nothing is
// written to. It reads end of file when this process ends.
const (
	lifelineVariable   = "VAULTWICKET_LIFELINE=3"
	signalBase         = 128 // added to a signal number by shells
	firstInherited     = 3   // the first descriptor after the standard streams, which every child gets anew
	descriptorFolder   = "/dev/fd"
	statusAbortedShell = signalBase + int(syscall.SIGABRT) // from a launcher script whose older client aborted
)

// pipe has both ends, so that the write end stays referenced and is not closed by the garbage collector.
type pipe struct{ reader, writer *os.File }

// lifeline creates the pipe once for the whole process.
var lifeline = sync.OnceValues(func() (p pipe, err error) {
	p.reader, p.writer, err = os.Pipe()
	return p, err
})

// confine puts the child into a process group of its own and ties its life to that of this process. The embedded
// program also gets the lifeline.
func confine(cmd *osexec.Cmd, c Child) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	if !c.Embedded {
		return nil
	}
	line, err := lifeline()
	if err != nil {
		return err
	}
	cmd.ExtraFiles = []*os.File{line.reader}
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], lifelineVariable)
	return nil
}

func start(cmd *osexec.Cmd, _ Child) error { return cmd.Start() }

// interruptClient asks only the Obsidian CLI itself to end, because its group may contain the user's app.
func interruptClient(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// interruptEmbedded asks the embedded program and its group to end.
func interruptEmbedded(p *os.Process) error {
	if err := syscall.Kill(-p.Pid, syscall.SIGTERM); err != nil {
		return os.ErrProcessDone
	}
	return nil
}

// killGroup kills the remaining processes in the group of the embedded program. The id of a group is not reused
// while it has members.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) } // an error means that none is left

// exitOf returns the exit status as a shell reports it. crash describes the signal that ended the process, "" if
// none did.
func exitOf(state *os.ProcessState) (status int, crash string) {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return signalBase + int(ws.Signal()), fmt.Sprintf("signal %d, %v", int(ws.Signal()), ws.Signal())
	}
	if status = state.ExitCode(); status == statusAbortedShell {
		return status, "status 134, an abort"
	}
	return status, ""
}

// closeInherited marks the descriptors that this process inherited as close-on-exec. Go marks those that it opens
// itself.
var closeInherited = sync.OnceFunc(func() {
	entries, err := os.ReadDir(descriptorFolder)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= firstInherited {
			syscall.CloseOnExec(fd)
		}
	}
})
