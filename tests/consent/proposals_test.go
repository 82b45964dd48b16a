package consent

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// proposing is a vault with an agent, and with the gateway of a process of the owner, where the agent may be gone.
type proposing struct {
	*harness.InProcess
	t     *testing.T
	owner *harness.InProcess
	state string
}

func newProposing(t *testing.T, change func(*gateway.Config)) proposing {
	t.Helper()
	agent := func(c *gateway.Config) {
		c.Agent = "cursor"
		c.Policy.Ceiling = tiers.V3
		if change != nil {
			change(c)
		}
	}
	o := harness.NewInProcess(t, agent)
	owner := o.Again(func(c *gateway.Config) { c.Session = "owner" })
	w := proposing{o, t, owner, filepath.Join(o.State, "vaultwicket")}
	w.Write("Projects/a.md", "one\ntwo\nthree\n")
	w.Write("Projects/b.md", "see [[Projects/a]]\n")
	return w
}

func (w proposing) store() *consent.Proposals { return consent.OpenProposals(w.state, nil) }

// propose has the agent propose operations, in place of the proposal with an id unless that is "".
func (w proposing) propose(again string, operations ...gateway.Operation) gateway.Proposed {
	w.t.Helper()
	b := gateway.Batch{Request: gateway.Request{Caller: "me", Client: "a client"}, Operations: operations}
	return w.Gateway.ProposeBatch(w.t.Context(), b, again)
}

// must is propose for what has to be kept, and returns it as the owner finds it.
func (w proposing) must(operations ...gateway.Operation) consent.Proposal {
	w.t.Helper()
	answer := w.propose("", operations...)
	require.That(w.t, answer.OK, "not proposed: %+v", answer.Error)
	return w.find(answer.Proposal.ID)
}

func (w proposing) find(id string) consent.Proposal {
	w.t.Helper()
	return require.Value(w.store().Find(id))(w.t)
}

// takes has the owner look at operations by their places, and take them.
func (w proposing) takes(p consent.Proposal, chosen ...int) gateway.BatchResult {
	w.t.Helper()
	shown, err := w.owner.Gateway.DraftProposal(w.t.Context(), p, chosen, "terminal")
	if err != nil {
		return gateway.RejectBatch("", err)
	}
	return w.owner.Gateway.TakeProposal(w.t.Context(), shown, gateway.ProposalAnswer{By: "terminal", Says: "thanks"})
}

// approvals is what the agent reads.
func (w proposing) approvals(words ...string) string {
	w.t.Helper()
	result := w.Gateway.Do(w.t.Context(), gateway.Request{Command: "approvals", Words: words, Caller: "later"})
	require.That(w.t, result.OK, "approvals: %+v", result.Error)
	return result.Stdout
}

func (w proposing) entries() []journal.Entry {
	w.t.Helper()
	kept := require.Value(w.Gateway.Journal(""))(w.t)
	list, _, err := kept.Entries(w.t.Context(), journal.Filter{})
	require.NoError(w.t, err)
	return list
}

func TestAProposalWaitsAndIsTakenAsAWhole(t *testing.T) {
	t.Parallel()
	w := newProposing(t, nil)
	before := harness.TreeOf(t, w.Vault)
	p := w.must(
		harness.Operation("c1", "create", "path=Projects/n.md", "content=new"),
		harness.Operation("c2", "append", "path=Projects/n.md", "content=more"),
		harness.Operation("c3", "append", "path=Projects/a.md", "content=four"),
	)
	assert.Equal(t, harness.TreeOf(t, w.Vault), before, "nothing is made")
	assert.Equal(t, len(w.Waiting()), 0, "nobody is asked")
	assert.Equal(t, p.State, consent.ProposalOpen)
	assert.Equal(t, p.Expires.Sub(p.Made), 7*24*time.Hour)
	assert.Equal(t, fmt.Sprint(p.Operations[1].Needs, p.Operations[2].Needs), "[0] []", "what depends on what")
	assert.That(t, strings.HasPrefix(p.Text, "Change 1 note and create 1 note"), "%s", p.Text)
	assert.That(t, strings.Contains(w.approvals(), "proposal "+p.ID+"\twaiting\t3 operations"), "%s", w.approvals())

	result := w.takes(p, 0, 1, 2)
	require.That(t, result.OK, "%+v", result)
	assert.Equal(t, w.Read("Projects/n.md"), "new\nmore")
	assert.Equal(t, w.Read("Projects/a.md"), "one\ntwo\nthree\nfour")
	assert.That(t, strings.Contains(w.approvals(), "taken: c1, c2, c3\tthe user says: \"thanks\""), "%s", w.approvals())
	entries := w.entries()
	require.That(t, len(entries) > 0, "no entry")
	for _, e := range entries {
		assert.Equal(t, e.Proposal, p.ID, "in the journal")
		assert.Equal(t, e.Batch, entries[0].Batch, "one batch")
		assert.Equal(t, e.Caller, "cursor/me", "made for")
	}
	undone := w.owner.Gateway.Do(t.Context(), gateway.Request{Command: "undo", Words: []string{"batch=" + entries[0].ID}, Caller: "terminal", Owner: true,
		Ask: w.Asker(new([]consent.Question), []func(consent.Question) consent.Reply{harness.Says(consent.Yes)})})
	require.That(t, undone.OK, "%+v", undone.Error)
	assert.Equal(t, w.Read("Projects/n.md")+w.Read("Projects/a.md"), "one\ntwo\nthree\n", "one entry to undo")
	var said []string
	for l, err := range audit.List(t.Context(), audit.AuditFolder(w.state), audit.Filter{}) {
		require.NoError(t, err)
		if l.Proposal == p.ID {
			said = append(said, strings.TrimSpace(l.Kind+" "+l.Decision+" "+l.By))
		}
	}
	for _, line := range []string{"decision plan", "decision reply terminal", "decision allow", "end", "proposal approve terminal"} {
		assert.That(t, slices.Contains(said, line), "the log has no %q: %q", line, said)
	}
}

func TestAPartIsTakenWithWhatItNeeds(t *testing.T) {
	t.Parallel()
	w := newProposing(t, nil)
	p := w.must(
		harness.Operation("c1", "create", "path=Projects/n.md", "content=new"),
		harness.Operation("c2", "append", "path=Projects/a.md", "content=see [[n]]"),
		harness.Operation("c3", "append", "path=Projects/b.md", "content=other"),
	)
	assert.Equal(t, fmt.Sprint(p.Operations[1].Needs), "[0]", "a link to a note that is made")
	shown := require.Value(w.owner.Gateway.DraftProposal(t.Context(), p, []int{1}, "page"))(t)
	assert.Equal(t, fmt.Sprint(shown.Chosen), "[0 1]", "what it needs comes along")
	drawn := fmt.Sprintf("%+v", shown.Lines)
	assert.Contains(t, drawn, "see [[n]]", "the part is drawn")
	assert.NotContains(t, drawn, "other", "the part is drawn")
	result := w.owner.Gateway.TakeProposal(t.Context(), shown, gateway.ProposalAnswer{By: "page"})
	require.That(t, result.OK, "%+v", result)
	assert.Equal(t, w.Read("Projects/b.md"), "see [[Projects/a]]\n", "what was not taken")
	assert.That(t, strings.Contains(w.approvals(), "taken: c1, c2\tdeclined: c3"), "%s", w.approvals())
	without, _ := p.Without([]int{0})
	assert.Equal(t, fmt.Sprint(without), "[2]", "without the first")
}

// codeOf is the code of an error, "" for none.
func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return failure.Of(err).Code
}
