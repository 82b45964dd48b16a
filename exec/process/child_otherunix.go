//go:build unix && !linux

package process

import "syscall"

// dieWithParent does nothing: these systems have no equivalent. The embedded program watches the lifeline instead,
// and the Obsidian CLI ends by itself when it has its answer.
func dieWithParent(*syscall.SysProcAttr) {}
