package mcp

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// TestWire plays sessions against the built server, byte for byte. In a file,
//
//	> LINE     is sent to the server
//	>> LINE    is sent without the newline, as the end of the input
//	< LINE     is what the server must answer next
//
// and a comment in front says which bug the exchange once was or would be. The
// input is closed after the last line; the server must then end with status 0
// and nothing more to say. Times are shown as 0 and the vault as $VAULT.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("wire/*.txtar")
	require.Equal(t, err, nil, "no wire files")
	require.That(t, len(files) != 0, "no wire files")
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			playWire(t, name, converse)
		})
	}
}

// playWire plays a file: play sends the lines of the session to a server on the
// vault, and returns the session with what that really answered.
func playWire(t *testing.T, name string, play func(t *testing.T, vault string, flags []string, session string) string) {
	t.Helper()
	archive := require.Value(txtar.ParseFile(name))(t)
	vault := filepath.Join(t.TempDir(), "Vault")
	require.NoError(t, os.Mkdir(vault, 0o700))
	session, flags := -1, []string{}
	for i, f := range archive.Files {
		switch {
		case f.Name == "session":
			session = i
		case f.Name == "flags":
			flags = strings.Fields(string(f.Data))
		default:
			harness.WriteFile(t, filepath.Join(vault, filepath.FromSlash(f.Name)), f.Data)
		}
	}
	require.That(t, session >= 0, "no file named session")
	got := play(t, vault, flags, string(archive.Files[session].Data))
	if *testenv.UpdateGolden {
		archive.Files[session].Data = []byte(got)
		require.NoError(t, os.WriteFile(name, txtar.Format(archive), 0o644))
		return
	}
	want := string(archive.Files[session].Data)
	assert.That(t, got == want, "the server said\n%s\nwant\n%s", got, want)
}

// converse sends the lines of a session and returns the session with what the
// server really answered: one line is read for every "<" line, and all that
// comes after the end of the input.
func converse(t *testing.T, vault string, flags []string, session string) string {
	t.Helper()
	server := exec.Command(harness.Binary, append([]string{"serve", "--config=none", "--backend=embedded", "--vault=" + vault}, flags...)...)
	server.Env = append(os.Environ(), "VAULTWICKET_NOW=2026-11-21T09:30:00+01:00", "HOME="+t.TempDir())
	s := harness.StartStdio(t, server)
	var got strings.Builder
	for line := range strings.Lines(session) {
		if strings.HasPrefix(line, "< ") {
			answer, _ := s.Line()
			got.WriteString("< " + stable(string(answer), vault))
			continue
		}
		got.WriteString(line)
		text, last := strings.CutPrefix(line, ">> ")
		if last {
			text = strings.TrimSuffix(text, "\n")
		} else {
			text = strings.TrimPrefix(strings.TrimPrefix(line, ">"), " ")
		}
		if strings.HasPrefix(line, ">") {
			_, err := io.WriteString(s.In, text)
			require.That(t, err == nil, "send %q: %v", line, err)
			if last {
				s.In.Close()
			}
		}
	}
	s.In.Close()
	rest, _ := io.ReadAll(s.Out)
	for line := range strings.Lines(string(rest)) {
		got.WriteString("< " + stable(line, vault))
	}
	err := server.Wait()
	assert.That(t, err == nil, "the server ended with %v; its log:\n%s", err, s.Log.String())
	return got.String()
}

// entryID is the id of a change in the journal.
var entryID = regexp.MustCompile(`\d{8}T\d{6}\.\d{9}Z-[0-9a-f]{4}`)

var elapsed = regexp.MustCompile(`(\\?"(?:durationMs|uptimeSeconds)\\?"):\d+`)

// These have what differs in an approval that is waited for: its name, which depends on the folder, when it expires, and
// the link to it.
var (
	pageLink   = regexp.MustCompile(`http://127\.0\.0\.1:\d+/question/[A-Z2-7]{26}`)
	approvalID = regexp.MustCompile(`(\\?"approval\\?":\{\\?"id\\?":\\?")[0-9a-f]{8}`)
	expires    = regexp.MustCompile(`(\\?"expires\\?":\\?")[0-9TZ:-]+`)
)

// disabled counts the commands of the table that are not in a list.
var disabled = regexp.MustCompile(`\d+ more are disabled`)

// stable takes out of an answer what differs from run to run, and what every command that
// is added to the table changes.
func stable(line, vault string) string {
	line = entryID.ReplaceAllString(line, "$$CHANGE")
	line = elapsed.ReplaceAllString(line, "$1:0")
	line = approvalID.ReplaceAllString(line, "${1}00000000")
	line = expires.ReplaceAllString(line, "${1}2026-01-01T00:00:00Z")
	line = pageLink.ReplaceAllString(line, "$$PAGE/question/$$QUESTION")
	line = disabled.ReplaceAllString(line, "$$N more are disabled")
	line = strings.ReplaceAll(line, harness.Binary, "$VAULTWICKET")
	return strings.ReplaceAll(line, vault, "$VAULT")
}
