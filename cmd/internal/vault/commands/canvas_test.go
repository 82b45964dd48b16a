package commands

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"vaultwicket/tests/require"
)

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
	text, err := json.Marshal(nested)
	require.NoError(t, err)
	b, err := parse(text)
	require.NoError(t, err)
	outline := b.outline()
	if len(outline) > 20<<20 || !strings.Contains(outline, "\n# … / label") {
		t.Errorf("%d bytes of %d", len(outline), len(text))
	}
	if allocs := testing.AllocsPerRun(1, func() { b.outline() }); allocs > 50_000 {
		t.Errorf("%v allocations", allocs)
	}
	for _, r := range b.rows() {
		if r.Kind != "card" && len(r.Group) > 1000 {
			t.Fatalf("the group of a row has %d bytes", len(r.Group))
		}
	}
}
