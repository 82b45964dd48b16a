package commands

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/query"
	"vaultwicket/tests/assert"
	"vaultwicket/tests/require"
)

func FuzzBookmark(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"items":[]}`, "{\n  \"items\": [\n    {}\n  ]\n}", `{"items":[1,2],"items":[3]}`, `{"a":[{"items":[]}]}`, "{\r\n\t\"items\": [ ]\r\n}"} {
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
		nodes = append(nodes, map[string]any{"id": fmt.Sprint("g", i), "type": "group", "label": strings.Repeat("label ", 333), "x": i, "y": i, "width": 2000 - 2*i, "height": 2000 - 2*i})
	}
	nodes = append(nodes, map[string]any{"id": "c", "type": "text", "text": strings.Repeat("text ", 20_000), "x": 999, "y": 999, "width": 2, "height": 2})
	for range 20_000 {
		edges = append(edges, map[string]any{"fromNode": "c", "toNode": "g499"})
	}
	nested["nodes"], nested["edges"] = nodes, edges
	text := require.Value(json.Marshal(nested))(t)
	b := require.Value(parse(text))(t)
	outline := b.outline()
	assert.That(t, len(outline) <= 20<<20 && strings.Contains(outline, "\n# … / label"), "%d bytes of %d", len(outline), len(text))
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
				one.lines = append(one.lines, query.Line{Line: n + 1, Text: text})
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
		assert.That(t, len(got) <= maxContext && len(got) >= maxContext*9/10, "%d bytes", len(got))
		assert.That(t, want == "" || got == want, "seed %d: other lines are kept", seed)
		want = got
	}
}
