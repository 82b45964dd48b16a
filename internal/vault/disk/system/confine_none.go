//go:build !linux

package system

// Confine does nothing: there is no Landlock on this system.
func Confine([]string, Network) Confinement { return Unconfined("Landlock is for Linux") }

// LimitMemory does nothing: it is only implemented for Linux.
func LimitMemory(uint64) {}
