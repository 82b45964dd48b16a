package vault_test

import (
	"context"
	"testing"

	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// The operations of a batch are known to the process that worked them out alone.
func TestABatchOfAnotherProcessIsNotApplied(t *testing.T) {
	h := embedded.New(t, map[string]string{"N.md": "text\n"})
	at := h.Host()
	t.Cleanup(at.Close)
	v := require.Value(at.Open(context.Background(), h.Dir, protocol.Request{}))(t)
	for _, changes := range []bool{false, true} {
		_, err := change.InBatch(v, protocol.Batch{ID: "of another process", Planned: 1}, changes)
		said := answer.Explain(err)
		assert.Equal(t, said.Status, answer.ExitFailed)
		assert.Equal(t, said.Kind.Code, protocol.CodeNotApplied)
	}
}
