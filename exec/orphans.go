package exec

import (
	osexec "os/exec"
	"sync"
)

// family are the children of this process that package os/exec waits for. One that
// somebody else reaped would have no exit status for it.
type family struct {
	births sync.RWMutex // held for reading while a child is born
	own    sync.Map     // of the number of a process, to nothing
}

var kin family

// start starts a child. Whoever holds births for writing sees every child that
// runs in own.
func (f *family) start(begin func() error, cmd *osexec.Cmd) error {
	f.births.RLock()
	defer f.births.RUnlock()
	err := begin()
	if err == nil {
		f.own.Store(cmd.Process.Pid, nil)
	}
	return err
}

// wait waits for a child that start has started.
func (f *family) wait(cmd *osexec.Cmd) error {
	err := cmd.Wait()
	f.own.Delete(cmd.Process.Pid)
	return err
}
