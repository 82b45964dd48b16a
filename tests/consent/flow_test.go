package consent

import (
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// What the session of an agent had read when it proposed goes with the proposal: the owner, in another process, is told
// of the flow rule, and a rule that refuses by then refuses it.
func TestAProposalCarriesWhatItsSessionHasRead(t *testing.T) {
	t.Parallel()
	rule := policy.Flow{Name: "journal", From: []string{"Journal"}, To: []string{"Projects"}}
	withRule := func(flows ...policy.Flow) func(*gateway.Config) {
		return func(c *gateway.Config) { c.Policy.Flows = flows }
	}
	text := func(lines []consent.Line) string {
		var b strings.Builder
		for _, l := range lines {
			b.WriteString(l.Text + "\n")
		}
		return b.String()
	}
	operation := harness.Operation("c1", "append", "path=Projects/a.md", "content=four")
	w := newProposing(t, withRule(rule))
	w.Write("Journal/day.md", "private\n")
	before := w.must(operation)
	assert.Equal(t, len(before.Flows), 0, "before anything was read")
	shown := require.Value(w.owner.Gateway.DraftProposal(t.Context(), before, []int{0}, "terminal"))(t)
	assert.That(t, !strings.Contains(text(shown.Lines), "journal"), "%s", text(shown.Lines))
	require.Equal(t, w.do("read", "path=Journal/day.md"), "")
	p := w.must(harness.Operation("c1", "append", "path=Projects/a.md", "content=five"))
	require.Equal(t, len(p.Flows), 1)
	assert.Equal(t, p.Flows[0].Rule, "journal")
	assert.Equal(t, p.Flows[0].Note, "Journal/day.md")
	shown = require.Value(w.owner.Gateway.DraftProposal(t.Context(), p, []int{0}, "terminal"))(t)
	assert.Contains(t, text(shown.Lines), `"journal"`, "the owner is told")

	refusing := rule
	refusing.Refuses = true
	strict := w.Again(func(c *gateway.Config) {
		c.Session = "strict"
		withRule(refusing)(c)
	})
	_, err := strict.Gateway.DraftProposal(t.Context(), p, []int{0}, "terminal")
	assert.That(t, err != nil, "it is drawn against a rule that refuses")
	result := strict.Gateway.TakeProposal(t.Context(), shown, gateway.ProposalAnswer{By: "terminal"})
	assert.That(t, !result.OK, "it is taken against a rule that refuses")
	_, err = strict.Gateway.DraftProposal(t.Context(), before, []int{0}, "terminal")
	assert.NoError(t, err, "what was proposed before the note was read")
	assert.Equal(t, w.Read("Projects/a.md"), "one\ntwo\nthree\n", "nothing is made")

	// Planned again from another session it has what the first one had read.
	other := w.Again(func(c *gateway.Config) { c.Session = "other" })
	b := gateway.Batch{Request: gateway.Request{Caller: "me", Client: "a client"}}
	answer := other.Gateway.ProposeBatch(t.Context(), b, p.ID)
	require.That(t, answer.OK, "not planned again: %+v", answer.Error)
	assert.Equal(t, len(w.find(p.ID).Flows), 1, "flows of the proposal that was planned again")
	result = w.takes(w.find(p.ID), 0)
	assert.That(t, result.OK, "not taken: %+v", result.Error)
	assert.Equal(t, w.Read("Projects/a.md"), "one\ntwo\nthree\nfive")
}
