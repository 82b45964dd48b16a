// Package harness is what the tests of several packages share: the built program, the
// servers and clients made of it, vaults, and calls.
//
// A package of tests that needs the program has its TestMain call [Main].
package harness

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// Deadline bounds one session, so that a lost answer fails instead of hanging. In Wine, on a machine that does other work, a
// program has taken a minute to start.
var Deadline = deadline()

func deadline() time.Duration {
	if testenv.ProgramsStartSlowly() {
		return 4 * time.Minute
	}
	return 30 * time.Second
}

// Binary is the path of the program under test. It is set while tests run.
var Binary string

// ProgramVariable names the program where it is built already: there is no Go in Wine to build it.
const ProgramVariable = "PROGRAM_UNDER_TEST"

// copyTo is the variable with the path to which a test binary that the go command
// starts is to copy the program.
const copyTo = "VAULTWICKET_TESTS_COPY_TO"

// Main builds the program, runs the tests of a package and ends the process.
func Main(m *testing.M) { os.Exit(Built{m}.Run()) }

// Built runs the tests of a package with the program built.
type Built struct{ M *testing.M }

// Run returns the exit status of the tests.
func (b Built) Run() int {
	if to := os.Getenv(copyTo); to != "" {
		return status(copyProgram(os.Args[len(os.Args)-1], to))
	}
	testenv.UseMemory()
	folder, err := os.MkdirTemp("", "vaultwicket-tests-")
	if err != nil {
		return status(err)
	}
	defer os.RemoveAll(folder)
	Binary = os.Getenv(ProgramVariable)
	if Binary == "" {
		Binary = filepath.Join(folder, "vaultwicket")
		if err := Build("github.com/vaultwicket/vaultwicket/cmd/vaultwicket", Binary); err != nil {
			return status(fmt.Errorf("build: %w", err))
		}
	}
	testenv.WaitTogether()
	return b.M.Run()
}

func status(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, err)
	return 2
}

// Build makes a program of the module at a path, without C as it is released, so that it also
// starts faster. The go command keeps what "go run" linked, so that of all packages of tests only
// the first one waits for the linker: it has this very process, run again, copy the program.
func Build(program, to string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	run := exec.Command("go", "run", "-exec", "'"+self+"'", program)
	run.Env = append(os.Environ(), "CGO_ENABLED=0", copyTo+"="+to)
	run.Stdout = os.Stderr
	run.Stderr = os.Stderr
	return run.Run()
}

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}
