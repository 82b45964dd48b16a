//go:build unix

package packaging

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// npmRoot is a project in which npm has installed the launcher, and the package for this
// system with a program, unless that is "".
func npmRoot(t *testing.T, program string) (launcher string) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("the launcher needs Node")
	}
	modules := filepath.Join(t.TempDir(), "node_modules")
	launcher = filepath.Join(modules, "vaultwicket", "launcher.js")
	for _, name := range []string{"launcher.js", "package.json"} {
		text := require.Value(os.ReadFile(filepath.Join("..", "..", "packaging", "npm", "vaultwicket", name)))(t)
		harness.WriteFile(t, filepath.Join(modules, "vaultwicket", name), text)
	}
	if program != "" {
		platform := require.Value(exec.Command("node", "-p", "process.platform + '-' + process.arch").Output())(t)
		folder := filepath.Join(modules, "@vaultwicket", strings.TrimSpace(string(platform)))
		harness.WriteFile(t, filepath.Join(folder, "package.json"), []byte(`{"name": "x", "version": "1.0.0"}`))
		require.NoError(t, os.MkdirAll(filepath.Join(folder, "bin"), 0o755))
		require.NoError(t, os.Symlink(program, filepath.Join(folder, "bin", "vaultwicket")))
	}
	return launcher
}

// launch runs the launcher and waits for its end.
func launch(t *testing.T, launcher, in string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	c := exec.Command("node", append([]string{launcher}, args...)...)
	var out, log bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(in), &out, &log
	c.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir())
	if err := c.Run(); c.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), log.String(), c.ProcessState.ExitCode()
}

func TestTheLauncherIsTheProgram(t *testing.T) {
	t.Parallel()
	launcher := npmRoot(t, harness.Binary)
	direct := require.Value(exec.Command(harness.Binary, "version").Output())(t)
	if out, log, status := launch(t, launcher, "", "version"); out != string(direct) || log != "" || status != 0 {
		t.Errorf("version: %q %q %d, want %q", out, log, status, direct)
	}
	if out, log, status := launch(t, launcher, "", "no-such-command"); out != "" || status != 2 || !strings.Contains(log, "no-such-command") {
		t.Errorf("a mistake: %q %q %d", out, log, status)
	}
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` +
		"\n"
	out, log, status := launch(t, launcher, hello, "serve", "--config=none", "--vault="+t.TempDir())
	assert.Equal(t, strings.Count(out, "\n"), 1, "a session: %q %q %d", out, log, status)
	assert.HasPrefix(t, out, `{"jsonrpc":"2.0","id":1,"result"`, "a session: %q %q %d", out, log, status)
	assert.Equal(t, status, 0, "a session: %q %q %d", out, log, status)
}

// Where npm left out the package of the system, the message names it; standard output
// stays empty, because a client reads it.
func TestAMissingProgramIsNamed(t *testing.T) {
	t.Parallel()
	out, log, status := launch(t, npmRoot(t, ""), "", "version")
	if out != "" || status != 4 || !strings.Contains(log, "the package @vaultwicket/") ||
		!strings.Contains(log, "--include=optional") || strings.Count(log, "\n") != 1 {
		t.Errorf("%q %q %d", out, log, status)
	}
}

// script writes a program for the launcher to start.
func script(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "program")
	testenv.WriteProgram(t, name, []byte("#!/bin/sh\n"+text))
	return name
}

// begin starts the launcher and waits until the program has written a line.
func begin(t *testing.T, program string) (*exec.Cmd, io.Reader) {
	t.Helper()
	c := exec.Command("node", npmRoot(t, program))
	in := require.Value(c.StdinPipe())(t)
	out := require.Value(c.StdoutPipe())(t)
	require.NoError(t, c.Start())
	t.Cleanup(func() { in.Close(); c.Process.Kill(); c.Wait() })
	ready := make([]byte, len("ready\n"))
	if _, err := io.ReadFull(out, ready); err != nil || string(ready) != "ready\n" {
		t.Fatalf("the program says %q, %v", ready, err)
	}
	return c, out
}

func TestSignalsReachTheProgram(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			c, out := begin(t, script(t,
				`for s in TERM INT HUP; do trap "echo $s; exit 7" $s; done; echo ready; i=0; while [ $i -lt 1000 ]; do sleep 0.01; i=$((i+1)); done`))
			require.NoError(t, c.Process.Signal(s))
			said, _ := io.ReadAll(out)
			c.Wait()
			want := map[syscall.Signal]string{syscall.SIGTERM: "TERM\n", syscall.SIGINT: "INT\n", syscall.SIGHUP: "HUP\n"}[s]
			assert.Equal(t, string(said), want,
				"%v: the program says %q and the launcher ends with %v", s, said, c.ProcessState)
			assert.Equal(t, c.ProcessState.ExitCode(), 7,
				"%v: the program says %q and the launcher ends with %v", s, said, c.ProcessState)
		})
	}
}

func TestTheLauncherEndsAsTheProgramEnds(t *testing.T) {
	t.Parallel()
	c := exec.Command("node", npmRoot(t, script(t, `kill -KILL $$`)))
	err := c.Run()
	exit, ok := errors.AsType[*exec.ExitError](err)
	require.That(t, ok, "SIGKILL becomes %v", err)
	assert.Equal(t, exit.Sys().(syscall.WaitStatus).Signal(), syscall.SIGKILL, "SIGKILL becomes %v", err)
	_, _, status := launch(t, npmRoot(t, script(t, `exit 70`)), "")
	assert.That(t, status == 70, "status 70 becomes %d", status)
}
