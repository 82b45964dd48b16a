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
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// defaultUndoList is how many changes undo:list names.
const defaultUndoList = 20

// undoList returns the caller's undoable changes, one per line: id, local time, command, note, and the batch that it
// was a part of.
func (g *vaultGateway) undoList(ctx context.Context, plan Plan) (string, error) {
	folder := g.target().Folder
	if folder == "" {
		return "", errNoFolder
	}
	kept, err := g.journal(folder)
	if err != nil {
		return "", err
	}
	most := defaultUndoList
	if text, given := plan.call.Param("limit"); given {
		most, _ = strconv.Atoi(text) // it was parsed
	}
	var b strings.Builder
	sees := g.rules.Visible()
	of := journal.Filter{Caller: argument(plan.caller)}
	if agent := ownerfiles.AgentOf(of.Caller); agent != "" { // in whichever session
		of = journal.Filter{Agent: agent}
	}
	err = kept.EachUndoable(ctx, of, func(e journal.Entry) bool {
		if e.SeenBy(sees) {
			fmt.Fprintf(&b, "%s\t%s\t%s", e.ID, e.Time.Local().Format(time.DateTime), sanitize.Line(e.Command))
			if len(e.Steps) > 0 {
				b.WriteString("\t" + sanitize.Line(e.Steps[0].Path))
			}
			if more := len(e.Steps) - 1; more > 0 {
				fmt.Fprintf(&b, " and %d more", more)
			}
			if e.Batch != "" {
				b.WriteString("\tbatch " + sanitize.Line(e.Batch))
			}
			b.WriteByte('\n')
			most--
		}
		return most > 0
	})
	if err != nil {
		return "", failure.New(
			failure.CodeState,
			`the user can see more with "vaultwicket doctor"`,
			"the journal cannot be read: %s",
			excerpt.Reason(err),
		)
	}
	return cmp.Or(b.String(), "No change of yours can be undone.\n"), nil
}

// Undoable calls visit for each undoable, visible change of the default vault that matches the filter, newest first,
// until visit returns false.
func (g *Gateway) Undoable(ctx context.Context, of journal.Filter, visit func(journal.Entry) bool) error {
	kept, err := g.Journal("")
	if err != nil {
		return err
	}
	sees := g.Visible("")
	return kept.EachUndoable(
		ctx,
		of,
		func(e journal.Entry) bool { return !e.SeenBy(sees) || visit(e) },
	)
}

// keptJournal is the journal of a vault and where it is kept. It is reused, so that the next call need not read it
// again.
type keptJournal struct {
	*journal.Journal
	state, folder string
}

// journal returns the journal of the vault; both programs open it by the same path.
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
	if kept := g.kept.Load(); kept != nil && kept.state == state && kept.folder == abs {
		return kept.Journal, nil
	}
	kept := &keptJournal{journal.OpenAs(filepath.Join(state, "journal"), g.folderIdentity(), abs), state, abs}
	g.kept.Store(kept)
	return kept.Journal, nil
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

// waitingCalls returns the calls of the sender of a request with a pending approval, one a line: id, command,
// vault, and when they expire; and after them the grants that it has. The id is not the code with which the user approves. The
// parameter withdraw withdraws those that it names; wait is followed in [vaultGateway.awaited].
func (g *vaultGateway) waitingCalls(plan Plan, req Request) (string, error) {
	list, err := g.consent.Waiting(g.callerOf(req))
	if err != nil {
		return "", failure.New(
			failure.CodeState,
			`the user can see more with "vaultwicket doctor"`,
			"the questions to the user cannot be read: %s",
			excerpt.Reason(err),
		)
	}
	wanted, withdraws := plan.call.Param("withdraw")
	var b strings.Builder
	for _, q := range list {
		id := q.ID()
		switch {
		case !withdraws:
			fmt.Fprintf(&b, "%s\t%s\t%s\tuntil %s\n", id, q.Command, q.Vault, q.Expires.Local().Format(time.TimeOnly))
		case wanted == id || wanted == "all":
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
	}
	if withdraws {
		withdrawn, err := g.withdrawProposal(req, wanted)
		if err != nil {
			return "", err
		}
		b.WriteString(withdrawn)
	}
	if withdraws && wanted != "all" && b.Len() == 0 {
		return "", failure.New(
			failure.CodeNotFound,
			"call approvals without withdraw: it lists their ids",
			"no call of yours with the id %q waits for approval",
			excerpt.Short(wanted),
		)
	}
	held := ""
	if !withdraws {
		if held, err = g.grantsOf(req); err != nil {
			return "", err
		}
		proposed, err := g.proposalsOf(req)
		if err != nil {
			return "", err
		}
		held += proposed
	}
	return cmp.Or(b.String(), "No call of yours waits for approval.\n") + held, nil
}

// awaited returns the plan of a call that waits for the decisions of the user, with its answer: those that were made,
// one a line, and after them the calls that still wait. Another plan is returned as it is.
func (g *vaultGateway) awaited(ctx context.Context, req Request, plan Plan) (Plan, error) {
	text, waits := plan.call.Param("wait")
	if !waits || plan.call.OwnAnswer() != allowlist.AnswersApprovals {
		return plan, nil
	}
	begun := time.Now()
	seconds, _ := strconv.Atoi(text) // it was parsed
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
	waiting, err := g.waitingCalls(plan, req)
	if err != nil {
		return plan, err
	}
	var b strings.Builder
	for _, q := range decided {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", q.ID(), q.Command, q.Vault, q.State)
	}
	plan.answer = b.String() + waiting
	plan.asking += time.Since(begun)
	return plan, nil
}

// ownAnswerTo answers a call that the gateway handles itself.
func (g *vaultGateway) ownAnswerTo(ctx context.Context, plan Plan, req Request) (string, error) {
	switch plan.call.OwnAnswer() {
	case allowlist.AnswersUndoList:
		return g.undoList(ctx, plan)
	case allowlist.AnswersApprovals:
		return g.waitingCalls(plan, req)
	}
	name, ok := plan.call.Param("command")
	vault := CatalogVault{Policy: plan.policy, Facts: plan.facts, Programs: g.programs()}
	switch {
	case !ok && req.AtTerminal:
		return CommandSignatures(vault), nil
	case !ok:
		return CommandOverview(vault), nil
	}
	l, err := ExplainCommand([]CatalogVault{vault}, name)
	if err != nil {
		return "", err
	}
	if req.AtTerminal {
		return l.Explained().TextAtTerminal(req.CallPrefix), nil
	}
	return l.Explained().Text(), nil
}
