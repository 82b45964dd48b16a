//go:build unix

package cli

import (
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// window is a terminal of tmux, with a shell script in it.
type window struct {
	t            *testing.T
	tmux, socket string
}

// height is more than any of the lists has, so that nothing leaves the screen.
const height = 400

// open runs the lines of a shell script in a window of so many columns. The script ends
// with a line that says so, and the window stays.
func open(t *testing.T, width int, lines ...string) window {
	t.Helper()
	tmux, err := osexec.LookPath("tmux")
	if err != nil {
		t.Skip("no tmux here")
	}
	folder, err := os.MkdirTemp("", "w") // a short path: it is that of a socket
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	w := window{t, tmux, filepath.Join(folder, "s")}
	script := filepath.Join(folder, "script")
	text := "trap : INT\n" + strings.Join(append(lines, `echo "[the end, status $?]"`, "exec cat"), "\n") + "\n"
	testenv.WriteProgram(t, script, []byte(text))
	w.do("-f", os.DevNull, "-u", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "/bin/sh", script)
	t.Cleanup(func() { w.do("kill-server") })
	return w
}

// do runs a command of tmux.
func (w window) do(args ...string) string {
	w.t.Helper()
	command := osexec.Command(w.tmux, append([]string{"-S", w.socket}, args...)...)
	command.Env = []string{"LC_ALL=C.UTF-8", "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "SHELL=/bin/sh"}
	out, err := command.CombinedOutput()
	require.That(w.t, err == nil, "tmux %q: %v: %s", args, err, out)
	return string(out)
}

// lines returns what is on the screen. A line that the terminal has wrapped is one line.
func (w window) lines(options ...string) []string {
	w.t.Helper()
	text := w.do(append([]string{"capture-pane", "-p", "-J"}, options...)...)
	var lines []string
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return lines
}

// until waits for text on the screen, and returns the screen with it.
func (w window) until(text string) []string {
	w.t.Helper()
	var lines []string
	appears := func() bool {
		lines = w.lines()
		return strings.Contains(strings.Join(lines, "\n"), text)
	}
	require.That(w.t, assert.Await(harness.Deadline, appears), "%q does not appear on\n%s", text, strings.Join(lines, "\n"))
	return lines
}

// end waits for the end of the script, and returns the lines above.
func (w window) end() []string {
	w.t.Helper()
	lines := w.until("[the end, status ")
	for i, line := range lines {
		if strings.HasPrefix(line, "[the end, status ") {
			return lines[:i]
		}
	}
	w.t.Fatalf("the end is not at the start of a line:\n%s", strings.Join(lines, "\n"))
	return nil
}

// setting returns the lines of a script that give the program the home and the saved settings of
// a program, and the colours that are wanted. It changes nothing of the program, so windows may be opened at once.
func setting(r *harness.Program, more ...string) string {
	assignments := append([]string{"HOME='" + r.Home + "'", "VAULTWICKET_NOW=2026-11-21T09:30:00+01:00"}, more...)
	return "unset NO_COLOR CLICOLOR CLICOLOR_FORCE XDG_STATE_HOME XDG_CONFIG_HOME XDG_CACHE_HOME; export " +
		strings.Join(assignments, " ") + "; vaultwicket() { '" + harness.Binary + "' \"$@\"; }"
}

// one returns the one line that matches a pattern.
func one(t *testing.T, lines []string, pattern string) string {
	t.Helper()
	var found []string
	for _, line := range lines {
		if regexp.MustCompile(pattern).MatchString(line) {
			found = append(found, line)
		}
	}
	require.That(t, len(found) == 1, "%d lines match %q in\n%s", len(found), pattern, strings.Join(lines, "\n"))
	return found[0]
}
