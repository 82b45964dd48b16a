package change

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestWhatAStepRemovesIsWeighed(t *testing.T) {
	t.Parallel()
	text := func(s string) FileState { return Existing([]byte(s)) }
	long := strings.Repeat("x", 200) // as much as three lines
	for name, tt := range map[string]struct {
		step Step
		want lostLines
	}{
		"a new note":       {Step{After: text("a\nb\n")}, lostLines{}},
		"an append":        {Step{Before: text("a\n"), After: text("a\nb\n")}, lostLines{BodyBefore: 1}},
		"a replaced line":  {Step{Before: text("a\nb\n"), After: text("a\nc\n")}, lostLines{1, 1, 2}},
		"a long line":      {Step{Before: text(long + "\n"), After: text("\n")}, lostLines{3, 3, 3}},
		"a deleted note":   {Step{Before: text("---\nk: v\n---\na\n")}, lostLines{4, 1, 1}},
		"a property":       {Step{Before: text("---\nk: v\n---\na\n"), After: text("---\nk: w\n---\na\n")}, lostLines{1, 0, 1}},
		"a folder":         {Step{Before: ExistingFolder}, lostLines{}},
		"a change of none": {Step{Before: text("a\n"), After: text("a\n")}, lostLines{BodyBefore: 1}},
	} {
		assert.Equal(t, tt.step.lost(), tt.want, "%s", name)
	}
}
