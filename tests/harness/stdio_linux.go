package harness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// Patience bounds how long a test waits for something that must happen.
const Patience = 20 * time.Second

// HangingClient writes a client that answers the version, and otherwise notes
// its process id and hangs. It returns the client and the file of the id.
func HangingClient(t *testing.T) (client, pidFile string) {
	t.Helper()
	folder := t.TempDir()
	client = filepath.Join(folder, "obsidian")
	pidFile = filepath.Join(folder, "pid")
	script := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = version ]; then echo '1.12.7 (installer 1.12.7)'; exit; fi\necho $$ >'%s'\nexec sleep 600\n", pidFile)
	testenv.WriteProgram(t, client, []byte(script))
	return client, pidFile
}

// WaitFor waits until done says so, with a limit.
func WaitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	require.Within(t, Patience, what, done)
}

// WaitForChild returns the process id of the hanging client once it runs.
func WaitForChild(t *testing.T, pidFile string) int {
	t.Helper()
	pid := 0
	WaitFor(t, "the client starts", func() bool {
		content, err := os.ReadFile(pidFile)
		if line, whole := strings.CutSuffix(string(content), "\n"); err == nil && whole {
			pid, _ = strconv.Atoi(line)
		}
		return pid > 0
	})
	return pid
}

// Gone reports whether a process has ended. One that ended and was not waited
// for by anybody counts as gone.
func Gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(stat, []byte(") Z "))
}

// StartServerIn starts a server with a home.
func StartServerIn(t *testing.T, home string, flags ...string) *StdioServer {
	t.Helper()
	process := serve(append([]string{"--config=none"}, flags...)...)
	process.Env = append(os.Environ(), "HOME="+home)
	return StartStdio(t, process)
}

func SampleVault(t *testing.T) string {
	t.Helper()
	vault := filepath.Join(t.TempDir(), "Vault")
	for name, text := range map[string]string{"Tides.md": "Two a day.\n", "One/only.md": "\xff\x00", "Long.md": strings.Repeat("line\n", 1<<16)} {
		WriteFile(t, filepath.Join(vault, name), []byte(text))
	}
	return vault
}

// ServeOn starts a server on a vault, with the first answer still to be read.
func ServeOn(t *testing.T, vault string, flags ...string) *StdioServer {
	t.Helper()
	s := StartServerIn(t, t.TempDir(), append([]string{"--backend=embedded", "--vault=" + vault}, flags...)...)
	s.Send(Handshake("{}"))
	return s
}
