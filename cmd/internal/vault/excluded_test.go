package vault

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/resident"
	"vaultwicket/tests/require"
)

// TestAWorkerSeesWhatIsExcluded changes the setting, and then the files, between calls of
// one worker, which keeps the list of files that are not excluded.
func TestAWorkerSeesWhatIsExcluded(t *testing.T) {
	h := build(t, map[string]string{"A.md": "#a", "B/B.md": "#b", "C/C.md": "#c"})
	host := command.NewHost(func(string) string { return "" }, nil)
	host.Knowledge.Resident = true
	defer host.Close()
	expect := func(want string) {
		t.Helper()
		for range 2 {
			var out, stderr bytes.Buffer
			perform(host, resident.Call{Ctx: t.Context(), Args: []string{h.dir, "tags"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr})
			if got := strings.ReplaceAll(out.String(), "\n", " "); got != want {
				t.Fatalf("the tags are %q, want %q", got, want)
			}
		}
	}
	exclude := func(filters string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Join(h.dir, ".obsidian"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(h.dir, ".obsidian", "app.json"), []byte(`{"userIgnoreFilters":[`+filters+`]}`), 0o600))
	}
	expect("#a #b #c ")
	exclude(`"B/"`)
	expect("#a #c ")
	exclude(`"B/","/^C/"`)
	expect("#a ")
	exclude(`"C/"`)
	expect("#a #b ")
	exclude(`"A.md","B","C"`)
	expect("No tags found. ")
	exclude("")
	expect("#a #b #c ")
	exclude(`"B/"`)
	expect("#a #c ")
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "C", "D.md"), []byte("#d"), 0o600))
	path, err := disk.ParsePath("C/D.md")
	require.NoError(t, err)
	host.Knowledge.Touch(path) // as after a change by a call
	expect("#a #c #d ")
}
