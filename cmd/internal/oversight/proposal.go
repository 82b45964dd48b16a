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

// choice is what the owner takes of a proposal, as they type it.
type choice struct {
	only, without []string // names of operations
	says          string
}

// add adds the flags of "approve" that are about proposals.
func (c *choice) add(f *settings.Flags) {
	f.WithoutJSON()
	f.StringSliceVar(&c.only, "only", nil, "of a proposal: take these operations, by their names, with what they need")
	f.StringSliceVar(&c.without, "without", nil, "of a proposal: take all but these operations and those that need them")
	f.StringVar(&c.says, "say", "", "of a proposal: a sentence for the agent")
}

func (c *choice) isGiven() bool { return len(c.only)+len(c.without) > 0 || c.says != "" }

// of returns the places of the operations that are taken.
func (c *choice) of(p consent.Proposal) ([]int, error) {
	placesOf := func(names []string) (places []int, err error) {
		for _, name := range names {
			i := slices.IndexFunc(p.Operations, func(o consent.ProposalOperation) bool { return o.ClientID == name })
			if i < 0 {
				return nil, &terminal.UsageError{
					Reason: fmt.Sprintf("the proposal has no operation %q", excerpt.Short(name)),
					Advice: fmt.Sprintf(`"vaultwicket approvals" lists the operations of %s`, p.Code),
				}
			}
			places = append(places, i)
		}
		return places, nil
	}
	only, err := placesOf(c.only)
	if err != nil {
		return nil, err
	}
	without, err := placesOf(c.without)
	switch {
	case err != nil:
		return nil, err
	case len(only) > 0 && len(without) > 0:
		return nil, &terminal.UsageError{Reason: "--only and --without cannot be combined"}
	case len(only) > 0:
		chosen, _ := p.With(only)
		return chosen, nil
	}
	chosen, _ := p.Without(without)
	if len(chosen) == 0 {
		return nil, &terminal.UsageError{Reason: "nothing is left to take", Advice: "decline it with: vaultwicket deny " + p.Code}
	}
	return chosen, nil
}

// proposalWith returns the proposal with a code, or an id, if there is one.
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

// takeProposal shows what the user would take of a proposal, asks at the terminal that the process belongs to, and carries
// it out, under the rights that its agent has by the settings.
func takeProposal(
	ctx context.Context,
	std terminal.Streams,
	args []string,
	console io.ReadWriter,
	p consent.Proposal,
) error {
	var c choice
	f := settings.NewFlags("approve")
	c.add(f)
	if err := f.Parse(args); err != nil {
		return err
	}
	chosen, err := c.of(p)
	if err != nil {
		return err
	}
	for _, missing := range [][2]string{{"vault", p.Folder}, {"agent", p.Agent()}} {
		if !f.Lookup(missing[0]).Changed && missing[1] != "" {
			args = append(slices.Clone(args), "--"+missing[0]+"="+missing[1])
		}
	}
	o, err := bootstrap.Open("approve", std, args, func(f *settings.Flags) {
		(&choice{}).add(f)
		f.Resident = true
	})
	if err != nil {
		return err
	}
	defer o.Runner.Close()
	g := o.Gateway
	defer g.Flush()
	if p.State == consent.ProposalMaking {
		g.RecoverProposals([]consent.Proposal{p})
		state, err := settings.StateFolder(std)
		if err != nil {
			return err
		}
		if p, _, err = proposalWith(state, p.ID); err != nil {
			return err
		}
	}
	if p.State != consent.ProposalOpen {
		return proposalDecided(p)
	}
	shown, err := g.DraftProposal(ctx, p, chosen, bootstrap.AtTerminal)
	if err != nil {
		return terminal.FailureOf(failure.Of(err))
	}
	left := len(p.Operations) - len(shown.Chosen)
	question := "Do this?"
	if left > 0 {
		question = fmt.Sprintf("Do this, and decline %s?", sanitize.Counted(left, "other operation"))
	}
	rows := append(changedRows(shown.Changed), rowsFor(shown.Lines, console)...)
	how := gateway.ProposalAnswer{By: bootstrap.AtTerminal, Says: c.says}
	allowed := terminal.Pages(ctx, console, console, rows)
	switch {
	case !allowed:
	case shown.Typed != "":
		fmt.Fprintf(console, "This is much. Type %q to allow it: ", shown.Typed)
		how.Typed, allowed = terminal.Ask(ctx, console, console)
	default:
		allowed = terminal.Confirm(ctx, console, console, question)
	}
	if !allowed {
		return terminal.FailureOf(&failure.Error{
			Code: "unconfirmed", Message: fmt.Sprintf("the proposal %s still waits", p.Code),
			Hint: fmt.Sprintf(`"vaultwicket deny %s" declines it`, p.Code),
		})
	}
	result := g.TakeProposal(ctx, shown, how)
	if cause := result.WhyNotMade(); cause != nil {
		return terminal.FailureOf(cause)
	}
	for _, notice := range result.Notices {
		terminal.Notef(std.Err, "%s", terminal.Visible(notice))
	}
	fmt.Fprintf(std.Out, "made %d of %s of %s", len(shown.Chosen), sanitize.Counted(len(p.Operations), "operation"), p.ID)
	if id := firstChange(result); id != "" {
		fmt.Fprintf(std.Out, "; undo with: vaultwicket undo --batch %s", id)
	}
	fmt.Fprintln(std.Out)
	return nil
}

// firstChange returns the id of the first change of a batch, "" if it has none.
func firstChange(result gateway.BatchResult) string {
	for _, one := range result.Results {
		if one.Result != nil && one.Result.Change != nil {
			return one.Result.Change.ID
		}
	}
	return ""
}

// changedRows say which files are not as they were when a proposal was made.
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

// waitingOperation is an operation of a proposal as "approvals --json" prints it.
type waitingOperation struct {
	Name  string   `json:"name"`
	Act   string   `json:"act"`
	Needs []string `json:"needs,omitempty"`
}

// waitingProposals returns the proposals that wait, as "approvals" lists them.
func waitingProposals(std terminal.Streams, state string, now time.Time) ([]waitingApproval, error) {
	all, damaged, err := consent.OpenProposals(state, nil).List()
	if err != nil {
		return nil, terminal.Fail(terminal.ExitNotReady, err.Error(), "it must be a folder that only you can access")
	}
	for _, bad := range damaged {
		terminal.Notef(std.Err, "%s; it is ignored", sanitize.Line(bad.Error()))
	}
	var list []waitingApproval
	for _, p := range all {
		if p.State != consent.ProposalOpen {
			continue
		}
		w := waitingOf(consent.StoredQuestion{
			Code: p.Code, Made: p.Made, Expires: p.Expires, Session: p.Caller, Client: p.Client, Vault: p.Vault, Command: "batch", Text: p.Text,
		}, now)
		w.Proposal = p.ID
		for _, o := range p.Operations {
			one := waitingOperation{Name: sanitize.Line(o.ClientID), Act: sanitize.Line(o.Act)}
			for _, need := range o.Needs {
				one.Needs = append(one.Needs, sanitize.Line(p.Operations[need].ClientID))
			}
			w.Operations = append(w.Operations, one)
		}
		list = append(list, w)
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
