package harness

import (
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vaultwicket/vaultwicket/tests/require"
)

// StartAtTerminal starts a program in a terminal of its own, which is also its standard
// input, and returns the side of the user: what is written there is typed, what is read
// there is shown.
func StartAtTerminal(t *testing.T, program *osexec.Cmd) (user *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { user.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0))
	number := require.Value(unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN))(t)
	terminal := require.Value(os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	defer terminal.Close()
	program.Stdin = terminal
	program.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // of its standard input
	require.NoError(t, program.Start())
	return user
}

// AtTerminal runs a program in a terminal of its own, at which a user types, and returns what is shown there.
func AtTerminal(t *testing.T, program *osexec.Cmd, typed string) (shown string, err error) {
	t.Helper()
	user := StartAtTerminal(t, program)
	_, err = user.WriteString(typed)
	require.NoError(t, err)
	defer time.AfterFunc(Deadline, func() { program.Process.Kill() }).Stop()
	var all strings.Builder
	_, _ = io.Copy(&all, user) // ends with an error when the last of the program has gone
	return all.String(), program.Wait()
}
