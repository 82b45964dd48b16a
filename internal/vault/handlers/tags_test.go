package handlers

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A table that follows changes is the one that is made from nothing: also of tags whose
// casings take turns, and of tags that come and go.
func TestATableOfTagsThatFollowsIsTheOneMadeFromNothing(t *testing.T) {
	dir := t.TempDir()
	folder := require.Value(disk.Open(dir))(t)
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "A", "b", "B", "ä", "Ä", "Deep/er", "deep/ER", "straße", "z1", "z10", "z9"}
	change := func() {
		note := filepath.Join(dir, fmt.Sprintf("Note %d.md", random.IntN(12)))
		text := "---\ntags: [" + names[random.IntN(len(names))] + "]\n---\n"
		for range random.IntN(4) {
			text += "#" + names[random.IntN(len(names))] + "\n"
		}
		var err error
		switch random.IntN(4) {
		case 0:
			err = os.RemoveAll(note)
		case 1:
			err = os.WriteFile(note, fmt.Appendf(nil, "#once%d", random.Uint64()), 0o600)
		default:
			err = os.WriteFile(note, []byte(text), 0o600)
		}
		require.NoError(t, err)
	}
	var made followed
	most := 0
	for round := range 300 {
		for range random.IntN(3) {
			change()
		}
		made.look(t, folder)
		got, want := usesOf(made.table), usesOf(newTagTable(made.last.Files))
		require.That(t, slices.Equal(got, want), "round %d: %q\nfrom nothing: %q", round, got, want)
		most = max(most, len(want))
	}
	assert.That(t, most >= 8, "at most %d tags: too few to mean anything", most)
}

// Spellings that no note has any more do not stay for ever.
func TestUnusedSpellingsGo(t *testing.T) {
	dir := t.TempDir()
	folder := require.Value(disk.Open(dir))(t)
	var made followed
	for round := range 9 {
		text := []byte{}
		for i := range maxUnused {
			text = fmt.Appendf(text, "#tag%d-%d\n", round, i)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "Note.md"), text, 0o600))
		made.look(t, folder)
		uses, kept := len(made.table.uses), len(made.table.spellings.names)
		assert.Equal(t, uses, maxUnused, "round %d: %d tags, %d spellings", round, uses, kept)
		assert.That(t, kept <= 4*maxUnused, "round %d: %d tags, %d spellings", round, uses, kept)
	}
}

// followed is a table that has followed all looks at a folder.
type followed struct {
	table *tagTable
	last  *index.Index
}

func (f *followed) look(t *testing.T, folder *disk.Folder) {
	t.Helper()
	x := require.Value(index.Build(folder, f.last, index.Memory{}, time.Time{}, nil))(t)
	if f.table == nil {
		f.table = newTagTable(x.Files)
	} else {
		f.table = f.table.follow(f.last.Files, x.Files)
	}
	f.last = x
}

func usesOf(t *tagTable) (all []string) {
	for _, use := range t.uses {
		all = append(all, fmt.Sprint(use.name, use.count, t.filesWith(use)))
	}
	return all
}

func FuzzBookmark(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"items":[]}`, "{\n  \"items\": [\n    {}\n  ]\n}",
		`{"items":[1,2],"items":[3]}`, `{"a":[{"items":[]}]}`, "{\r\n\t\"items\": [ ]\r\n}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		edited, err := withBookmark([]byte(text), bookmark{Ctime: 1, Type: "search", Query: "q"})
		if err != nil {
			return
		}
		type file struct{ Items []json.RawMessage }
		var before, after file
		if strings.TrimSpace(text) != "" && json.Unmarshal([]byte(text), &before) != nil {
			t.Skip() // such as "Items" next to "items"
		}
		err = json.Unmarshal(edited, &after)
		require.That(t, err == nil, "%q became %q: %v", text, edited, err)
		assert.That(t, len(after.Items) == len(before.Items)+1 || strings.Contains(strings.ToLower(text), `items`), "%q became %q", text, edited)
	})
}

// Labels of nested groups and long cards are repeated for each card and edge: the outline
// of a canvas stays in proportion to it.
func TestWhatIsRepeatedIsShort(t *testing.T) {
	nested := map[string]any{}
	var nodes, edges []map[string]any
	for i := range 500 {
		nodes = append(nodes, map[string]any{"id": fmt.Sprint("g", i), "type": "group",
			"label": strings.Repeat("label ", 333), "x": i, "y": i, "width": 2000 - 2*i, "height": 2000 - 2*i})
	}
	nodes = append(nodes, map[string]any{"id": "c", "type": "text", "text": strings.Repeat("text ", 20_000), "x": 999, "y": 999, "width": 2, "height": 2})
	for range 20_000 {
		edges = append(edges, map[string]any{"fromNode": "c", "toNode": "g499"})
	}
	nested["nodes"], nested["edges"] = nodes, edges
	text := require.Value(json.Marshal(nested))(t)
	b := require.Value(parse(text))(t)
	outline := b.outline()
	assert.That(t, len(outline) <= 20<<20, "%d bytes of %d", len(outline), len(text))
	assert.Contains(t, outline, "\n# … / label", "%d bytes of %d", len(outline), len(text))
	if allocs := testing.AllocsPerRun(1, func() { b.outline() }); allocs > 50_000 {
		t.Errorf("%v allocations", allocs)
	}
	for _, g := range b.groups {
		require.That(t, len(g.group()) <= 1000, "the group of a row has %d bytes", len(g.group()))
	}
}

// What is kept of very many lines does not depend on which note is searched first.
func TestTheFirstLinesOfASearchAreKept(t *testing.T) {
	const notes, lines = 120, 100
	text := strings.Repeat("x", 1000)
	var want string
	for seed := range uint64(3) {
		var h hits
		for _, i := range rand.New(rand.NewPCG(seed, 1)).Perm(notes) {
			one := hit{path: fmt.Sprintf("%03d.md", i)}
			for n := range lines {
				one.lines = append(one.lines, search.MatchedLine{Line: n + 1, Text: text})
			}
			h.add(one)
			require.That(t, h.size <= 2*maxContext, "%d bytes of lines are kept", h.size)
		}
		h.shorten()
		found := h.all
		if len(found) != notes || found[0].cut || len(found[0].lines) != lines || !found[notes-1].cut || len(found[notes-1].lines) > 0 {
			t.Fatalf("%d notes, %d lines of the first", len(found), len(found[0].lines))
		}
		var kept strings.Builder
		for _, one := range found {
			for _, line := range one.lines {
				fmt.Fprintf(&kept, "%s:%d: %s\n", one.path, line.Line, line.Text)
			}
		}
		got := kept.String()
		assert.That(t, len(got) <= maxContext, "%d bytes", len(got))
		assert.That(t, len(got) >= maxContext*9/10, "%d bytes", len(got))
		assert.That(t, want == "" || got == want, "seed %d: other lines are kept", seed)
		want = got
	}
}
