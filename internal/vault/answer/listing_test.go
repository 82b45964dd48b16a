package answer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
)

// tasksVault has many tasks.
func tasksVault(t *testing.T) *embedded.Vault {
	h := embedded.Sample(t)
	for note := range 20 {
		var text strings.Builder
		for n := range 50 {
			fmt.Fprintf(&text, "- [ ] task %d of \"note\" %d\n", n, note)
		}
		h.Put(fmt.Sprintf("Tasks %02d.md", note), text.String())
	}
	return h
}

// A worker tells how many rows a listing has, if it knows from what state it answers, so that a gateway need not count them.
func TestTheRowsOfAListingAreTold(t *testing.T) {
	h := tasksVault(t)
	w := h.Worker()
	if embedded.FactsOf(t, w.Ask(nil, "--facts", "tags")).State == "" {
		t.Skip("the folder cannot be watched here")
	}
	for line, rows := range map[string]int{
		"tasks format=json": 1001, "tasks format=csv": 1001, "tasks format=tsv": 1001, "tasks": 1001, "tasks total": 0,
		"tags format=json": 1, "folders": 0, "read path=Tasks 01.md": 0,
	} {
		got := w.Ask(nil, append([]string{"--facts"}, strings.SplitN(line, " ", 2)...)...)
		facts := embedded.FactsOf(t, got)
		assert.Equal(t, facts.Rows, rows, "%s: %+v", line, facts)
	}
	_, _, stderr := h.Run("--facts", "tasks", "format=json")
	assert.That(t, !strings.Contains(stderr, "rows"), "a process for one call: %s", stderr)
}
