package consent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// The owner looks at what was made under a grant as one difference a note, and takes back what is not wanted.
func TestANightUnderAGrantIsReviewed(t *testing.T) {
	t.Parallel()
	r := newGrantProgram(t)
	shown, err := grantAt(t, r, "yes\n", "--agent", "cursor", "--commands", "append,create,move", "--in", "Projects/", "--for", "2h")
	require.That(t, err == nil, "%v\n%s", err, shown)
	id := idOf.FindString(shown)
	by := []string{"run", "--agent", "cursor"}
	r.Must(append(by, "append", "path=Projects/a.md", "content=two")...)
	r.Must(append(by, "append", "path=Projects/a.md", "content=three")...)
	r.Must(append(by, "create", "path=Projects/n.md", "content=new")...)
	r.Must(append(by, "move", "path=Projects/n.md", "to=Projects/Deep/m.md")...)
	r.Set("confirm", `"never"`)
	r.Must("run", "append", "path=Other/o.md", "content=not under it")
	var list []struct {
		Path, From, Diff string
		Added, Removed   int
		Changes          []struct{ ID, Command, Agent, Grant string }
	}
	look := func(flags ...string) {
		t.Helper()
		list = nil
		require.NoError(t, json.Unmarshal([]byte(r.Must(append([]string{"review", "--json"}, flags...)...)), &list))
	}
	look("--grant", id)
	require.Equal(t, len(list), 2)
	assert.Equal(t, list[0].Path, "Projects/a.md")
	assert.Equal(t, list[0].Added, 2, "of both appends")
	assert.That(t, strings.Contains(list[0].Diff, "+two\n+three"), "%s", list[0].Diff)
	assert.Equal(t, len(list[0].Changes), 2)
	assert.Equal(t, list[1].Path, "Projects/Deep/m.md", "where it is")
	assert.Equal(t, list[1].From, "", "it was not there before")
	assert.Equal(t, len(list[1].Changes), 2, "made and moved")
	assert.Equal(t, list[1].Changes[0].Grant, id)
	text := r.Must("review")
	for _, want := range []string{"Projects/a.md", "│ +two", "Projects/Deep/m.md", list[0].Changes[0].ID, "append by cursor, " + id} {
		assert.Contains(t, text, want)
	}
	assert.That(t, !strings.Contains(text, "Other/o.md"), "what was not made under a grant: %s", text)
	look()
	assert.Equal(t, len(list), 0, "since the last review")
	look("--since", "1h", "--agent", "cursor")
	assert.Equal(t, len(list), 2, "of the last hour")
	look("--since", "1h", "--agent", "codex")
	assert.Equal(t, len(list), 0, "of another agent")
	look("--grant", id)
	last := list[0].Changes[1].ID
	first := list[0].Changes[0].ID
	made := list[1].Changes[0].ID
	r.Write("Projects/Deep/m.md", "changed by hand\n")
	out, said, status := r.Run("review", "--undo", first+","+last+","+made+",20261121T083000.000000000Z-0000")
	assert.That(t, status == 1 || status == 2, "%d: %s", status, said)
	assert.Contains(t, out, "undone "+last)
	assert.Contains(t, out, "undone "+first)
	assert.Contains(t, out, "left "+made+": ")
	assert.Contains(t, out, "no such change")
	assert.Equal(t, r.Read("Projects/a.md"), "one\n")
	assert.Equal(t, r.Read("Projects/Deep/m.md"), "changed by hand\n", "what a person has changed since")
	look("--grant", id)
	require.Equal(t, len(list), 1, "what is undone is left out")
}
