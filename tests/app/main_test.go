package app

import (
	"os"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

func TestMain(m *testing.M) {
	if program := os.Getenv(fakeVariable); program != "" {
		syscall.Exit(playApp(program)) // os.Exit lets the race detector sleep for a second
	}
	testenv.AtOnce(6)
	harness.Main(m)
}
