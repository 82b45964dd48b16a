package consent

import (
	"context"
	"errors"
	"testing"

	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// A call that has ended cannot use an approval: it is left for the same call when it is sent again.
func TestAnEndedCallUsesNoApproval(t *testing.T) {
	a := New(t.TempDir(), nil)
	q := Question{
		Command: "delete",
		Vault:   "Notes",
		Lines:   []Line{{Kind: Act, Text: `Delete "a.md"`}},
		Text:    `Delete "a.md"`,
		Digest:  Digest{1},
		Call:    CallDigest{1},
	}
	ctx, end := context.WithCancel(t.Context())
	requester := Requester{Caller: "agent", Session: "session", Ways: policy.AskClient}
	requester.Ask = func(context.Context, Question) Reply {
		stored, _ := listed(t, a.store)
		require.Equal(t, len(stored), 1)
		require.Value(a.store.Approve(stored[0].Code))(t)
		end()
		return Waiting
	}
	refusal := errors.New("the user cannot be asked")
	_, err := a.Request(ctx, requester, q, refusal)
	assert.That(t, err != nil, "a call that has ended is approved")
	requester.Ask = nil
	_, err = a.Request(t.Context(), requester, q, refusal)
	assert.NoError(t, err, "the same call again")
}
