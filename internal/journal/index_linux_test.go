package journal

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// bytesRead returns how many bytes this process has read.
func bytesRead(t testing.TB) (n int64) {
	t.Helper()
	text := require.Value(os.ReadFile("/proc/self/io"))(t)
	_, err := fmt.Sscanf(strings.SplitN(string(text), "\n", 2)[0], "rchar: %d", &n)
	require.NoError(t, err)
	return n
}

// What a question reads does not depend on how long the journal is.
func TestAQuestionReadsAsMuchOfALongJournalAsOfAShortOne(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutines, and slow under the race detector")
	}
	short, shortList := grown(t, 600)
	long, longList := grown(t, 6000)
	measure := func(j *Journal, list []Entry) map[string]int64 {
		_, err := j.object(t.Context(), strings.Repeat("0", hashLength)) // the heads are read once by a process
		assert.That(t, err != nil, "it is there")
		read := map[string]int64{}
		last := list[300]
		for name, ask := range map[string]func() error{
			"the newest":            func() error { _, _, err := j.Entries(t.Context(), Filter{Limit: 5}); return err },
			"behind one":            func() error { _, _, err := j.Entries(t.Context(), Filter{Limit: 5, OlderThan: last.ID}); return err },
			"of a caller":           func() error { _, _, err := j.Entries(t.Context(), Filter{Limit: 5, Caller: last.Caller}); return err },
			"of a batch":            func() error { _, _, err := j.Entries(t.Context(), Filter{Batch: list[0].ID}); return err },
			"of a session":          func() error { _, _, err := j.Entries(t.Context(), Filter{Session: last.Session}); return err },
			"of a note that is not": func() error { _, _, err := j.Entries(t.Context(), Filter{Path: "none.md"}); return err },
			"by id":                 func() error { _, err := j.Entry(t.Context(), list[len(list)-1].ID); return err },
			"a text":                func() error { _, err := j.object(t.Context(), list[len(list)-2].Steps[0].Before.Hash); return err },
			"versions":              func() error { _, err := j.Versions(t.Context(), "Folder/3.md", 5); return err },
			"an old one is undone":  func() error { return j.MarkUndone(list[len(list)-2].ID, list[0].ID) },
		} {
			before := bytesRead(t)
			require.NoError(t, ask())
			read[name] = bytesRead(t) - before
		}
		return read
	}
	ofShort, ofLong := measure(again(short), shortList), measure(again(long), longList)
	for name, n := range ofLong {
		assert.That(t, n <= ofShort[name]+150<<10, "%s: %d bytes of a long journal, %d of a short one", name, n, ofShort[name])
	}
	// A new process reads the heads, which are a small part.
	before := bytesRead(t)
	_, err := again(long).object(t.Context(), strings.Repeat("0", hashLength))
	assert.That(t, err != nil, "it is there")
	heads := bytesRead(t) - before
	whole := diskUse(t, long.folder.dir)
	assert.That(t, heads < whole/10, "%d bytes of %d are read to find nothing", heads, whole)
}

// The call with a change of thousands of notes builds the index of what it wrote: other writers need not wait for
// that, nor does the end of the change.
func TestOtherWritersDoNotReadALongSegment(t *testing.T) {
	j := newJournal(t, Limits{})
	e, _, content := manyNotes(t, 4000)
	require.NoError(t, j.Begin(e, content))
	beside, besideContent := change("beside.md", "before", "after")
	before := bytesRead(t)
	require.NoError(t, j.Begin(beside, besideContent))
	require.NoError(t, j.End(beside.ID, Outcome{State: Done}))
	read := bytesRead(t) - before
	assert.That(t, read < 64<<10, "another writer reads %d bytes", read)
	require.NoError(t, j.IndexLong(t.Context()))
	before = bytesRead(t)
	require.NoError(t, j.End(e.ID, Outcome{State: Done}))
	read = bytesRead(t) - before
	assert.That(t, read < 64<<10, "the end of the change reads %d bytes", read)
	before = bytesRead(t)
	got := require.Value(again(j).Entry(t.Context(), e.ID))(t)
	assert.Equal(t, len(got.Steps), 4000, "steps")
	assert.Equal(t, got.State, Done, "state")
	assert.That(t, bytesRead(t)-before < 4<<20, "another process reads %d bytes", bytesRead(t)-before)
}
