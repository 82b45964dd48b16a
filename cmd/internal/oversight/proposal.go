package oversight

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// choice is the part of a proposal that the owner accepts, as given by flags.
type choice struct {
	only, without []string // names of operations
	says          string   // a sentence for the agent
}

// add adds the flags of "approve" for proposals.
func (c *choice) add(f *settings.Flags) {
	f.WithoutJSON()
	f.StringSliceVar(&c.only, "only", nil, "of a proposal: take these operations, by their names, with what they need")
	f.StringSliceVar(&c.without, "without", nil, "of a proposal: take all but these operations and those that need them")
	f.StringVar(&c.says, "say", "", "of a proposal: a sentence for the agent")
}

func (c *choice) isGiven() bool { return len(c.only)+len(c.without) > 0 || c.says != "" }

// operations returns the indices of the operations that are accepted.
func (c *choice) operations(proposal consent.Proposal) ([]int, error) {
	indicesOf := func(names []string) (indices []int, err error) {
		for _, name := range names {
			i := slices.IndexFunc(proposal.Operations, func(o consent.ProposalOperation) bool { return o.ClientID == name })
			if i < 0 {
				return nil, &terminal.UsageError{
					Reason: fmt.Sprintf("the proposal has no operation %q", excerpt.Short(name)),
					Advice: fmt.Sprintf(`"vaultwicket approvals" lists the operations of %s`, proposal.Code),
				}
			}
			indices = append(indices, i)
		}
		return indices, nil
	}
	only, err := indicesOf(c.only)
	if err != nil {
		return nil, err
	}
	without, err := indicesOf(c.without)
	switch {
	case err != nil:
		return nil, err
	case len(only) > 0 && len(without) > 0:
		return nil, &terminal.UsageError{Reason: "--only and --without cannot be combined"}
	case len(only) > 0:
		chosen, _ := proposal.With(only)
		return chosen, nil
	}
	chosen, _ := proposal.Without(without)
	if len(chosen) == 0 {
		return nil, &terminal.UsageError{Reason: "nothing is left to take", Advice: "decline it with: vaultwicket deny " + proposal.Code}
	}
	return chosen, nil
}

// proposalWith returns the proposal with this code or id. found is false if there is none.
func proposalWith(state, typed string) (p consent.Proposal, found bool, err error) {
	list, _, err := consent.OpenProposals(state, nil).List()
	if err != nil {
		return p, false, terminal.Fail(terminal.ExitNotReady, err.Error(), "it must be a folder that only you can access")
	}
	i := slices.IndexFunc(list, func(p consent.Proposal) bool { return p.ID == typed || consent.SameCode(typed, p.Code) })
	if i < 0 {
		return p, false, nil
	}
	return list[i], true, nil
}

// takeProposal shows the accepted part of a proposal, asks the user at the terminal that the process belongs to, and
// carries it out with the rights that the settings give to its agent.
func takeProposal(
	ctx context.Context,
	std terminal.Streams,
	args []string,
	console io.ReadWriter,
	proposal consent.Proposal,
) error {
	var selected choice
	f := settings.NewFlags("approve")
	selected.add(f)
	if err := f.Parse(args); err != nil {
		return err
	}
	chosen, err := selected.operations(proposal)
	if err != nil {
		return err
	}
	for _, flag := range [][2]string{{"vault", proposal.Folder}, {"agent", proposal.Agent()}} {
		name := flag[0]
		value := flag[1]
		if !f.Lookup(name).Changed && value != "" {
			args = append(slices.Clone(args), "--"+name+"="+value)
		}
	}
	opened, err := bootstrap.Open("approve", std, args, func(f *settings.Flags) {
		(&choice{}).add(f)
		f.Resident = true
	})
	if err != nil {
		return err
	}
	defer opened.Runner.Close()
	g := opened.Gateway
	defer g.Flush()
	if proposal.State == consent.ProposalMaking {
		g.RecoverProposals([]consent.Proposal{proposal})
		state, err := settings.StateFolder(std)
		if err != nil {
			return err
		}
		proposal, _, err = proposalWith(state, proposal.ID)
		if err != nil {
			return err
		}
	}
	if proposal.State != consent.ProposalOpen {
		return proposalDecided(proposal)
	}
	draft, err := g.DraftProposal(ctx, proposal, chosen, bootstrap.AtTerminal)
	if err != nil {
		return terminal.FailureOf(failure.Of(err))
	}
	left := len(proposal.Operations) - len(draft.Chosen)
	question := "Do this?"
	if left > 0 {
		question = fmt.Sprintf("Do this, and decline %s?", sanitize.Counted(left, "other operation"))
	}
	rows := append(changedRows(draft.Changed), rowsFor(draft.Lines, console)...)
	typed, allowed := askAtConsole(ctx, console, rows, draft.Typed, question)
	if !allowed {
		return terminal.FailureOf(&failure.Error{
			Code:    "unconfirmed",
			Message: fmt.Sprintf("the proposal %s still waits", proposal.Code),
			Hint:    fmt.Sprintf(`"vaultwicket deny %s" declines it`, proposal.Code),
		})
	}
	answer := gateway.ProposalAnswer{By: bootstrap.AtTerminal, Says: selected.says, Typed: typed}
	result := g.TakeProposal(ctx, draft, answer)
	if cause := result.WhyNotMade(); cause != nil {
		return terminal.FailureOf(cause)
	}
	for _, notice := range result.Notices {
		terminal.Notef(std.Err, "%s", terminal.Visible(notice))
	}
	fmt.Fprintf(std.Out, "made %d of %s of %s", len(draft.Chosen), sanitize.Counted(len(proposal.Operations), "operation"), proposal.ID)
	if id := firstChange(result); id != "" {
		fmt.Fprintf(std.Out, "; undo with: vaultwicket undo --batch %s", id)
	}
	fmt.Fprintln(std.Out)
	return nil
}

// askAtConsole shows rows and asks whether to allow what they describe. If word is not "", the user must type something,
// which the caller compares with word; otherwise question is asked.
func askAtConsole(
	ctx context.Context,
	console io.ReadWriter,
	rows []string,
	word, question string,
) (typed string, allowed bool) {
	if !terminal.Pages(ctx, console, console, rows) {
		return "", false
	}
	if word == "" {
		return "", terminal.Confirm(ctx, console, console, question)
	}
	fmt.Fprintf(console, "This is much. Type %q to allow it: ", word)
	return terminal.Ask(ctx, console, console)
}

// firstChange returns the id of the first change of a batch, "" if it has none.
func firstChange(result gateway.BatchResult) string {
	for _, step := range result.Results {
		if step.Result != nil && step.Result.Change != nil {
			return step.Result.Change.ID
		}
	}
	return ""
}

// changedRows returns rows that name the files that have changed since a proposal was made.
func changedRows(changed []string) (rows []string) {
	if len(changed) == 0 {
		return nil
	}
	rows = []string{"Changed since it was proposed; what is shown is on the files as they are:"}
	for _, path := range changed {
		rows = append(rows, "  "+sanitize.Line(path))
	}
	return append(rows, "")
}

// proposalDecided returns the error for a proposal that does not wait any more.
func proposalDecided(p consent.Proposal) error {
	return terminal.FailureOf(&failure.Error{
		Code: "not_found", Message: fmt.Sprintf("the proposal %s does not wait: %s", p.Code, p.State),
		Hint: `"vaultwicket approvals" lists what waits`,
	})
}

// declineProposal shows a proposal and declines all of it.
func declineProposal(std terminal.Streams, state string, p consent.Proposal, says string) error {
	store := consent.OpenProposals(state, nil)
	lines, err := gateway.ProposalLines(store, p)
	if err != nil {
		terminal.Notef(std.Err, "%s", sanitize.Line(err.Error()))
	}
	for _, row := range rowsFor(lines, std.Err) {
		fmt.Fprintln(std.Err, row)
	}
	declined, err := store.Decline(p.ID, bootstrap.AtTerminal, says)
	if _, answered := errors.AsType[*consent.AnsweredProposal](err); answered {
		return proposalDecided(p)
	}
	if err != nil {
		return terminal.Fail(terminal.ExitNotReady, err.Error(), "it must be a folder that only you can access")
	}
	consent.LogProposal(state, declined, "deny", bootstrap.AtTerminal, bootstrap.Session())
	fmt.Fprintf(std.Out, "declined %s: %s in %s\n", p.Code, sanitize.Counted(len(p.Operations), "operation"), sanitize.Line(p.Vault))
	return nil
}

// waitingOperation is an operation of a pending proposal as "approvals --json" prints it.
type waitingOperation struct {
	Name  string   `json:"name"`
	Act   string   `json:"act"`
	Needs []string `json:"needs,omitempty"`
}

// waitingProposals returns the pending proposals in the form in which "approvals" lists them.
func waitingProposals(std terminal.Streams, state string, now time.Time) ([]waitingApproval, error) {
	proposals, damaged, err := consent.OpenProposals(state, nil).List()
	if err != nil {
		return nil, terminal.Fail(terminal.ExitNotReady, err.Error(), "it must be a folder that only you can access")
	}
	for _, damage := range damaged {
		terminal.Notef(std.Err, "%s; it is ignored", sanitize.Line(damage.Error()))
	}
	var list []waitingApproval
	for _, p := range proposals {
		if p.State != consent.ProposalOpen {
			continue
		}
		approval := waitingOf(consent.StoredQuestion{
			Code: p.Code, Made: p.Made, Expires: p.Expires, Session: p.Caller, Client: p.Client, Vault: p.Vault, Command: "batch", Text: p.Text,
		}, now)
		approval.Proposal = p.ID
		for _, o := range p.Operations {
			operation := waitingOperation{Name: sanitize.Line(o.ClientID), Act: sanitize.Line(o.Act)}
			for _, need := range o.Needs {
				operation.Needs = append(operation.Needs, sanitize.Line(p.Operations[need].ClientID))
			}
			approval.Operations = append(approval.Operations, operation)
		}
		list = append(list, approval)
	}
	return list, nil
}

// printOperations prints the operations of a proposal below it.
func printOperations(out io.Writer, operations []waitingOperation) {
	for _, o := range operations {
		needs := ""
		if len(o.Needs) > 0 {
			needs = ", needs " + strings.Join(o.Needs, ", ")
		}
		fmt.Fprintf(out, "    %s  [%s%s]\n", o.Act, o.Name, needs)
	}
}
