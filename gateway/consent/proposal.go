package consent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/difference"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// ProposedOperation is an operation of a proposal as the owner is shown it.
type ProposedOperation struct {
	Name  string   // that the agent has given it
	Needs []string // names of those before it that it needs
	// Asked is the question about the operation, nil for one that only reads: then Command and Path say what.
	Asked         *Question
	Command, Path string
}

// Act returns what the operation does, in one row.
func (o ProposedOperation) Act() string {
	if o.Asked != nil && len(o.Asked.Lines) > 0 {
		return o.Asked.Lines[0].Text
	}
	if o.Path == "" {
		return "Read with " + o.Command
	}
	return fmt.Sprintf("Read %s with %s", quotedIn(o.Path, maxInHeading), o.Command)
}

// Propose fills in what the owner is shown of a proposal: what it does as a whole, who proposes it, each operation with
// those that it needs, and every line that all of them together remove and add, by file. changes are those of q.Files.
// With isPermanent something is deleted for good.
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

// describe adds the lines about one operation: what it does, its name, what it needs, and what it requires approval for.
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
	if facts := o.Asked.Lines[:o.Asked.heading]; len(facts) > 2 { // after what it does, and who asks
		q.Lines = append(q.Lines, slices.Clone(facts[2:])...)
	}
}

func proposedBy(caller, client string) string {
	return "Proposed" + strings.TrimPrefix(askedBy(caller, client), "Asked")
}

// IsMuch returns the words that the user types to approve what the question shows, "" if they need not.
func (q *Question) IsMuch() string { return q.typed() }

// Announce tells the owner that something waits for them which no call waits for.
func (a *Approvals) Announce(by Requester, q Question) {
	if a.tell != nil {
		a.tell(strings.Replace(q.told(by), " asks to ", " proposes to ", 1), "")
	}
}
