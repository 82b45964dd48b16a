package change_test

import (
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// What was asked for counts where it is there once, at its place, and most of the old text is left.
func TestTextAddedAtAnEdge(t *testing.T) {
	const before = "---\nn: 1\n---\n# Plan\nfirst\nsecond\n"
	const touched = "---\nn: 1\nupdated: 2\n---\n# Plan\nfirst\nsecond\n"
	for _, test := range []struct {
		name, before, now string
		edge              change.Edge
		joint             edit.Joint
		done              bool
	}{
		{"at the end, properties touched", before, touched + "new\n", change.AtEnd, edit.OwnLine, true},
		{"at the end, with more behind it", before, touched + "new\n\nfooter\n", change.AtEnd, edit.OwnLine, true},
		{"at the end, a line formatted", before, "---\nn: 1\n---\n# Plan\n\nfirst\n- second\nnew\n", change.AtEnd, edit.OwnLine, true},
		{"twice", before, touched + "new\nnew\n", change.AtEnd, edit.OwnLine, false},
		{"not at all", before, touched, change.AtEnd, edit.OwnLine, false},
		{"a part of it", before, touched + "ne\n", change.AtEnd, edit.OwnLine, false},
		{"in the middle", before, "---\nn: 1\n---\n# Plan\nnew\nfirst\nsecond\n", change.AtEnd, edit.OwnLine, false},
		{"within a line", before, touched + "a new one\n", change.AtEnd, edit.OwnLine, false},
		{"most of the old text is gone", before, "# Plan\nnew\n", change.AtEnd, edit.OwnLine, false},
		{"at the start", before, "---\nn: 1\nupdated: 2\n---\nnew\n# Plan\nfirst\nsecond\n", change.AtStart, edit.OwnLine, true},
		{"at the end instead of the start", before, touched + "new\n", change.AtStart, edit.OwnLine, false},
		{"inline", before, "---\nn: 2\n---\n# Plan\nfirst\nsecond new\n", change.AtEnd, edit.Inline, false},
		{"inline, behind a line that is left", "zero\nfirst\nsecond", "zero\nfirst\nsecondnew\nfooter\n", change.AtEnd, edit.Inline, true},
		{"into nothing", "", "# Today\n\nnew\n\n## Done\n", change.AtEnd, edit.OwnLine, true},
	} {
		verdict := change.AddedAt([]byte(test.before), []byte(test.now), "new", test.edge, test.joint)
		assert.Equal(t, verdict.Done, test.done, "%s: %+v", test.name, verdict)
	}
}
