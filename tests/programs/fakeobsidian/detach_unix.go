//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// detach keeps a process when that which started it is ended.
func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
