//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// widths are those of a window next to another one, of the usual one, and of a wide one.
var widths = []int{60, 80, 140}

const (
	longNote = "Projects/A note with a rather long name about the garden and the shed.md"
	wideNote = "日本語のとても長い名前のノートについての覚え書き.md"
)

// changed is a program with some changes, and a request that is pending.
func changed(t *testing.T) *harness.Program {
	t.Helper()
	r := harness.New(t, map[string]string{longNote: "# Garden\n", wideNote: "# Notes\n"})
	r.Save()
	for _, args := range [][]string{
		{"append", "path=" + longNote, "content=seeds"}, {"append", "path=" + wideNote, "content=x"}, {"delete", "path=" + longNote},
	} {
		r.Run(append([]string{"run"}, args...)...)
	}
	return r
}

func TestListsFitTheWindow(t *testing.T) {
	t.Parallel()
	r := changed(t)
	for _, width := range widths {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			for command, header := range map[string]string{
				"commands":       "TIER +EFFECT +COMMAND AND ITS PARAMETERS",
				"commands --all": "TIER +EFFECT +COMMAND +ENABLED",
				"journal list":   "WHEN +STATE +COMMAND +BY +FILES",
				"undo list":      "WHEN +STATE +COMMAND +BY +FILES",
				"audit list":     "NO +WHEN +DECISION +COMMAND +VAULT +DETAILS",
			} {
				lines := open(t, width, setting(r), "vaultwicket "+command).end()
				one(t, lines, header)
				for _, line := range lines {
					got := displaywidth.String(line)
					assert.That(t, got <= width, "%s: a line of %d columns in %d: %q", command, got, width, line)
				}
				checkRows(t, command, width, lines)
			}
		})
	}
}

// now is when something was that has just happened, on a slow machine.
const now = `(just now|\d+ s ago|\d+ min ago)`

func checkRows(t *testing.T, command string, width int, lines []string) {
	t.Helper()
	switch command {
	case "journal list", "undo list":
		one(t, lines, now+` +done +append +terminal +Projects/A note with .*(…|\.md)$`)
		wide := one(t, lines, now+` +done +append +terminal +日本語の.*(…|\.md)$`)
		assert.That(t, strings.HasSuffix(wide, "…") != (width == 140), "%d columns: %q", width, wide)
		ids := 0
		for _, line := range lines {
			for word := range strings.FieldsSeq(line) {
				if strings.HasPrefix(word, "20") && strings.Contains(word, "Z-") && !strings.Contains(word, "…") {
					ids++
				}
			}
		}
		assert.That(t, ids == 2, "%d columns: %d ids in\n%s", width, ids, strings.Join(lines, "\n"))
	case "audit list":
		one(t, lines, now+` +ask +delete +Notes +unconfirmed`)
	}
}

func TestPendingRequestsAndPlans(t *testing.T) {
	t.Parallel()
	r := changed(t)
	for _, width := range widths {
		lines := open(t, width, setting(r), "vaultwicket approvals").end()
		one(t, lines, `^[0-9A-Z]{4}-[0-9A-Z]{4}  asked `+now+`, (9 min|\d+ s|\d+ min) left$`)
		one(t, lines, `^  vault "Notes", command "delete", client "terminal"`)
		lines = open(t, width, setting(r), "vaultwicket approvals --exact-times").end()
		one(t, lines, `^[0-9A-Z-]{9}  asked 20\d\d-.*Z, expires 20\d\d-.*Z$`)

		lines = open(t, width, setting(r), "vaultwicket dry-run -v append path='"+wideNote+"' content=y 2>/dev/null").end()
		one(t, lines, `^decision +allow$`)
		one(t, lines, `^│ \+y$`)
		for _, line := range lines[:len(lines)-3] { // the last is a line for a shell, to be copied
			got := displaywidth.String(line)
			assert.That(t, got <= width || strings.HasPrefix(line, "/"), "dry-run: a line of %d columns in %d: %q", got, width, line)
		}
	}
}

func TestHelpFitsTheWindow(t *testing.T) {
	t.Parallel()
	r := harness.New(t, nil)
	r.Save()
	for _, width := range widths {
		for _, command := range []string{"help", "help run", "undo -h", "help audit"} {
			lines := open(t, width, setting(r), "vaultwicket "+command).end()
			one(t, lines, "^Examples$")
			for i, line := range lines {
				if got := displaywidth.String(line); got > width && !strings.HasPrefix(lines[i-1], "  # ") { // examples are whole
					t.Errorf("%s: a line of %d columns in %d: %q", command, got, width, line)
				}
			}
		}
	}
}

func TestColoursOnATerminal(t *testing.T) {
	t.Parallel()
	r := changed(t)
	for _, tt := range []struct {
		env, flags string
		want       bool
	}{
		{"", "", true}, {"", "--color never", false}, {"", "--color auto", true}, {"NO_COLOR=1", "", false},
		{"NO_COLOR=1", "--color always", true}, {"TERM=dumb", "", false}, {"", "--json", false},
	} {
		w := open(t, 100, setting(r, strings.Fields(tt.env)...), "vaultwicket journal list "+tt.flags)
		w.end()
		got := strings.Contains(strings.Join(w.lines("-e"), "\n"), "\x1b[32m")
		assert.That(t, got == tt.want, "%s %s: colours %v\n%q", tt.env, tt.flags, got, w.lines("-e"))
	}
	piped := open(t, 60, setting(r), "vaultwicket journal list | cat -v; vaultwicket audit list | head -1")
	lines := piped.end()
	one(t, lines, `^20[^ ]+  done  append  terminal  `+strings.ReplaceAll(longNote, ".", `\.`)+`$`)
	one(t, lines, `^\d+ +20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ +`)
}

func TestServeByHand(t *testing.T) {
	t.Parallel()
	r := harness.New(t, map[string]string{"A.md": "a\n"})
	r.Save()
	for _, width := range widths {
		w := open(t, width, setting(r), "vaultwicket serve")
		w.until("Press Ctrl-C to stop.")
		text := strings.Join(w.lines(), " ")
		for _, want := range []string{"It waits for messages of an MCP client on standard input",
			"vaultwicket install --list", "vaultwicket run --vault Notes daily:read"} {
			assert.That(t, strings.Contains(text, want), "%q is missing in %q", want, text)
		}
		w.do("send-keys", "C-c")
		one(t, w.until("[the end"), `\[the end, status 0\]$`)
	}
	for _, command := range []string{"vaultwicket serve </dev/null", "vaultwicket serve | cat", "vaultwicket serve --log-format json"} {
		w := open(t, 80, setting(r), command)
		if command != "vaultwicket serve </dev/null" {
			w.do("send-keys", "C-d")
		}
		lines := w.end()
		assert.That(t, !strings.Contains(strings.Join(lines, "\n"), "MCP"), "%s says\n%s", command, strings.Join(lines, "\n"))
	}
}

// TestProgressOfLongWork: a line appears while a program does not answer, and is gone when
// there is an answer.
func TestProgressOfLongWork(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		command string
		width   int
		shown   bool
	}{
		{"vaultwicket run read path=A.md", 60, true},
		{"vaultwicket run read path=A.md", 140, true},
		{"vaultwicket run read path=A.md 2>messages; cat messages", 80, false},
	} {
		t.Run(fmt.Sprint(test.width), func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, map[string]string{"A.md": "a\n"}).Set("backend", `"obsidian"`)
			folder := t.TempDir()
			gate := filepath.Join(folder, "gate")
			if err := syscall.Mkfifo(gate, 0o600); err != nil {
				t.Skip(err)
			}
			program := r.App("case \"$*\" in *version) echo '1.12.7 (installer 1.12.7)';; *info=path*) echo '" +
				r.Vault + "';; *) exec cat '" + gate + "';; esac")
			r.Set("cli", fmt.Sprintf("%q", program)).Set("timeout", `"55s"`)
			r.Save()
			w := open(t, test.width, setting(r), "cd '"+folder+"'", test.command)
			if test.shown {
				w.until("vaultwicket: read is running (the first call in a large")
			}
			answer, err := os.OpenFile(gate, os.O_WRONLY, 0) // waits for the program
			require.NoError(t, err)
			if !test.shown {
				time.Sleep(1500 * time.Millisecond) // a line would have appeared
			}
			fmt.Fprintln(answer, "the text of the note")
			answer.Close()
			lines := w.end()
			require.Equal(t, len(lines), 1, "%s ends with\n%s", test.command, strings.Join(lines, "\n"))
			assert.Equal(t, lines[0], "the text of the note",
				"%s ends with\n%s", test.command, strings.Join(lines, "\n"))
		})
	}
}
