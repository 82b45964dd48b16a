package process

import "syscall"

// dieWithParent has the kernel kill the child when the thread that starts it
// ends, which is when this process is killed. SIGTERM would not do: the client
// was seen to ignore it.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
