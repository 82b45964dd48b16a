package consent

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// drawnOperation is an operation of a drawn proposal.
type drawnOperation struct{ kind, path, to, text string }

func (o drawnOperation) touches() []string {
	return slices.DeleteFunc([]string{o.path, o.to}, func(p string) bool { return p == "" })
}

func (o drawnOperation) of(i int) gateway.Operation {
	id := fmt.Sprintf("c%d", i)
	switch o.kind {
	case "create", "append":
		return harness.Operation(id, o.kind, "path="+o.path, "content="+o.text)
	case "move":
		return harness.Operation(id, o.kind, "path="+o.path, "to="+o.to)
	}
	return harness.Operation(id, "delete", "path="+o.path)
}

// notes are the notes of a vault as the rule has them.
type notes map[string]string

// does applies operations one after the other. It reports false if one of them cannot be done.
func (n notes) does(operations []drawnOperation) (after notes, ok bool) {
	after = maps.Clone(n)
	for _, o := range operations {
		text, exists := after[o.path]
		_, taken := after[o.to]
		switch o.kind {
		case "create":
			if exists {
				return nil, false
			}
			after[o.path] = o.text
		case "append":
			if !exists {
				return nil, false
			}
			if !strings.HasSuffix(text, "\n") {
				text += "\n"
			}
			after[o.path] = text + o.text
		case "move":
			if !exists || taken && o.path != o.to {
				return nil, false
			}
			delete(after, o.path)
			after[o.to] = text
		case "delete":
			if !exists {
				return nil, false
			}
			delete(after, o.path)
		}
	}
	return after, true
}

// closed returns the operations that are taken with some: those before them that have to do with the same note.
func closed(all []drawnOperation, picked []int) (chosen []int) {
	wanted := map[int]bool{}
	for _, i := range picked {
		wanted[i] = true
	}
	for i := len(all) - 1; i >= 0; i-- {
		if !wanted[i] {
			continue
		}
		for j := range i {
			if slices.ContainsFunc(all[j].touches(), func(p string) bool { return slices.Contains(all[i].touches(), p) }) {
				wanted[j] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(wanted))
}

// String is the same for the same notes.
func (n notes) String() string { return fmt.Sprintf("%q", map[string]string(n)) }

// now reads the notes of the drawn folder.
func (w proposing) now() notes {
	w.t.Helper()
	found := notes{}
	entries, err := os.ReadDir(filepath.Join(w.Vault, "Drawn"))
	require.NoError(w.t, err)
	for _, entry := range entries {
		found["Drawn/"+entry.Name()] = w.Read("Drawn/" + entry.Name())
	}
	return found
}

// Of drawn proposals exactly what was taken is made, whole or not at all, whatever happens between: by a rule that knows
// nothing of the program.
func TestOfDrawnProposalsWhatIsTakenIsMade(t *testing.T) {
	t.Parallel()
	const worlds = 4
	rounds := testenv.Count(80, 1200) / worlds
	kept, made, refused := make([]int, worlds), make([]int, worlds), make([]int, worlds)
	var running sync.WaitGroup
	for n := range worlds {
		running.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 54))
			w := newProposing(t, func(c *gateway.Config) { c.Policy.Confirm = policy.ConfirmDestructive })
			for _, name := range []string{"a", "b", "c"} {
				w.Write("Drawn/"+name+".md", name+"\n")
			}
			for round := range rounds {
				did := w.round(random, fmt.Sprintf("proposing %d, round %d", n, round))
				kept[n] += did[0]
				made[n] += did[1]
				refused[n] += did[2]
			}
		})
	}
	running.Wait()
	sum := func(list []int) (all int) {
		for _, one := range list {
			all += one
		}
		return all
	}
	t.Logf("%d proposals kept, %d decisions made, %d refused", sum(kept), sum(made), sum(refused))
	assert.That(t, sum(made) > 0, "nothing is made")
	assert.That(t, sum(refused) > 0, "nothing is refused")
}

// draw draws operations on some notes, most of which can be done one after the other.
func (n notes) draw(random *rand.Rand, what string) (operations []drawnOperation) {
	names := []string{"Drawn/a.md", "Drawn/b.md", "Drawn/c.md", "Drawn/d.md", "Drawn/e.md"}
	most := 1 + random.IntN(5)
	for i := 0; len(operations) < most; i++ {
		o := drawnOperation{
			kind: []string{"create", "append", "append", "move", "delete"}[random.IntN(5)],
			path: names[random.IntN(len(names))], text: fmt.Sprintf("%s %d", what, i),
		}
		if o.kind == "move" {
			o.to = names[random.IntN(len(names))]
		}
		if o.path == o.to {
			continue // it does nothing
		}
		after, possible := n.does([]drawnOperation{o})
		if !possible && random.IntN(100) > 0 {
			continue
		}
		operations = append(operations, o)
		if possible {
			n = after
		}
	}
	return operations
}

// round draws one proposal and what is done with it. It returns how many were kept, made and refused.
func (w proposing) round(random *rand.Rand, what string) (did [3]int) {
	before := w.now()
	operations := before.draw(random, what)
	var sent []gateway.Operation
	for i, o := range operations {
		sent = append(sent, o.of(i))
	}
	after, possible := before.does(operations)
	answer := w.propose("", sent...)
	assert.Equal(w.t, w.now().String(), before.String(), "%s: proposing changes nothing", what)
	if harness.CodeOfError(answer.Error) == "unconfirmed" {
		return did // the same was declined a moment ago
	}
	isKept := possible && !maps.Equal(after, before)
	assert.Equal(w.t, answer.OK, isKept, "%s: %+v: %+v", what, operations, answer.Error)
	if !answer.OK {
		return did
	}
	did[0] = 1
	p := w.find(answer.Proposal.ID)
	defer func() { // of an agent with other credentials the owner declines it
		w.Gateway.Do(w.t.Context(), gateway.Request{Command: "approvals", Words: []string{"withdraw=" + p.ID}, Caller: "me"})
		_, _ = w.store().Decline(p.ID, "test", "")
	}()
	var picked []int
	for i := range operations {
		if random.IntN(2) == 0 {
			picked = append(picked, i)
		}
	}
	if len(picked) == 0 {
		picked = []int{random.IntN(len(operations))}
	}
	chosen := closed(operations, picked)
	var taken []drawnOperation
	touched := map[string]bool{}
	for _, i := range chosen {
		taken = append(taken, operations[i])
		for _, path := range operations[i].touches() {
			touched[path] = true
		}
	}
	between := []string{"nothing", "nothing", "a change before", "a change between", "another change", "paused",
		"revoked", "narrowed", "planned again", "two owners", "declined", "two processes"}[random.IntN(12)]
	what += ", " + between
	byHand := func(path string) { w.Write(path, before[path]+"by hand in "+what+"\n") }
	first := slices.Sorted(maps.Keys(touched))[0]
	if between == "a change before" {
		byHand(first)
		before = w.now()
	}
	expected, possible := before.does(taken)
	shown, err := w.owner.Gateway.DraftProposal(w.t.Context(), p, picked, "terminal")
	isDrawn := possible && !maps.Equal(expected, before)
	assert.Equal(w.t, err == nil, isDrawn, "%s: %+v of %+v: %v", what, chosen, operations, err)
	if err != nil {
		assert.Equal(w.t, w.now().String(), before.String(), "%s: nothing is made", what)
		return [3]int{1, 0, 1}
	}
	assert.EqualSlices(w.t, shown.Chosen, chosen, "%s: %+v", what, operations)
	want := ""
	take := func(o *harness.InProcess) gateway.BatchResult {
		return o.Gateway.TakeProposal(w.t.Context(), shown, gateway.ProposalAnswer{By: "terminal", Typed: shown.Typed})
	}
	owner := w.owner
	switch between {
	case "a change between":
		byHand(first)
		before = w.now()
		want = "conflict"
	case "another change":
		w.Write("Other.md", what)
	case "paused":
		require.NoError(w.t, admission.Pause(w.state, "cursor", time.Now()))
		want = "paused"
	case "revoked":
		require.NoError(w.t, admission.RevokeAgent(w.state, "cursor", time.Now()))
		want = "agent_denied"
	case "narrowed":
		owner = w.owner.Again(func(c *gateway.Config) {
			c.Policy.Access = require.Value(access.New(map[string]access.Level{"/": access.Delete, "Drawn": access.Read}))(w.t)
		})
		want = "access_denied"
	case "planned again":
		require.That(w.t, w.propose(p.ID, sent...).OK, "%s", what)
		want = "conflict"
	case "declined":
		_, err := w.store().Decline(p.ID, "page", "no")
		require.NoError(w.t, err)
		want = "conflict"
	}
	var results []gateway.BatchResult
	if strings.HasPrefix(between, "two") {
		other := w.owner
		if between == "two processes" {
			other = w.owner.Again(func(c *gateway.Config) { c.Session = "another" })
		}
		results = make([]gateway.BatchResult, 2)
		var both sync.WaitGroup
		both.Go(func() { results[0] = take(owner) })
		both.Go(func() { results[1] = take(other) })
		both.Wait()
	} else {
		results = append(results, take(owner))
	}
	oks := 0
	for _, result := range results {
		if result.OK {
			oks++
		}
	}
	if want == "" {
		assert.Equal(w.t, oks, 1, "%s: %+v: %+v", what, taken, results)
		assert.Equal(w.t, w.now().String(), expected.String(), "%s: %+v of %+v", what, taken, operations)
		assert.Equal(w.t, w.find(p.ID).State, consent.ProposalTaken, "%s", what)
		return [3]int{1, 1, 0}
	}
	assert.Equal(w.t, oks, 0, "%s: %+v", what, results)
	code := harness.CodeOfError(results[0].Error)
	isOfNotes := want == "conflict" && (code == "already_exists" || code == "not_found") // planned anew it cannot be done
	if !isOfNotes {
		assert.Equal(w.t, code, want, "%s: %+v", what, results[0].Error)
	}
	assert.Equal(w.t, w.now().String(), before.String(), "%s: nothing is made", what)
	if between == "paused" {
		_, err := admission.Resume(w.state, "cursor")
		require.NoError(w.t, err)
	}
	if between == "revoked" {
		require.NoError(w.t, admission.RenewAgent(w.state, "cursor"))
		_, err := w.owner.Gateway.DraftProposal(w.t.Context(), p, picked, "terminal")
		assert.Equal(w.t, codeOf(err), "agent_denied", "%s: after new credentials", what)
	}
	return [3]int{1, 0, 1}
}
