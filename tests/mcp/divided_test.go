package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// longTasks opens a vault with 600 tasks, and some that cannot be shown as they are where that
// is asked for.
func longTasks(t *testing.T, unclean bool) *reader {
	t.Helper()
	r := &reader{t: t, vault: filepath.Join(t.TempDir(), "Tasks"), home: t.TempDir()}
	for note := range 20 {
		text := harness.Repeat(30, fmt.Sprintf("- [ ] the \"task\" %%d of %d\n", note))
		if unclean && note%5 == 4 {
			text += "- [ ] turned \u202ebackwards\u202c\n"
		}
		harness.WriteFile(t, filepath.Join(r.vault, fmt.Sprintf("Note %02d.md", note)), []byte(text))
	}
	r.StdioServer = harness.StartSession(t, r.home, append(harness.EverythingEnabled(r.vault), "--max-output=1KiB")...)
	return r
}

var taskListings = []listingCall{
	{"tasks", map[string]any{"todo": true}},
	{"tasks", map[string]any{"format": "json"}},
	{"tasks", map[string]any{"format": "csv"}},
}

// The pages of an answer of which a part at a time is looked at are those of the whole,
// also where the text of a note cannot be shown as it is.
func TestPagesOfADividedAnswer(t *testing.T) {
	t.Parallel()
	for _, unclean := range []bool{false, true} {
		r := longTasks(t, unclean)
		for _, c := range taskListings {
			want := r.run(c)
			if unclean {
				shown := []string{"\u202e", `\u{202e}`, "\u202c", `\u{202c}`}
				if c.json() {
					shown = []string{"\u202e", `\u202e`, "\u202c", `\u202c`}
				}
				want = strings.NewReplacer(shown...).Replace(want)
			}
			pages := r.all(c, nil)
			for i := range pages {
				pages[i].Truncated.TotalBytes = int64(len(want)) // as long as no page has an escape it is that of the notes
			}
			r.together(c, pages, 0, want)
		}
	}
}

// secondPage asks for the first page of the tasks, and returns it with the arguments for the
// next one.
func (r *reader) secondPage() (first gateway.Result, next map[string]any) {
	r.t.Helper()
	first = r.first(taskListings[0], nil)
	return first, map[string]any{"command": "tasks", "cursor": first.Truncated.Cursor}
}

// A change between two pages is told, and the next page is of the earlier answer.
func TestAChangeBetweenPagesOfADividedAnswer(t *testing.T) {
	t.Parallel()
	r := longTasks(t, false)
	whole := r.run(taskListings[0])
	first, next := r.secondPage()
	harness.WriteFile(t, filepath.Join(r.vault, "A first note.md"), []byte(harness.Repeat(100, "- [ ] something else %d\n")))
	require.Within(t, 20*time.Second, "the client is told of the change", func() bool {
		got := r.Result(next)
		require.That(t, got.OK, "%+v, %s", got.Error, got.Stdout)
		require.HasPrefix(t, whole, first.Stdout+got.Stdout)
		return len(got.Notices) > 0 && strings.Contains(got.Notices[0], "has changed since its first page")
	})
}

// The rest of an answer stays while others are read.
func TestADividedAnswerStaysBesideOthers(t *testing.T) {
	t.Parallel()
	r := longTasks(t, false)
	whole := r.run(taskListings[0])
	first, next := r.secondPage()
	for range 12 { // each is kept
		r.secondPage()
	}
	got := r.Result(next)
	if !got.OK || len(got.Notices) > 0 || first.Stdout+got.Stdout != whole[:len(first.Stdout)+len(got.Stdout)] {
		t.Fatalf("%+v, %q, %s", got.Error, got.Notices, got.Stdout)
	}
	for text := first.Stdout; ; got = r.Result(map[string]any{"command": "tasks", "cursor": got.Truncated.Cursor}) {
		require.That(t, got.OK, "%+v", got.Error)
		if text += got.Stdout; got.Truncated.Cursor == "" {
			if text != whole {
				t.Error(harness.Difference(text, whole))
			}
			return
		}
	}
}

// The rest of an answer does not go with the worker that gave it.
func TestTheRestOfADividedAnswerOutlivesItsWorker(t *testing.T) {
	t.Parallel()
	r := longTasks(t, false)
	whole := r.run(taskListings[0])
	first, next := r.secondPage()
	away := r.vault + " away"
	require.NoError(t, os.Rename(r.vault, away))
	require.NoError(t, os.CopyFS(r.vault, os.DirFS(away)))
	r.first(taskListings[0], nil) // of another worker: the folder is another one
	got := r.Result(next)
	assert.That(t, got.OK, "%+v, %s", got.Error, got.Stdout)
	assert.HasPrefix(t, whole, first.Stdout+got.Stdout, "%+v, %s", got.Error, got.Stdout)
}
