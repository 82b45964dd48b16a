package changes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

func program(t *testing.T) string {
	t.Helper()
	path := os.Getenv(harness.ProgramVariable)
	if path == "" {
		t.Skipf("%s does not name the built program", harness.ProgramVariable)
	}
	return path
}

// serve starts a server on a vault, with a state folder of its own or a shared one.
func serve(t *testing.T, vault, state string) *harness.StdioServer {
	t.Helper()
	flags := append(harness.EverythingEnabled(vault), "--rate=0", "--rate-mutations=0", "--rate-mutations-hour=0")
	process := exec.Command(program(t), append([]string{"serve"}, flags...)...)
	process.Env = append(os.Environ(), "XDG_STATE_HOME="+state)
	server := harness.StartStdio(t, process)
	server.Send(harness.Handshake("{}"))
	server.Read()
	return server
}

// Two servers append to one note while another program reads it again and again, as an app or a scanner does. Where the
// file system does not rename as POSIX does, as in Wine, Windows answers "access denied" while anybody has the note open.
// Every line is there once in the end, and no append fails, also of servers with a state folder each, which know nothing of
// each other's changes.
func TestTwoServersAppendToANoteThatIsRead(t *testing.T) {
	count := testenv.Count(50, 500)
	for name, shared := range map[string]bool{"one state folder": true, "two state folders": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			vault := filepath.Join(dir, "Vault")
			note := filepath.Join(vault, "Log.md")
			harness.WriteFile(t, note, []byte("# Log\n"))
			states := []string{filepath.Join(dir, "one"), filepath.Join(dir, "two")}
			if shared {
				states[1] = states[0]
			}
			failures := make([]map[int]string, len(states))
			var appending, reading sync.WaitGroup
			for i, state := range states {
				server := serve(t, vault, state)
				appending.Go(func() { failures[i] = appendLines(server, i, count) })
			}
			stop := make(chan struct{})
			looks := 0
			reading.Go(func() { looks = readUntil(stop, note) })
			appending.Wait()
			close(stop)
			reading.Wait()
			text := string(require.Value(os.ReadFile(note))(t))
			failed := 0
			lost := 0
			doubled := 0
			for i := range states {
				for n := range count {
					want := 1
					if why, isFailed := failures[i][n]; isFailed {
						failed++
						want = 0
						assert.That(t, failed > shown, "line %d of server %d: %s", n, i, why)
					}
					times := strings.Count(text, lineOf(i, n))
					lost += max(0, want-times)
					doubled += max(0, times-want)
				}
			}
			t.Logf("2 x %d appends, %d looks of another program: %d failed, %d lost", count, looks, failed, lost)
			assert.Equal(t, lost, 0, "lines that are lost")
			assert.Equal(t, doubled, 0, "lines that are there too often")
			assert.Equal(t, failed, 0, "appends that failed")
			assert.Equal(t, len(text), len("# Log\n")+(2*count-failed)*len(lineOf(0, 0)), "the length of the note")
			left := require.Value(os.ReadDir(vault))(t)
			assert.Equal(t, len(left), 1, fmt.Sprint("files of the vault: ", left))
		})
	}
}

// shown is how many failures of one kind are told one by one.
const shown = 5

func lineOf(server, n int) string { return fmt.Sprintf("- server %d, line %04d\n", server, n) }

// appendLines has a server append, and returns what failed, by the number of the line.
func appendLines(server *harness.StdioServer, i, count int) (failures map[int]string) {
	failures = map[int]string{}
	for n := range count {
		params := map[string]string{"path": "Log.md", "content": lineOf(i, n)}
		said, err := server.Ask(map[string]any{"command": "append", "params": params})
		if err != nil || !said.OK {
			failures[n] = fmt.Sprintf("%v, %+v", err, said.Error)
		}
	}
	return failures
}

// betweenLooks is what a program that reads a note leaves between two looks. One that never lets go of it keeps it from being
// changed for as long.
const betweenLooks = 50 * time.Millisecond

// readUntil reads a file until stop is closed, and returns how often.
func readUntil(stop <-chan struct{}, name string) (looks int) {
	again := time.NewTicker(betweenLooks)
	defer again.Stop()
	for {
		select {
		case <-stop:
			return looks
		case <-again.C:
		}
		if _, err := os.ReadFile(name); err == nil {
			looks++
		}
	}
}
