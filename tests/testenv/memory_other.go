//go:build !linux

package testenv

import "testing"

// UseMemory does nothing: there is no folder in memory that every machine has.
func UseMemory() {}

// MemoryFolder returns a temporary folder for one test.
func MemoryFolder(t *testing.T) string { return t.TempDir() }
