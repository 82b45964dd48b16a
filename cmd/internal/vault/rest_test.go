package vault

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/resident"
	"vaultwicket/tests/require"
)

// asked returns what a host answers to all questions.
func (h *testVault) asked(at *command.Host) string {
	var all strings.Builder
	for _, q := range questions {
		var out, errs bytes.Buffer
		status := perform(at, resident.Call{Ctx: context.Background(), Args: append([]string{h.dir}, q...), Stdout: &out, Stderr: &errs})
		fmt.Fprintf(&all, "%q %d\n%s%s", q, status, out.String(), errs.String())
	}
	return all.String()
}

// eventually asks until the answers are those that a process without memory gives.
func (h *testVault) eventually(t *testing.T, what string, at *command.Host) {
	t.Helper()
	want := h.without().answers()
	got := h.asked(at)
	for until := time.Now().Add(20 * time.Second); got != want && time.Now().Before(until); got = h.asked(at) {
		time.Sleep(5 * time.Millisecond)
	}
	same(t, what, got, want)
}

// What a worker takes out of memory at rest it answers with as before, also where the
// cache was damaged meanwhile, and where notes changed.
func TestAnswersAreTheSameAfterARest(t *testing.T) {
	h := library(t)
	at := h.host()
	defer at.Close()
	at.Knowledge.Resident = true
	h.eventually(t, "at first", at)
	for range 2 {
		at.GiveBack()
		h.eventually(t, "after a rest", at)
	}
	at.GiveBack()
	h.put("Sub/Note 3.md", "#changed zebra [[Note 4]]\n- [ ] other")
	h.put("Sub/New.md", "#b/c zebra [[Note 3]]")
	h.eventually(t, "notes changed at rest", at)
	at.GiveBack()
	packs, err := filepath.Glob(filepath.Join(h.env["XDG_CACHE_HOME"], "vaultwicket", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatal(packs, err)
	}
	require.NoError(t, os.Truncate(packs[0], 100))
	h.eventually(t, "the cache was cut short at rest", at)
}

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
			require.Equal(t, strings.ReplaceAll(out.String(), "\n", " "), want, "the tags are")
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
