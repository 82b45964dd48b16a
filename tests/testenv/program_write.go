package testenv

import (
	"os"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// WriteProgram writes the text of a program that the test will start. It waits until no process of
// the test is being started: one that has just begun holds every open file for a moment, and a
// program that is open for writing cannot be started ("text file busy").
func WriteProgram(t testing.TB, path string, text []byte) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, text, 0o755))
}
