package journal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// manyNotes returns an entry that changes notes, and what packs their texts and its steps.
func manyNotes(t testing.TB, notes int) (e Entry, pack func() *Packed, content Content) {
	t.Helper()
	e = Entry{ID: NewID(startOfTests), Time: startOfTests, Command: "vault:replace"}
	texts := map[string][]byte{}
	for n := range notes {
		path := fmt.Sprintf("Folder/%d.md", n)
		texts[path] = append([]byte(path), random(1500)...) // random returns the same bytes each time
		after := ImageOf([]byte(path))
		e.Steps = append(e.Steps, Step{Path: path, Before: ImageOf(texts[path]), After: after, Draft: path + ".tmp"})
	}
	pack = func() *Packed {
		packed := &Packed{}
		for _, step := range e.Steps {
			require.NoError(t, packed.Add(step.Path, step.Before, bytes.NewReader(texts[step.Path])))
		}
		require.NoError(t, packed.AddSteps(e))
		return packed
	}
	return e, pack, textsOf(texts)
}

var startOfTests = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

func contentOf(content Content) func(entry int, s Step) (io.ReadCloser, error) {
	return func(_ int, s Step) (io.ReadCloser, error) { return content(s) }
}

func segmentBytes(t testing.TB, j *Journal) []byte {
	t.Helper()
	return require.Value(os.ReadFile(j.folder.file(segmentName(1))))(t)
}

// What is packed before a change begins is written as it would be without.
func TestPackedTextsAndStepsAreWrittenUnchanged(t *testing.T) {
	e, pack, content := manyNotes(t, 400)
	plain := newJournal(t, Limits{})
	packed := newJournal(t, Limits{})
	for _, j := range []*Journal{plain, packed} {
		j.now = func() time.Time { return startOfTests }
	}
	require.NoError(t, plain.Begin(e, content))
	require.NoError(t, packed.BeginPacked([]Entry{e}, pack(), contentOf(nil)))
	assert.That(t, bytes.Equal(segmentBytes(t, plain), segmentBytes(t, packed)), "the packed entry differs")
}

// Steps that were changed after they were packed are written as they are.
func TestStepsThatChangedSinceTheyWerePackedAreWritten(t *testing.T) {
	e, pack, _ := manyNotes(t, 400)
	packed := pack()
	e.Steps[7].After = ImageOf([]byte("another text"))
	j := newJournal(t, Limits{})
	require.NoError(t, j.BeginPacked([]Entry{e}, packed, contentOf(nil)))
	got := require.Value(j.Entry(t.Context(), e.ID))(t)
	assert.Equal(t, got.Steps[7].After, e.Steps[7].After, "the step that changed")
}

// Others wait while a change of many notes is begun, so little is left to do for each of them.
func TestAPackedChangeIsBegunWithFewAllocationsForEachNote(t *testing.T) {
	const notes = 4000
	e, pack, _ := manyNotes(t, notes)
	packed := pack()
	j := newJournal(t, Limits{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.NoError(t, j.BeginPacked([]Entry{e}, packed, contentOf(nil)))
	runtime.ReadMemStats(&after)
	each := float64(after.Mallocs-before.Mallocs) / notes
	assert.That(t, each <= 4, "%.1f allocations for each note", each)
}
