package gateway

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// defaultUndoLimit is how many changes undo:list lists without the parameter limit.
const defaultUndoLimit = 20

// undoList answers undo:list: the caller's undoable changes, one per line with id, local time, command, note, and its
// batch, if any.
func (g *vaultGateway) undoList(ctx context.Context, plan Plan) (ownAnswer, error) {
	folder := g.target().Folder
	if folder == "" {
		return ownAnswer{}, errNoFolder
	}
	undoJournal, err := g.journal(folder)
	if err != nil {
		return ownAnswer{}, err
	}
	remaining := defaultUndoLimit
	if text, ok := plan.call.Param("limit"); ok {
		remaining, _ = strconv.Atoi(text) // validated when the call was parsed
	}
	var b strings.Builder
	sight := g.rules.Sight()
	filter := journal.Filter{Caller: argument(plan.caller)}
	if agent := ownerfiles.AgentOf(filter.Caller); agent != "" { // across its sessions
		filter = journal.Filter{Agent: agent}
	}
	err = undoJournal.EachUndoable(ctx, filter, func(e journal.Entry) bool {
		if e.SeenBy(sight.Sees) {
			b.WriteString(undoLine(e))
			remaining--
		}
		return remaining > 0
	})
	if err != nil {
		return ownAnswer{}, failure.New(
			failure.CodeState,
			`the user can see more with "vaultwicket doctor"`,
			"the journal cannot be read: %s",
			excerpt.Reason(err),
		)
	}
	answer := ownAnswer{text: b.String(), remark: sight.Remark(), unread: sight.Unread()}
	switch {
	case answer.text != "":
	case answer.unread > 0:
		answer.text = "No change of yours in the notes that can be read can be undone.\n"
	default:
		answer.text = "No change of yours can be undone.\n"
	}
	return answer, nil
}

// undoLine describes an undoable change in one line, with its line break.
func undoLine(e journal.Entry) string {
	line := fmt.Sprintf("%s\t%s\t%s", e.ID, e.Time.Local().Format(time.DateTime), sanitize.Line(e.Command))
	if len(e.Steps) > 0 {
		line += "\t" + sanitize.Line(e.Steps[0].Path)
	}
	if more := len(e.Steps) - 1; more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	if e.Batch != "" {
		line += "\tbatch " + sanitize.Line(e.Batch)
	}
	return line + "\n"
}

// Undoable calls visit for each undoable, visible change of the default vault that matches the filter, newest first,
// until visit returns false. sight tells what was left out because it cannot be read.
func (g *Gateway) Undoable(
	ctx context.Context, filter journal.Filter, visit func(journal.Entry) bool,
) (sight *Sight, err error) {
	sight = g.Sight("")
	undoJournal, err := g.Journal("")
	if err != nil {
		return sight, err
	}
	return sight, undoJournal.EachUndoable(
		ctx,
		filter,
		func(e journal.Entry) bool { return !e.SeenBy(sight.Sees) || visit(e) },
	)
}

// keptJournal is the open journal of a vault, with the folders that it was opened for. It is reused, so that the
// next call need not read it again.
type keptJournal struct {
	*journal.Journal
	state, folder string
}

// journal returns the journal of the vault. The path is absolute, because the gateway and the embedded program must
// open the journal under the same path.
func (g *vaultGateway) journal(folder string) (*journal.Journal, error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	state := ownerfiles.StateFolder(g.getenv, abs)
	if state == "" {
		return nil, failure.New(
			failure.CodeState,
			"the user can set XDG_STATE_HOME to a folder outside of the vault",
			"no folder for the journal outside the vault",
		)
	}
	if cached := g.kept.Load(); cached != nil && cached.state == state && cached.folder == abs {
		return cached.Journal, nil
	}
	cached := &keptJournal{journal.OpenAs(filepath.Join(state, "journal"), g.folderIdentity(), abs), state, abs}
	g.kept.Store(cached)
	return cached.Journal, nil
}

// Journal returns the journal of a vault, "" for the default one. The error is a
// [*failure.RequestError] if its folder is not known.
func (g *Gateway) Journal(vault string) (*journal.Journal, error) {
	d, err := g.vaultNamed(vault)
	if err != nil {
		return nil, err
	}
	folder := d.target().Folder
	if folder == "" {
		return nil, failure.New(
			failure.CodeVaultNotFound,
			"the user can set vault to the folder of the vault",
			"no vault folder given",
		)
	}
	return d.journal(folder)
}

// answerApprovals answers the command approvals. It lists the caller's calls that wait for approval, one per line
// with id, command, vault and expiry, and then its grants and proposals. The id is not the code with which the user
// approves. The parameter withdraw withdraws the named calls instead. For the parameter wait see
// [vaultGateway.awaitDecisions].
func (g *vaultGateway) answerApprovals(plan Plan, req Request) (string, error) {
	list, err := g.consent.Waiting(g.callerOf(req))
	if err != nil {
		return "", failure.New(
			failure.CodeState,
			`the user can see more with "vaultwicket doctor"`,
			"the questions to the user cannot be read: %s",
			excerpt.Reason(err),
		)
	}
	if wanted, ok := plan.call.Param("withdraw"); ok {
		return g.withdraw(req, list, wanted)
	}
	var b strings.Builder
	for _, q := range list {
		fmt.Fprintf(&b, "%s\t%s\t%s\tuntil %s\n", q.ID(), q.Command, q.Vault, q.Expires.Local().Format(time.TimeOnly))
	}
	grants, err := g.describeGrants(req)
	if err != nil {
		return "", err
	}
	proposals, err := g.describeProposals(req)
	if err != nil {
		return "", err
	}
	return cmp.Or(b.String(), noCallWaits) + grants + proposals, nil
}

// noCallWaits is the answer if no call of the sender waits for approval.
const noCallWaits = "No call of yours waits for approval.\n"

// withdraw withdraws the waiting calls and proposals with the id wanted, or all of them if it is "all". It
// returns one line for each.
func (g *vaultGateway) withdraw(req Request, waiting []consent.StoredQuestion, wanted string) (string, error) {
	var b strings.Builder
	for _, q := range waiting {
		id := q.ID()
		if wanted != id && wanted != "all" {
			continue
		}
		if err := g.consent.Withdraw(q); err != nil {
			return "", failure.New(
				failure.CodeNotFound,
				"list them again",
				"the call %s cannot be withdrawn: %v",
				id,
				err,
			)
		}
		fmt.Fprintf(&b, "Withdrawn: %s\t%s\t%s\n", id, q.Command, q.Vault)
	}
	proposals, err := g.withdrawProposal(req, wanted)
	if err != nil {
		return "", err
	}
	b.WriteString(proposals)
	if wanted != "all" && b.Len() == 0 {
		return "", failure.New(
			failure.CodeNotFound,
			"call approvals without withdraw: it lists their ids",
			"no call of yours with the id %q waits for approval",
			excerpt.Short(wanted),
		)
	}
	return cmp.Or(b.String(), noCallWaits), nil
}

// awaitDecisions waits for decisions of the user if the call asks for that. It then sets the answer of the plan: the
// decisions, one per line, followed by the calls that still wait. Other plans are returned unchanged.
func (g *vaultGateway) awaitDecisions(ctx context.Context, req Request, plan Plan) (Plan, error) {
	text, waits := plan.call.Param("wait")
	if !waits || plan.call.OwnAnswer() != allowlist.AnswersApprovals {
		return plan, nil
	}
	started := time.Now()
	seconds, _ := strconv.Atoi(text) // validated when the call was parsed
	ctx, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	decided, err := g.consent.Decided(ctx, g.callerOf(req))
	if err != nil {
		return plan, failure.New(
			failure.CodeState,
			`the user can see more with "vaultwicket doctor"`,
			"the questions to the user cannot be read: %s",
			excerpt.Reason(err),
		)
	}
	waiting, err := g.answerApprovals(plan, req)
	if err != nil {
		return plan, err
	}
	var b strings.Builder
	for _, q := range decided {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", q.ID(), q.Command, q.Vault, q.State)
	}
	plan.answer = b.String() + waiting
	plan.asking += time.Since(started)
	return plan, nil
}

// ownAnswer is an answer of the gateway itself. remark says what it is without because unread notes could not be read.
type ownAnswer struct {
	text, remark string
	unread       int
}

// ownAnswerTo answers a call that the gateway handles itself.
func (g *vaultGateway) ownAnswerTo(ctx context.Context, plan Plan, req Request) (ownAnswer, error) {
	switch plan.call.OwnAnswer() {
	case allowlist.AnswersUndoList:
		return g.undoList(ctx, plan)
	case allowlist.AnswersApprovals:
		text, err := g.answerApprovals(plan, req)
		return ownAnswer{text: text}, err
	}
	text, err := g.commandHelp(plan, req)
	return ownAnswer{text: text}, err
}

// commandHelp answers commands: the signatures of the enabled ones, or how to call one.
func (g *vaultGateway) commandHelp(plan Plan, req Request) (string, error) {
	name, ok := plan.call.Param("command")
	vault := CatalogVault{Policy: plan.policy, Facts: plan.facts, Programs: g.programs()}
	switch {
	case !ok && req.AtTerminal:
		return CommandSignatures(vault), nil
	case !ok:
		return CommandOverview(vault), nil
	}
	listing, err := ExplainCommand([]CatalogVault{vault}, name)
	if err != nil {
		return "", err
	}
	if req.AtTerminal {
		return listing.Explained().TextAtTerminal(req.CallPrefix), nil
	}
	return listing.Explained().Text(), nil
}
