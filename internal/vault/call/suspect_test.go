package call

import (
	"math/rand/v2"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A text that the gateway takes for one that does not narrow access, by its bytes, is none to the reader of properties and tags.
func TestWhatBytesClearIsCleared(t *testing.T) {
	p, err := access.NewPrivate([]string{"private", "agent"}, []string{"private", "Geheim"})
	require.NoError(t, err)
	pieces := []string{
		"---", "---\n", "\n---\n", "\n--- \n", "\r\n---\r\n", "\r", "\r\r\n", "\n", "\n\n", "...", "\ufeff", " ", "\t", "-",
		"private: true\n", "Private: yes", "agent: no\n", "\"pri\\x76ate\": true\n", "pri\u200bvate: 1\n", "ｐrivate: true\n", "\x00",
		"tags: [private]\n", "tags:\n- geheim\n", "tag: a b private", "title: x\n", "# Title\n", "#private", "#", "#geheim/x", "#GEHEIM ",
		"#priv", "a #private b\n", "text\n", "```\n", "é", "\xff", "%%", "agentic", "secret agents\n", "x: |\n  private: true\n",
	}
	random := rand.New(rand.NewPCG(1, 2))
	narrowed, cleared := 0, 0
	for range 100_000 {
		var text []byte
		for range random.IntN(10) {
			text = append(text, pieces[random.IntN(len(pieces))]...)
		}
		isNarrowed := LevelIn(p, text) < access.Delete
		mayNarrow := p.MayNarrow(text)
		if isNarrowed {
			narrowed++
			assert.That(t, mayNarrow, "the gateway takes %q for open", text)
		}
		if !mayNarrow {
			cleared++
		}
	}
	assert.That(t, narrowed > 1000, "only %d texts narrow access", narrowed)
	assert.That(t, cleared > 1000, "only %d texts are cleared", cleared)
}
