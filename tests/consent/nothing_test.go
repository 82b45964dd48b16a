package consent

import (
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// A change that would change no byte says so, is in no journal, and nobody is asked about it.
func TestNothingIsToldAsNothing(t *testing.T) {
	o := harness.NewInProcess(t, func(c *gateway.Config) {
		c.Policy.Ceiling, c.Policy.Confirm = tiers.V3, policy.ConfirmWrites
	})
	o.Write("n.md", "---\ntags:\n  - a\np: 1\n---\n- [x] done\n")
	o.Write("b.canvas", `{"nodes":[{"id":"1","type":"text","text":"x","x":0,"y":0,"width":100,"height":100}],"edges":[]}`)
	for _, words := range [][]string{
		{"property:remove-item", "path=n.md", "name=tags", "value=nope"}, {"property:remove-item", "path=n.md", "name=none", "value=nope"},
		{"property:remove", "path=n.md", "name=none"}, {"property:add", "path=n.md", "name=tags", "value=a"}, {"property:set", "path=n.md", "name=p", "value=1"},
		{"canvas:set", "path=b.canvas", "id=1", "text=x"}, {"rename", "path=n.md", "name=n"}, {"vault:replace", "old=none of these", "new=x"},
	} {
		result, asked := o.Do(words)
		require.That(t, result.OK, "%q: %+v", words, result.Error)
		assert.Equal(t, len(asked), 0, "%q: questions", words)
		require.That(t, result.Changed != nil, "%q: changed %v", words, result.Changed)
		assert.Equal(t, *result.Changed, 0, "%q: changed %v", words, result.Changed)
		assert.That(t, result.Change == nil || result.Change.ID == "", "%q: it is in the journal: %+v", words, result.Change)
		assert.That(t, len(result.Notices) > 0, "%q: no notice", words)
		assert.Contains(t, result.Stdout, "Nothing was changed", "%q", words)
	}
}
