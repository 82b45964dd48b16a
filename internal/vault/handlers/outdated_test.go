package handlers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/handlers"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A change of many that was worked out is another one by what others did meanwhile, if that concerns its files, names that its
// links have, or a note that it would change, too.
func TestWhatMakesAChangeOfManyAnotherOne(t *testing.T) {
	notes := map[string]string{
		"P/a.md": "#t word [[hub]]\n", "P/b.md": "#t word\n", "hub.md": "hub\n", "other.md": "other\n", ".obsidian/app.json": embedded.FollowLinks,
	}
	for _, row := range []struct {
		planned, meanwhile string
		want               bool
	}{
		{"folder:rename path=P name=Q", "append path=other.md content=more", false},
		{"folder:rename path=P name=Q", "append path=other.md content=[[P/a]]", true},
		{"folder:rename path=P name=Q", "append path=P/a.md content=more", true},
		{"folder:rename path=P name=Q", "create path=P/new.md content=x", true},
		{"folder:rename path=P name=Q", "create path=new.md content=x", false},
		{"folder:rename path=P name=Q", "create path=Far/a.md content=x", true},
		{"folder:rename path=P name=Q", "move path=other.md to=P/other.md", true},
		{"folder:copy path=P to=Q", "append path=other.md content=more", false},
		{"folder:copy path=P to=Q", "append path=P/a.md content=more", true},
		{"folder:delete path=P", "append path=other.md content=[[P/a]]", false},
		{"folder:delete path=P", "create path=P/new.md content=x", true},
		{"folder:delete path=P", "append path=P/b.md content=x", true},
		{"move path=hub.md to=Far/Center.md", "append path=other.md content=more", false},
		{"move path=hub.md to=Far/Center.md", "append path=other.md content=[[hub]]", true},
		{"move path=hub.md to=Far/Center.md", "delete path=P/a.md", true},
		{"move path=hub.md to=Far/Center.md", "create path=Far/Away/center.md content=x", true},
		{"tag:rename name=t to=u", "append path=other.md content=more", false},
		{"tag:rename name=t to=u", "append path=other.md content=#t", true},
		{"vault:replace old=word new=term", "create path=new.md content=more", false},
		{"vault:replace old=word new=term", "create path=new.md content=word", true},
		{"vault:replace old=word new=term", "prepend path=P/b.md content=x", true},
		{"property:set name=p value=5 folder=P", "append path=other.md content=more", false},
		{"property:set name=p value=5 folder=P", "create path=P/new.md content=more", true},
		{"note:merge path=hub.md into=other.md", "append path=P/b.md content=more", false},
		{"note:merge path=hub.md into=other.md", "append path=P/b.md content=[[hub]]", true},
	} {
		h := embedded.New(t, notes)
		at := h.Host()
		v := require.Value(at.Open(t.Context(), h.Dir, protocol.Request{}))(t)
		words := strings.Fields(row.planned)
		values := call.Values{}
		for _, word := range words[1:] {
			key, value, _ := strings.Cut(word, "=")
			values[key] = value
		}
		all := handlers.All()
		place := slices.IndexFunc(all, func(c handlers.Command) bool { return c.Name == words[0] })
		p := require.Value(all[place].Plan(v, values))(t)
		h.Does(strings.Fields(row.meanwhile)...)
		j := require.Value(v.Journal())(t)
		entries, isAll, err := j.Since(t.Context(), journal.Extent{}, 10)
		require.Equal(t, err, nil, "%d entries, %v", len(entries), err)
		require.That(t, isAll, "%d entries, %v", len(entries), err)
		require.Equal(t, len(entries), 1, "%d entries, %v", len(entries), err)
		require.That(t, p.Outdated != nil, "%s: every change makes it another one", row.planned)
		assert.Equal(t, p.Outdated(entries[0]), row.want, "%s, meanwhile %s", row.planned, row.meanwhile)
		v.Disk.Close()
		at.Close()
	}
}

// Of a change of very many notes most texts are not in memory. Links in and to them follow all the same, what another program
// appends meanwhile is taken along, and what is removed for good comes back.
func TestManyNotesAreChangedWithoutTheirTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	files := map[string]string{".obsidian/app.json": embedded.FollowLinks, "outside.md": "[[P/n39]] and [[n1]]\n"}
	long := strings.Repeat("a long line of a note\n", 12_000)
	for i := range 40 { // more than 8 MiB together
		files[fmt.Sprintf("P/n%d.md", i)] = fmt.Sprintf("%d [[P/n%d]]\n%s", i, (i+1)%40, long)
	}
	h := embedded.New(t, files)
	before := h.Texts(true)
	for _, words := range [][]string{{"folder:rename", "path=P", "name=Q"}, {"folder:copy", "path=P", "to=Q"}} {
		h.Does(words...)
		assert.That(t, strings.HasPrefix(h.Get("Q/n39.md"), "39 [["), "%q", words)
		moves := words[0] == "folder:rename"
		if moves {
			assert.Equal(t, strings.HasPrefix(h.Get("Q/n30.md"), "30 [[n31]]"), true, "a link in a note without a text")
			assert.Equal(t, h.Get("outside.md"), "[[n39]] and [[n1]]\n", "a link to it")
		}
		assert.Equal(t, strings.HasSuffix(h.Get("Q/n30.md"), long), true, "its text")
		h.Does("undo")
		got := h.Texts(true)
		assert.Equal(t, len(got), len(before), "undo of %q", words)
		for path, text := range before {
			assert.That(t, got[path] == text, "undo of %q: %s", words, path)
		}
	}
	_ = h.Does("folder:delete", "path=P")
	h.Does("undo")
	for path, text := range before {
		assert.That(t, h.Get(path) == text, "undo of folder:delete: %s", path)
	}
}
