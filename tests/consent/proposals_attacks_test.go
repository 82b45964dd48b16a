package consent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// harmless is a proposal that an attack begins with.
func harmless() []gateway.Operation {
	return []gateway.Operation{
		harness.Operation("c1", "create", "path=Projects/n.md", "content=new"),
		harness.Operation("c2", "append", "path=Projects/a.md", "content=four"),
	}
}

// do has the agent make a call, and returns the code of its error.
func (w proposing) do(words ...string) string {
	w.t.Helper()
	return harness.CodeOf(w.Gateway.Do(w.t.Context(), gateway.Request{Command: words[0], Words: words[1:], Caller: "me"}))
}

// What an agent tries in order to have something made that its owner has not taken. Nothing of it is made.
func TestAttacksOfAnAgentOnItsOwner(t *testing.T) {
	t.Parallel()
	swap := []gateway.Operation{harness.Operation("c1", "delete", "path=Projects/b.md"), harness.Operation("c2", "append", "path=Projects/a.md", "content=four")}
	attacks := map[string]func(w proposing, p consent.Proposal, shown gateway.ProposalDraft) (want string){
		"its own approvals": func(w proposing, p consent.Proposal, _ gateway.ProposalDraft) string {
			w.do("approvals", "approve="+p.ID)
			return "ok"
		},
		"a call with the id": func(w proposing, p consent.Proposal, _ gateway.ProposalDraft) string {
			w.do("append", "path=Projects/a.md", "content=x")
			return "ok"
		},
		"a code that it guesses": func(w proposing, p consent.Proposal, _ gateway.ProposalDraft) string {
			w.propose("2222-2222", harmless()...)
			return "ok"
		},
		"other operations, same id": func(w proposing, p consent.Proposal, _ gateway.ProposalDraft) string {
			require.That(w.t, w.propose(p.ID, swap...).OK, "planned again")
			return "conflict"
		},
		"the same ones planned again": func(w proposing, p consent.Proposal, _ gateway.ProposalDraft) string {
			require.That(w.t, w.propose(p.ID).OK, "planned again")
			return "conflict"
		},
		"withdrawn after a look": func(w proposing, p consent.Proposal, _ gateway.ProposalDraft) string {
			require.Equal(w.t, w.do("approvals", "withdraw="+p.ID), "")
			return "not_found"
		},
		"a note that is changed": func(w proposing, _ consent.Proposal, _ gateway.ProposalDraft) string {
			w.Write("Projects/a.md", "other\n")
			return "conflict"
		},
		"a note that is made": func(w proposing, _ consent.Proposal, _ gateway.ProposalDraft) string {
			w.Write("Projects/n.md", "there\n")
			return "already_exists"
		},
		"a note that is gone": func(w proposing, _ consent.Proposal, _ gateway.ProposalDraft) string {
			require.NoError(w.t, os.Remove(filepath.Join(w.Vault, "Projects/a.md")))
			return "not_found"
		},
		"a link in place of the note": func(w proposing, _ consent.Proposal, _ gateway.ProposalDraft) string {
			require.NoError(w.t, os.Remove(filepath.Join(w.Vault, "Projects/a.md")))
			require.NoError(w.t, os.Symlink(filepath.Join(w.Vault, "root.md"), filepath.Join(w.Vault, "Projects/a.md")))
			return "any"
		},
		"a link in place of the folder": func(w proposing, _ consent.Proposal, _ gateway.ProposalDraft) string {
			require.NoError(w.t, os.Rename(filepath.Join(w.Vault, "Projects"), filepath.Join(w.Vault, "Moved")))
			require.NoError(w.t, os.Symlink(w.t.TempDir(), filepath.Join(w.Vault, "Projects")))
			return "any"
		},
		"a head that is edited": func(w proposing, p consent.Proposal, _ gateway.ProposalDraft) string {
			name := filepath.Join(consent.ProposalsFolder(w.state), p.ID+".json")
			text := require.Value(os.ReadFile(name))(w.t)
			require.NoError(w.t, os.WriteFile(name, []byte(strings.Replace(string(text), `"waiting"`, `"taken"`, 1)), 0o600))
			return "not_found"
		},
		"a body that is edited": func(w proposing, p consent.Proposal, _ gateway.ProposalDraft) string {
			for _, name := range require.Value(filepath.Glob(filepath.Join(consent.ProposalsFolder(w.state), p.ID+"-*.body")))(w.t) {
				require.NoError(w.t, os.WriteFile(name, []byte("other"), 0o600))
			}
			return "not_found"
		},
		"a head that is copied": func(w proposing, p consent.Proposal, _ gateway.ProposalDraft) string {
			text := require.Value(os.ReadFile(filepath.Join(consent.ProposalsFolder(w.state), p.ID+".json")))(w.t)
			require.NoError(w.t, os.WriteFile(filepath.Join(consent.ProposalsFolder(w.state), "p-aaaaaaaaaa.json"), text, 0o600))
			return "ok"
		},
		"a flood of proposals": func(w proposing, _ consent.Proposal, _ gateway.ProposalDraft) string {
			kept := 0
			for i := range 40 {
				if w.propose("", harness.Operation("c", "append", "path=Projects/b.md", fmt.Sprintf("content=%d", i))).OK {
					kept++
				}
			}
			assert.Equal(w.t, kept, 7, "of a flood")
			return "ok"
		},
	}
	for name, attack := range attacks {
		w := newProposing(t, nil)
		p := w.must(harmless()...)
		shown := require.Value(w.owner.Gateway.DraftProposal(t.Context(), p, []int{0, 1}, "terminal"))(t)
		want := attack(w, p, shown)
		outside := w.Read("root.md")
		isMade := w.Read("Projects/n.md")
		before := harness.TreeOf(t, w.Vault)
		result := w.owner.Gateway.TakeProposal(t.Context(), shown, gateway.ProposalAnswer{By: "terminal"})
		code := harness.CodeOfError(result.Error)
		assert.Equal(t, w.Read("root.md"), outside, "%s: a note outside", name)
		if want == "ok" {
			assert.That(t, result.OK, "%s: %+v", name, result.Error)
			assert.Equal(t, isMade, "", "%s: made before the owner took it", name)
			assert.Equal(t, w.Read("Projects/a.md"), "one\ntwo\nthree\nfour", "%s", name)
			continue
		}
		assert.That(t, !result.OK, "%s: made", name)
		if want != "any" {
			assert.Equal(t, code, want, "%s: %+v", name, result.Error)
		}
		assert.Equal(t, harness.TreeOf(t, w.Vault), before, "%s: something is made", name)
	}
}

// What is not allowed cannot be proposed, and is refused at once; and what an agent writes is shown as what it is.
func TestWhatCannotBeProposed(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100)
	for name, tt := range map[string]struct {
		operations []gateway.Operation
		want       string
	}{
		"nothing":                  {nil, "bad_request"},
		"only reads":               {[]gateway.Operation{harness.Operation("a", "read", "path=root.md")}, "bad_request"},
		"a change of nothing":      {[]gateway.Operation{harness.Operation("a", "property:set", "path=Projects/p.md", "name=k", "value=v")}, "bad_request"},
		"a restricted command":     {[]gateway.Operation{harness.Operation("a", "eval", "code=1")}, "restricted_command"},
		"a command of the app":     {[]gateway.Operation{harness.Operation("a", "publish:add", "path=root.md")}, "any"},
		"a hidden note":            {[]gateway.Operation{harness.Operation("a", "append", "path=Secret/s.md", "content=x")}, "not_found"},
		"a hidden note that is no": {[]gateway.Operation{harness.Operation("a", "append", "path=Secret/none.md", "content=x")}, "not_found"},
		"a note to read":           {[]gateway.Operation{harness.Operation("a", "append", "path=ReadOnly/r.md", "content=x")}, "access_denied"},
		"out of the vault":         {[]gateway.Operation{harness.Operation("a", "create", "path=../x.md", "content=x")}, "any"},
		"an absolute path":         {[]gateway.Operation{harness.Operation("a", "create", "path=/etc/x.md", "content=x")}, "any"},
		"the settings of the app":  {[]gateway.Operation{harness.Operation("a", "create", "path=.obsidian/x.md", "content=x")}, "any"},
		"one that would fail":      {[]gateway.Operation{harness.Operation("a", "create", "path=root.md", "content=x")}, "already_exists"},
		"the second would fail": {[]gateway.Operation{harness.Operation("a", "append", "path=root.md", "content=x"),
			harness.Operation("b", "append", "path=none.md", "content=x")}, "not_found"},
		"two of one name": {[]gateway.Operation{harness.Operation("a", "append", "path=root.md", "content=x"),
			harness.Operation("a", "append", "path=root.md", "content=y")}, "bad_request"},
		"a long name": {[]gateway.Operation{harness.Operation(long, "append", "path=root.md", "content=x")}, "bad_request"},
		"a later reference": {[]gateway.Operation{refers(harness.Operation("a", "append", "path=root.md"), "b"),
			harness.Operation("b", "read", "path=root.md")}, "bad_request"},
		"another vault": {[]gateway.Operation{harness.Operation("a", "append", "vault=Other", "path=root.md", "content=x")}, "any"},
		"too much": {[]gateway.Operation{harness.Operation("a", "create", "path=Projects/l.md",
			"content="+strings.Repeat("a long line of text\n", 600_000))}, "any"},
	} {
		w := newProposing(t, func(c *gateway.Config) {
			c.Policy.Access = require.Value(access.New(map[string]access.Level{"/": access.Delete, "Secret": access.None, "ReadOnly": access.Read}))(t)
		})
		w.Write("ReadOnly/r.md", "r\n")
		w.Write("Projects/p.md", "---\nk: v\n---\n")
		before := harness.TreeOf(t, w.Vault)
		answer := w.propose("", tt.operations...)
		assert.That(t, !answer.OK, "%s is proposed", name)
		if tt.want != "any" {
			assert.Equal(t, harness.CodeOfError(answer.Error), tt.want, "%s: %+v", name, answer.Error)
		}
		assert.Equal(t, harness.TreeOf(t, w.Vault), before, "%s changes something", name)
		list, _, err := w.store().List()
		assert.That(t, err == nil, "%s: %v", name, err)
		assert.Equal(t, len(list), 0, "%s is kept", name)
	}
}

func refers(o gateway.Operation, to string) gateway.Operation {
	o.From = map[string]gateway.Reference{"content": {ClientID: to, Field: "stdout"}}
	return o
}

// With mutations off nothing is proposed, and a proposal of before is not made.
func TestWithMutationsOffNothingIsProposed(t *testing.T) {
	t.Parallel()
	w := newProposing(t, nil)
	p := w.must(harmless()...)
	off := w.Again(func(c *gateway.Config) { c.Policy.Mutations = false })
	answer := off.Gateway.ProposeBatch(t.Context(), gateway.Batch{Request: gateway.Request{Caller: "me"}, Operations: harmless()}, "")
	assert.Equal(t, harness.CodeOfError(answer.Error), "mutations_off")
	_, err := off.Gateway.DraftProposal(t.Context(), p, []int{0}, "terminal")
	assert.Equal(t, codeOf(err), "mutations_off")
}

// The proposals of an agent are its own.
func TestProposalsOfAnotherAgentDoNotExist(t *testing.T) {
	t.Parallel()
	w := newProposing(t, nil)
	p := w.must(harmless()...)
	codex := w
	codex.InProcess = w.Again(func(c *gateway.Config) { c.Agent = "codex" })
	assert.That(t, !strings.Contains(codex.approvals(), p.ID), "another agent sees it")
	assert.Equal(t, harness.CodeOfError(codex.propose(p.ID, harmless()...).Error), "not_found", "planned again by another")
	assert.Equal(t, harness.CodeOfError(codex.propose("p-aaaaaaaaaa", harmless()...).Error), "not_found", "as one that is none")
	assert.Equal(t, codex.do("approvals", "withdraw="+p.ID), "not_found", "withdrawn by another")
	_, err := codex.Gateway.DraftProposal(t.Context(), p, []int{0}, "terminal")
	assert.Equal(t, codeOf(err), "agent_denied", "with the rights of another")
	assert.That(t, codex.propose("", harmless()...).OK, "a newcomer has its part")
}

// A note that was hidden since is not in what its agent reads, and changes of notes that it may see are.
func TestAHiddenNoteDoesNotShowInAProposal(t *testing.T) {
	t.Parallel()
	w := newProposing(t, nil)
	p := w.must(harness.Operation("c1", "append", "path=Projects/a.md", "content=x"), harness.Operation("c2", "append", "path=Inbox/a.md", "content=x"))
	w.Write("Projects/a.md", "changed\n")
	w.Write("Inbox/a.md", "changed\n")
	assert.Contains(t, w.approvals(), "changed since: Inbox/a.md, Projects/a.md")
	later := w
	later.InProcess = w.Again(func(c *gateway.Config) {
		c.Policy.Access = require.Value(access.New(map[string]access.Level{"/": access.Delete, "Projects": access.None}))(t)
	})
	told := later.approvals()
	assert.Contains(t, told, "changed since: Inbox/a.md;")
	assert.NotContains(t, told, "Projects")
	_, err := later.Gateway.DraftProposal(t.Context(), p, []int{0, 1}, "terminal")
	assert.Equal(t, codeOf(err), "not_found")
}

// What an agent calls things is shown as text, and a sentence of the owner reaches it as one row.
func TestHostileNamesAreShownAsText(t *testing.T) {
	t.Parallel()
	w := newProposing(t, nil)
	p := w.must(harness.Operation("a\x1b[2J\nDo this?\u202e", "append", "path=Projects/a.md", "content=x\x1b[31m"))
	lines := require.Value(gateway.ProposalLines(w.store(), p))(t)
	for _, l := range lines {
		assert.That(t, !strings.ContainsAny(l.Text+l.Path, "\x1b\n\u202e"), "%q", l.Text)
	}
	shown := require.Value(w.owner.Gateway.DraftProposal(t.Context(), p, []int{0}, "page"))(t)
	says := "line\nproposal p-x\ttaken\x1b[2J " + strings.Repeat("long ", 400)
	result := w.owner.Gateway.TakeProposal(t.Context(), shown, gateway.ProposalAnswer{By: "page", Says: says})
	require.That(t, result.OK, "%+v", result.Error)
	told := w.approvals()
	assert.Equal(t, strings.Count(told, "\n"), 2, "rows of %q", told)
	assert.That(t, !strings.ContainsAny(told, "\x1b\u202e"), "%q", told)
	assert.That(t, len(told) < 1500, "%q", told)
}

// What a killed process has left is settled by what the journal has: made, or waiting again.
func TestAClaimOfAKilledProcessIsSettled(t *testing.T) {
	t.Parallel()
	w := newProposing(t, nil)
	p := w.must(harmless()...)
	claim := require.Value(w.store().Claim(t.Context(),
		consent.ProposalDecision{ID: p.ID, Version: p.Version, Chosen: []int{0, 1},
			Batch: "20261121T083000.000000000Z-0000", By: "page"}))(t)
	assert.Contains(t, w.approvals(), "being made")
	result := w.owner.Gateway.TakeProposal(t.Context(), gateway.ProposalDraft{Proposal: p, Chosen: []int{0, 1}}, gateway.ProposalAnswer{By: "terminal"})
	assert.Equal(t, harness.CodeOfError(result.Error), "conflict", "while it is made")
	claim.Leave()
	assert.Contains(t, w.approvals(), "waiting", "nothing was made")
	require.That(t, w.takes(w.find(p.ID), 0, 1).OK, "taken")
	assert.Equal(t, w.find(p.ID).State, consent.ProposalTaken)
}
