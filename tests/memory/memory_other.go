//go:build !linux

package memory

import "testing"

// Use does nothing: there is no folder in memory that every machine has.
func Use() {}

// Folder returns a temporary folder for one test.
func Folder(t *testing.T) string { return t.TempDir() }
