package search_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// asked returns what a host answers to all questions.
func asked(h *embedded.Vault, at *call.Host) string {
	var all strings.Builder
	for _, q := range questions {
		status, out, stderr := embedded.Called(at, append([]string{h.Dir}, q...)...)
		fmt.Fprintf(&all, "%q %d\n%s%s", q, status, out, stderr)
	}
	return all.String()
}

// eventually asks until the answers are those that a process without memory gives.
func eventually(h *embedded.Vault, t *testing.T, what string, at *call.Host) {
	t.Helper()
	want := answers(without(h))
	var got string
	assert.Await(20*time.Second, func() bool {
		got = asked(h, at)
		return got == want
	})
	same(t, what, got, want)
}

// What a worker takes out of memory at rest it answers with as before, also where the
// cache was damaged meanwhile, and where notes changed.
func TestAnswersAreTheSameAfterARest(t *testing.T) {
	h := library(t)
	at := h.Host()
	defer at.Close()
	at.Knowledge.Resident = true
	eventually(h, t, "at first", at)
	for range 2 {
		at.GiveBack()
		eventually(h, t, "after a rest", at)
	}
	at.GiveBack()
	h.Put("Sub/Note 3.md", "#changed zebra [[Note 4]]\n- [ ] other")
	h.Put("Sub/New.md", "#b/c zebra [[Note 3]]")
	eventually(h, t, "notes changed at rest", at)
	at.GiveBack()
	packs, err := filepath.Glob(filepath.Join(h.Env["XDG_CACHE_HOME"], "vaultwicket", "*.pack"))
	require.NoError(t, err)
	require.Equal(t, len(packs), 1)
	require.NoError(t, os.Truncate(packs[0], 100))
	eventually(h, t, "the cache was cut short at rest", at)
}

// TestAWorkerSeesWhatIsExcluded changes the setting, and then the files, between calls of
// one worker, which keeps the list of files that are not excluded.
func TestAWorkerSeesWhatIsExcluded(t *testing.T) {
	h := embedded.New(t, map[string]string{"A.md": "#a", "B/B.md": "#b", "C/C.md": "#c"})
	host := embedded.HostOf(nil)
	host.Knowledge.Resident = true
	defer host.Close()
	expect := func(want string) {
		t.Helper()
		for range 2 {
			_, out, _ := embedded.Called(host, h.Dir, "tags")
			require.Equal(t, strings.ReplaceAll(out, "\n", " "), want, "the tags are")
		}
	}
	exclude := func(filters string) {
		t.Helper()
		h.Put(".obsidian/app.json", `{"userIgnoreFilters":[`+filters+`]}`)
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
	h.Put("C/D.md", "#d")
	path := require.Value(disk.ParsePath("C/D.md"))(t)
	host.Knowledge.Touch(path) // as after a change by a call
	expect("#a #c #d ")
}
