package process

import (
	osexec "os/exec"
	"sync"
)

// childSet contains the children of this process that package os/exec waits for. A child
// that is reaped elsewhere would have no exit status.
type childSet struct {
	startMutex sync.RWMutex // held for reading while a child is started
	pids       sync.Map     // process ids, without values
}

var children childSet

// start starts a child. pids has every running child while startMutex is held for writing.
func (f *childSet) start(begin func() error, cmd *osexec.Cmd) error {
	f.startMutex.RLock()
	defer f.startMutex.RUnlock()
	err := begin()
	if err == nil {
		f.pids.Store(cmd.Process.Pid, nil)
	}
	return err
}

// wait waits for a child that start has started.
func (f *childSet) wait(cmd *osexec.Cmd) error {
	err := cmd.Wait()
	f.pids.Delete(cmd.Process.Pid)
	return err
}
