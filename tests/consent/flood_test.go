package consent

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// An agent that proposes without end, from many sessions, plans again and withdraws, takes nothing from a quiet one: what
// that one has left waits as before, it can leave more, and its owner takes it. The folder stays small.
func TestAFloodOfProposalsBesideAQuietAgent(t *testing.T) {
	t.Parallel()
	w := newProposing(t, nil)
	quiet := w.Again(func(c *gateway.Config) { c.Agent = "quiet" })
	leave := func(name string) consent.Proposal {
		t.Helper()
		b := gateway.Batch{
			Request:    gateway.Request{Caller: "night", Client: "a client"},
			Operations: []gateway.Operation{harness.Operation("c1", "create", "path=Projects/"+name+".md", "content="+name)},
		}
		answer := quiet.Gateway.ProposeBatch(t.Context(), b, "")
		require.That(t, answer.OK, "the quiet agent is refused: %+v", answer.Error)
		return w.find(answer.Proposal.ID)
	}
	first := leave("first")
	kept := 0
	refused := map[string]int{}
	var own []string // of the flood, that wait
	for i := range testenv.Count(300, 10_000) {
		again := ""
		if i%5 == 0 && len(own) > 0 {
			again = own[i%len(own)]
		}
		b := gateway.Batch{
			Request:    gateway.Request{Caller: fmt.Sprintf("session %d", i%7), Client: "a client"},
			Operations: []gateway.Operation{harness.Operation("c1", "append", "path=Projects/a.md", fmt.Sprintf("content=%d", i))},
		}
		answer := w.Gateway.ProposeBatch(t.Context(), b, again)
		switch {
		case answer.OK && again == "":
			kept++
			own = append(own, answer.Proposal.ID)
		case !answer.OK:
			refused[answer.Error.Code]++
		}
		if i%11 == 0 && len(own) > 0 {
			w.Gateway.Do(t.Context(), gateway.Request{
				Command: "approvals", Words: []string{"withdraw=" + own[0]}, Caller: fmt.Sprintf("session %d", i%7),
			})
			own = own[1:]
		}
	}
	t.Logf("%d kept, refused: %v", kept, refused)
	assert.Equal(t, w.find(first.ID).Version, first.Version, "what the quiet agent has left")
	second := leave("second")
	list, damaged, err := w.store().List()
	require.NoError(t, err)
	assert.Equal(t, len(damaged), 0, "damaged")
	ofFlood := 0
	for _, p := range list {
		if p.Agent() == "cursor" && p.State == consent.ProposalOpen {
			ofFlood++
		}
	}
	assert.That(t, ofFlood <= 8, "%d of the flood wait", ofFlood)
	entries := require.Value(os.ReadDir(filepath.Join(w.state, "proposals")))(t)
	assert.That(t, len(entries) <= 64, "the folder has %d files", len(entries))
	owner := w.owner.Again(func(c *gateway.Config) { c.Agent = "quiet" })
	for _, p := range []consent.Proposal{first, second} {
		shown, err := owner.Gateway.DraftProposal(t.Context(), p, []int{0}, "terminal")
		require.NoError(t, err)
		result := owner.Gateway.TakeProposal(t.Context(), shown, gateway.ProposalAnswer{By: "terminal"})
		assert.That(t, result.OK, "not taken: %+v", result.Error)
	}
	assert.Equal(t, w.Read("Projects/first.md")+w.Read("Projects/second.md"), "firstsecond")
	assert.Equal(t, w.Read("Projects/a.md"), "one\ntwo\nthree\n", "nothing of the flood is made")
}
