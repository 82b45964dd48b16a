package consent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// ProposedOperation is an operation of a proposal as shown to the owner.
type ProposedOperation struct {
	Name  string   // given by the agent
	Needs []string // names of the earlier operations that it needs
	// Asked is the question about the operation. It is nil for one that only reads, which Command and Path describe.
	Asked         *Question
	Command, Path string
}

// Act describes what the operation does, in one row.
func (o ProposedOperation) Act() string {
	if o.Asked != nil && len(o.Asked.Lines) > 0 {
		return o.Asked.Lines[0].Text
	}
	if o.Path == "" {
		return "Read with " + o.Command
	}
	return fmt.Sprintf("Read %s with %s", quotedIn(o.Path, maxInHeading), o.Command)
}

// Propose sets the lines that describe a proposal to the owner: what it does as a whole, who proposes it, each operation
// with those that it needs, and every line that all operations together remove and add, by file. changes are those of
// q.Files. isPermanent is set if something is deleted for good.
func (q *Question) Propose(operations []ProposedOperation, changes []difference.Change, isPermanent bool) {
	q.Does = Does("batch", q.Files, q.Rest)
	heading := fmt.Sprintf("%s (vault %s)%s", capital(q.Does), quotedIn(cmp.Or(q.Vault, "of the app"), maxInHeading), countsOf(changes, q.Rest))
	q.Lines = []Line{{Kind: Act, Text: heading}}
	q.say("A proposal of %s. %s", sanitize.Counted(len(operations), "operation"), proposedBy(q.Requester, q.Client))
	q.heading = len(q.Lines)
	q.why = "would " + q.Does
	reason := ""
	for i, o := range operations {
		q.describe(i+1, o)
		if o.Asked != nil {
			reason = cmp.Or(reason, o.Asked.Unshown)
		}
	}
	q.Lines = append(q.Lines, Line{Kind: Act, Text: "All of it, by file:"})
	shown, unshown := filesOf(q.Files, changes, q.Rest, isPermanent)
	q.Lines = append(q.Lines, shown...)
	q.finish(cmp.Or(reason, unshown))
}

// describe adds the lines about one operation: what it does, its name, what it needs, and why it requires approval.
func (q *Question) describe(number int, o ProposedOperation) {
	q.Lines = append(q.Lines, Line{Kind: Act, Text: fmt.Sprintf("%d. %s", number, o.Act())})
	name := "Its name is " + quotedIn(o.Name, maxShort) + "."
	if len(o.Needs) > 0 {
		needs := make([]string, len(o.Needs))
		for n, need := range o.Needs {
			needs[n] = quotedIn(need, maxShort)
		}
		name += " It needs " + strings.Join(needs, ", ") + "."
	}
	q.say("%s", name)
	if o.Asked == nil {
		return
	}
	if facts := o.Asked.Lines[:o.Asked.heading]; len(facts) > 2 { // the first two are what it does and who asks
		q.Lines = append(q.Lines, slices.Clone(facts[2:])...)
	}
}

func proposedBy(caller, client string) string {
	return "Proposed" + strings.TrimPrefix(askedBy(caller, client), "Asked")
}

// IsMuch returns the words that the user must type to approve a very large question, or "".
func (q *Question) IsMuch() string { return q.typed() }

// Announce tells the owner that a proposal waits for them.
func (a *Approvals) Announce(requester Requester, q Question) {
	if a.tell != nil {
		a.tell(strings.Replace(q.messageFor(requester), " asks to ", " proposes to ", 1), "")
	}
}
