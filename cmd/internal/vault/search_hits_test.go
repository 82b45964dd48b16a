package vault

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

func TestATruncatedSearchSaysSo(t *testing.T) {
	line := strings.Repeat("water ", 160) + "\n"
	h := build(t, map[string]string{"A.md": strings.Repeat(line, maxContext/len(line)+10), "B.md": "water\n"})
	for _, format := range []string{"text", "json"} {
		status, out, remark := h.run("search:context", "query=water", "format="+format)
		if status != done || len(out) > maxContext+maxContext/4 || remark != "Truncated after 4096 KiB of lines: narrow the query, or search below a folder with path=.\n" {
			t.Errorf("%s: status %d, %d bytes, %q", format, status, len(out), remark)
		}
	}
	if status, _, remark := h.run("search:context", "query=water", "path=B.md"); status != done || remark != "" {
		t.Errorf("status %d, %q", status, remark)
	}
}
