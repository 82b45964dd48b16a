//go:build !linux

package servers

// releaseProgram has no counterpart here.
func releaseProgram() {}
