package commands

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"vaultwicket/cmd/internal/vault/query"
)

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
			if h.size > 2*maxContext {
				t.Fatalf("%d bytes of lines are kept", h.size)
			}
		}
		found := h.sorted()
		if len(found) != notes || found[0].cut || len(found[0].lines) != lines || !found[notes-1].cut || len(found[notes-1].lines) > 0 {
			t.Fatalf("%d notes, %d lines of the first", len(found), len(found[0].lines))
		}
		got := contextText(found)
		if len(got) > maxContext || len(got) < maxContext*9/10 {
			t.Errorf("%d bytes", len(got))
		}
		if want != "" && got != want {
			t.Errorf("seed %d: other lines are kept", seed)
		}
		want = got
	}
}
