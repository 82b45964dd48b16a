package change_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// Of a folder with more notes than a plan shows lines of, every note is in the plan with its hash, its size and
// its lines, is judged, removed and brought back. The work grows with the notes: a step of the budget is one.
func TestAFolderOfManyNotesIsRemoved(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const notes = change.MaxTexts + 20
	h := embedded.New(t, nil)
	h.Env[call.AccessVariable] = `[{"//properties":"agent","//tags":"closed"}]`
	for i := range notes {
		h.Put(fmt.Sprintf("F/%d/n%d.md", i%3, i), fmt.Sprintf("note %d\nof %s\n", i, strings.Repeat("x", i%7)))
	}
	h.Put("F/z.md", "---\nagent: rw\n---\nlast\n")
	enough := budget.Default.Steps
	t.Cleanup(func() { budget.Default.Steps = enough })
	budget.Default.Steps = 4 * notes
	before := h.Tree()
	h.ExpectPrefix(answer.ExitFailed, `Error: Access denied: "F/z.md" may not be`, "folder:delete", "path=F")
	assert.That(t, h.Tree() == before, "a folder with a note that may not be removed is removed in part")
	h.Remove("F/z.md")

	before = h.Tree()
	var plan struct {
		Digest string
		Files  []struct {
			Path, Before string
			Size         int64
			Removed      int
			Raw          []string
			Lines        []struct{}
		}
		Rest *struct{}
	}
	require.NoError(t, json.Unmarshal([]byte(h.Does("--plan", "folder:delete", "path=F")), &plan))
	require.Equal(t, len(plan.Files), notes, "%d files of %d, and %v", len(plan.Files), notes, plan.Rest)
	require.That(t, plan.Rest == nil, "%d files of %d, and %v", len(plan.Files), notes, plan.Rest)
	for i, f := range plan.Files {
		text := h.Get(f.Path)
		isShown := len(f.Raw) == 2 && len(f.Lines) > 0 && f.Size == int64(len(text))
		isCounted := f.Raw == nil && f.Lines == nil && f.Size == int64(len(text))
		fits := isShown
		if i >= change.MaxTexts {
			fits = isCounted
		}
		require.That(t, fits, "file %d: %+v", i, f)
		require.Equal(t, f.Before, answer.Digest([]byte(text)), "file %d: %+v", i, f)
		require.Equal(t, f.Removed, 2, "file %d: %+v", i, f)
	}

	status, out, stderr := h.Run("--facts", "--approved", plan.Digest, "folder:delete", "path=F")
	_, facts, _ := embedded.CutReport(stderr)
	assert.Equal(t, status, answer.ExitDone, "%q, %+v", out, facts)
	assert.Equal(t, facts.Removed, 2*notes, "%q, %+v", out, facts)
	assert.That(t, facts.Loses, "%q, %+v", out, facts)
	for path := range h.Texts(false) {
		t.Errorf("%s is left", path)
	}
	h.Does("undo")
	assert.That(t, h.Tree() == before, "what is brought back is not what was removed")
}

// A plan stays below what the gateway keeps of an answer, however many files it has and however they are called.
func TestAPlanOfAnyNumberOfFilesIsWhole(t *testing.T) {
	h := embedded.New(t, nil)
	v := require.Value(h.Host().Open(t.Context(), h.Dir, protocol.Request{}))(t)
	defer v.Disk.Close()
	const files = 150_000
	shown := change.ShowRemoval(t, v, files, strings.Repeat("<&>", 30))
	require.That(t, len(shown) < 12<<20, "the plan has %d bytes", len(shown))
	var plan struct {
		Files []struct{ Removed int }
		Rest  struct{ Deleted, Moved, Changed, Made, Removed, Size int }
	}
	require.NoError(t, json.Unmarshal([]byte(shown), &plan))
	listed, lines := len(plan.Files), 0
	for _, f := range plan.Files {
		lines += f.Removed
	}
	rest := plan.Rest
	assert.That(t, listed > 1000, "%d files are listed, and %+v", listed, rest)
	assert.Equal(t, listed+rest.Deleted, files, "%d files are listed, and %+v", listed, rest)
	assert.Equal(t, rest.Moved+rest.Changed+rest.Made, 0, "%d files are listed, and %+v", listed, rest)
	assert.Equal(t, lines+rest.Removed, files, "%d lines are removed, and %+v", lines, rest)
	assert.Equal(t, rest.Size, 2*rest.Deleted, "%d lines are removed, and %+v", lines, rest)
}
