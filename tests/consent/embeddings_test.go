package consent

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
	"vaultwicket/tests/rig"
)

func calls(t *testing.T, s *rig.StdioServer, command string, params map[string]any) string {
	t.Helper()
	answer, err := s.Exchange("tools/call", map[string]any{"name": "obsidianCli", "arguments": map[string]any{"command": command, "params": params}})
	require.NoError(t, err)
	return string(answer)
}

// Sections go to another machine only with allow-publish, and after a question with its address and their number.
func TestSectionsForAnotherMachineNeedAnApproval(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "Notes")
	rig.WriteFile(t, filepath.Join(folder, "A.md"), []byte("# Bank\nThe mortgage.\n"))
	flags := []string{"--config=none", "--backend=embedded", "--vault=" + folder, "--tier=v1", "--embeddings-url=http://10.255.255.1:9/v1"}
	send := map[string]any{"host": "10.255.255.1", "model": "nomic-embed-text", "sections": 2}
	for confirm, want := range map[string]string{"destructive": `"unconfirmed"`, "never": `"Sections are sent to: 10.255.255.1\n"`} {
		state := t.TempDir()
		s := rig.StartSessionWith(t, []string{"HOME=" + t.TempDir(), "XDG_STATE_HOME=" + state, "LOCALAPPDATA=" + state}, append(flags, "--allow-mutations", "--allow-publish", "--confirm="+confirm)...)
		if got := calls(t, s, "find", map[string]any{"query": "mortgage"}); !strings.Contains(got, "10.255.255.1 would be sent up to 2 sections of notes: find:send host=10.255.255.1 model=nomic-embed-text sections=2 asks the user") {
			t.Errorf("confirm %s: %s", confirm, got)
		}
		assert.Contains(t, calls(t, s, "find:send", send), want, "confirm %s", confirm)
		var question strings.Builder // as the user is shown it
		err := filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && strings.Contains(path, "approvals") {
				text, err := os.ReadFile(path)
				question.Write(text)
				return err
			}
			return err
		})
		shown := question.String()
		asked := strings.Contains(shown, "sends texts of notes to another machine") && strings.Contains(shown, "10.255.255.1") && strings.Contains(shown, "nomic-embed-text") && strings.Contains(shown, "sections")
		assert.That(t, err == nil && asked == (confirm == "destructive"), "confirm %s, the question: %q, %v", confirm, shown, err)
	}
}

// A worker that may send texts ends with the right to, and with it what was approved.
func TestAReloadTakesTheRightToSendTexts(t *testing.T) {
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "config.toml"), filepath.Join(dir, "Notes")
	rig.WriteFile(t, filepath.Join(folder, "A.md"), []byte("# Bank\nThe mortgage.\n"))
	settings := fmt.Sprintf("backend = \"embedded\"\nvault = %q\ntier = \"v1\"\nallow-mutations = true\nconfirm = \"never\"\nembeddings-url = \"https://vectors.invalid/v1\"\n", folder)
	rig.WriteFile(t, file, []byte(settings+"allow-publish = true\n"))
	s := rig.StartSessionWith(t, []string{"HOME=" + dir, "XDG_STATE_HOME=" + dir, "LOCALAPPDATA=" + dir}, "--config="+file)
	mortgage := map[string]any{"query": "mortgage"}
	if got := calls(t, s, "find", mortgage); !strings.Contains(got, "find:send host=vectors.invalid model=nomic-embed-text sections=2 asks the user") {
		t.Fatal(got)
	}
	if got := calls(t, s, "find:send", map[string]any{"host": "vectors.invalid", "model": "nomic-embed-text", "sections": 2}); !strings.Contains(got, "Sections are sent to: vectors.invalid") {
		t.Fatal(got)
	}
	if got := calls(t, s, "find", mortgage); strings.Contains(got, "find:send") || !strings.Contains(got, "without meaning") {
		t.Fatal(got)
	}
	rig.WriteFile(t, file, []byte(settings+"allow-publish = false\n"))
	for {
		got := calls(t, s, "find", mortgage)
		require.That(t, strings.Contains(got, "A.md"), "%v", got)
		if !strings.Contains(got, "without meaning") {
			break
		}
		time.Sleep(20 * time.Millisecond) // until the file is read again; the test has a time limit
	}
}
