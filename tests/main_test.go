package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"vaultwicket/tests/memory"
)

// binary is the program under test, built once for all tests of this package.
var binary string

func TestMain(m *testing.M) {
	testscript.Main(built{m}, map[string]func(){"obsidian": fakeObsidian})
}

// built builds the program before the tests run, and removes it afterwards.
type built struct{ m *testing.M }

func (b built) Run() int {
	memory.Use()
	folder, err := os.MkdirTemp("", "vaultwicket-tests-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer os.RemoveAll(folder)
	binary = filepath.Join(folder, "vaultwicket")
	build := exec.Command("go", "build", "-o", binary, "vaultwicket/cmd/vaultwicket")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		return 2
	}
	return b.m.Run()
}
