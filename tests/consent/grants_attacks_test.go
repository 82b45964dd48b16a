package consent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// outside is every file of a vault that is not below the folder of the grant, by its path.
func (w granted) outside() map[string]string {
	w.t.Helper()
	files := map[string]string{}
	require.NoError(w.t, filepath.WalkDir(w.Vault, func(path string, entry os.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, w.Vault+string(filepath.Separator)))
		if err != nil || entry.IsDir() || strings.HasPrefix(name, "Projects/") || strings.HasPrefix(name, ".") {
			return err
		}
		text, err := os.ReadFile(path)
		files[name] = string(text)
		return err
	}))
	return files
}

// What an agent tries in order to change something outside of the folder of its grant, or more than it allows: calls
// one after the other, of which each may be refused. The notes outside stay as they are, and no more is used.
func TestAttacksOnAGrant(t *testing.T) {
	t.Parallel()
	append1 := []string{"append", "path=Other/o.md", "content=x"}
	attacks := map[string][][]string{
		"the plain path":            {append1},
		"another case":              {{"append", "path=projects/x.md", "content=x"}, {"create", "path=PROJECTS/x.md", "content=x"}},
		"composed letters":          {{"create", "path=Proje\u0301cts/x.md", "content=x"}, {"create", "path=Ｐrojects/x.md", "content=x"}},
		"a letter that looks alike": {{"create", "path=Рrojects/x.md", "content=x"}},
		"an invisible letter":       {{"create", "path=Projects\u200b/x.md", "content=x"}, {"create", "path=Proj\u00adects/x.md", "content=x"}},
		"a blank behind the name":   {{"create", "path=Projects /x.md", "content=x"}, {"create", "path=Projects./x.md", "content=x"}},
		"relative segments": {{"create", "path=Projects/../x.md", "content=x"},
			{"create", "path=Projects/./../x.md", "content=x"}, {"create", "path=./Projects/../../x.md", "content=x"}},
		"backslashes":              {{"create", "path=Projects\\..\\x.md", "content=x"}, {"append", "path=Projects\\..\\Other\\o.md", "content=x"}},
		"an absolute path":         {{"append", "path=/Other/o.md", "content=x"}, {"create", "path=//Projects/x.md", "content=x"}},
		"escapes of addresses":     {{"create", "path=Projects%2F..%2Fx.md", "content=x"}, {"append", "path=Projects/%2e%2e/Other/o.md", "content=x"}},
		"a name that is elsewhere": {{"append", "file=o", "content=x"}, {"append", "file=Other/o", "content=x"}, {"append", "file=root", "content=x"}},
		"a folder that begins alike": {{"create", "path=Projects2/x.md", "content=x"},
			{"create", "path=Projects-x.md", "content=x"}, {"create", "path=Projects.md", "content=x"}},
		"a hidden folder":         {{"create", "path=.obsidian/x.md", "content=x"}, {"create", "path=Projects/.hidden/x.md", "content=x"}},
		"another vault":           {{"append", "vault=Other", "path=Projects/a.md", "content=x"}},
		"a move out":              {{"move", "path=Projects/a.md", "to=Other/a.md"}, {"move", "path=Projects/b.md", "to=b.md"}},
		"a move in":               {{"move", "path=Other/o.md", "to=Projects/o.md"}, {"move", "path=root.md", "to=Projects/root.md"}},
		"a rename with a path":    {{"rename", "path=Projects/a.md", "name=../Other/a"}, {"rename", "path=Other/o.md", "name=p"}},
		"a name that takes links": {{"rename", "path=Projects/a.md", "name=long2"}, {"create", "path=Projects/o.md", "content=x"}},
		"links that follow":       {{"rename", "path=Projects/long.md", "name=carried"}},
		"a note that is carried on": {{"create", "path=Projects/n.md", "content=x"},
			{"move", "path=Projects/n.md", "to=Other/n.md"}, {"rename", "path=Projects/n.md", "name=m"},
			{"move", "path=Projects/m.md", "to=Other/m.md"}},
		"deletion":     {{"delete", "path=Projects/long.md"}, {"delete", "path=Other/o.md"}},
		"an overwrite": {{"create", "path=Projects/long.md", "content=x", "overwrite"}, {"create", "path=Other/o.md", "content=x", "overwrite"}},
		"another command": {{"prepend", "path=Other/o.md", "content=x"}, {"daily:append", "content=x"},
			{"property:set", "path=Other/o.md", "name=a", "value=b"}},
		"a name of the command": {{"APPEND", "path=Other/o.md", "content=x"}, {"append ", "path=Other/o.md", "content=x"}},
		"the note of today":     {{"daily:append", "content=x"}, {"append", "content=x"}},
		"a template":            {{"create", "path=Other/t.md", "template=x"}},
		"many notes at once":    {{"tags:rename", "name=a", "to=b"}, {"note:replace", "path=Other/o.md", "old=other", "new=x"}},
		"publishing":            {{"publish:add", "path=Projects/a.md"}, {"web", "url=https://x.example/"}},
		"an undo":               {{"undo"}, {"undo", "id=20261121T083000.000000000Z-0000"}, {"undo", "session=20261121T083000.000000000Z-0000"}},
		"its own approval":      {{"approvals", "withdraw=all"}, {"append", "path=Other/o.md", "content=x", "confirm"}},
	}
	calls := 0
	for name, words := range attacks {
		w := newGranted(t, nil)
		w.Write("Projects/link.md", "a link\n")
		if err := os.Symlink(filepath.Join(w.Vault, "Other", "o.md"), filepath.Join(w.Vault, "Projects", "away.md")); err == nil {
			words = append(words, []string{"append", "path=Projects/away.md", "content=x"})
		}
		if err := os.Symlink(filepath.Join(w.Vault, "Other"), filepath.Join(w.Vault, "Projects", "Away")); err == nil {
			words = append(words, []string{"append", "path=Projects/Away/o.md", "content=x"}, []string{"create", "path=Projects/Away/n.md", "content=x"})
		}
		before := w.outside()
		g := w.give(terms("append", "create", "move", "rename", "note:replace"))
		for _, call := range words {
			w.call(call...)
			calls++
		}
		after := w.outside()
		assert.Equal(t, fmt.Sprint(after), fmt.Sprint(before), "%s changes notes outside", name)
		made := 0
		for _, e := range w.entries() {
			if e.Grant == g.ID {
				made++
			}
		}
		changes, _ := w.left(g.ID)
		assert.Equal(t, 10-changes, made, "%s: the count is not that of the journal", name)
	}
	assert.That(t, calls >= 60, "only %d calls", calls)
}

// One loss in many small pieces is not covered: neither of a note, nor over several.
func TestALossInPiecesIsNotCovered(t *testing.T) {
	t.Parallel()
	w := newGranted(t, nil)
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("line %02d\n", i))
	}
	w.Write("Projects/pieces.md", strings.Join(lines, ""))
	many := terms("note:replace")
	many.Changes = 30
	w.give(many)
	made := 0
	for i := range 30 {
		if w.call("note:replace", "path=Projects/pieces.md", fmt.Sprintf("old=line %02d", i), "new=gone") == "" {
			made++
		}
	}
	assert.Equal(t, made, 10, "%d pieces were taken", made)
	assert.Equal(t, strings.Count(w.Read("Projects/pieces.md"), "gone"), 10, "%d pieces were taken", made)
}

// What notes that are hidden have, and that they are there, changes nothing of what a grant allows, and of what is left.
func TestHiddenNotesDoNotShowInAGrant(t *testing.T) {
	t.Parallel()
	outcome := func(hidden map[string]string) string {
		w := newGranted(t, func(c *gateway.Config) {
			c.Policy.Access = require.Value(access.New(map[string]access.Level{"/": access.Delete, "Projects/Hidden": access.None, "Secret": access.None}))(t)
		})
		for path, text := range hidden {
			w.Write(path, text)
		}
		g := w.give(terms("append", "create", "rename", "move"))
		var said []string
		for _, words := range [][]string{
			{"append", "path=Projects/a.md", "content=x"},
			{"rename", "path=Projects/a.md", "name=c"},
			{"create", "path=Projects/new.md", "content=x"},
			{"append", "path=Projects/Hidden/h.md", "content=x"},
			{"move", "path=Projects/new.md", "to=Projects/Deep/new.md"},
			{"append", "file=h", "content=x"},
		} {
			said = append(said, w.call(words...))
		}
		changes, notes := w.left(g.ID)
		return fmt.Sprint(said, changes, notes)
	}
	without := outcome(map[string]string{"Secret/x.md": "nothing\n"})
	with := outcome(map[string]string{"Projects/Hidden/h.md": "see [[Projects/a]] and [[new]]\n", "Secret/s.md": "[[Projects/a]] [[new]]\n"})
	assert.Equal(t, with, without)
}
