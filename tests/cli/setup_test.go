//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// newcomer opens a window with "vaultwicket setup" in a home that has a vault and the folder of one client, and answers
// its questions up to the last one. It returns the files that the last one is about.
func newcomer(t *testing.T, rights string) (w window, written []string) {
	t.Helper()
	r := harness.New(t, map[string]string{"Plan.md": "one\n"})
	home := filepath.Join(r.Home, "new")
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".cursor"), 0o700))
	w = open(t, 200, setting(r), "export HOME='"+home+"'", "vaultwicket setup")
	w.until("The folder of your notes:")
	w.enter("nowhere")
	w.until("is not a folder.")
	w.enter(r.Vault)
	w.until("1 to 2 [1]:")
	w.enter("7")
	w.until("7 is not one of these.")
	w.enter("1")
	w.until("1 to 4 [1]:")
	w.enter(rights)
	line := one(t, w.until("[y/N]"), "^This line is written into ")
	settingsFile := strings.TrimSuffix(strings.TrimPrefix(line, "This line is written into "), ":")
	return w, []string{settingsFile, filepath.Join(home, ".cursor", "mcp.json")}
}

// enter types a line.
func (w window) enter(text string) {
	w.t.Helper()
	w.do("send-keys", "-l", "--", text)
	w.do("send-keys", "Enter")
}

// All that setup writes is shown before it asks, and it asks once.
func TestSetupAsksOnceAboutAllThatItWrites(t *testing.T) {
	t.Parallel()
	w, written := newcomer(t, "2")
	shown := strings.Join(w.lines(), "\n")
	for _, file := range written {
		assert.Contains(t, shown, file)
	}
	w.enter("y")
	shown = strings.Join(w.end(), "\n")
	assert.Equal(t, strings.Count(shown, "[y/N]"), 1, "the questions whether to write in\n%s", shown)
	assert.Contains(t, textOf(t, written[0]), "\nvault = ")
	assert.Contains(t, textOf(t, written[1]), `"--tier", "v1", "--allow-mutations=false"`)
}

// A question that is not answered with yes leaves both files unwritten, and the line of the error is its own.
func TestSetupThatIsNotConfirmedWritesNothing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ key, status string }{
		"no":     {"n", "3"},
		"Enter":  {"", "3"},
		"Ctrl-C": {"C-c", "5"},
		"Ctrl-D": {"C-d", "3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, written := newcomer(t, "4")
			if strings.HasPrefix(test.key, "C-") {
				w.do("send-keys", test.key)
			} else {
				w.enter(test.key)
			}
			one(t, w.until("[the end, status "), `^\[the end, status `+test.status+`\]$`)
			one(t, w.lines(), "^vaultwicket: error: nothing was written$")
			for _, file := range written {
				_, err := os.Stat(file)
				assert.That(t, os.IsNotExist(err), "%s after %s: %v", file, name, err)
			}
		})
	}
}
