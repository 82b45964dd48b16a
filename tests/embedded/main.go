package embedded

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// Main runs the tests of a package that calls the program often.
func Main(m *testing.M) {
	Prepare()
	os.Exit(m.Run())
}

// Prepare makes tests that call the program often fast.
func Prepare() {
	testenv.UseMemory()
	debug.SetGCPercent(800) // what a call leaves is small: to collect it took a third of the time of all tests
}
