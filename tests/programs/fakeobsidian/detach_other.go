//go:build !unix

package main

import "os/exec"

// detach does nothing: a process outlives that which started it.
func detach(*exec.Cmd) {}
