package oversight

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

type undoFlags struct {
	batch   string
	session string
	grant   string
	screen  terminal.ScreenOptions // of undo list
}

// ofLatest is the value of --session without one.
const ofLatest = "latest"

// Undo is "vaultwicket undo": the command undo through the gateway, which carryOut carries out as typed for run.
//
// Without an id it undoes the latest change of the vault by any author. A change of another caller is
// named to the gateway, which requires approval if the undo removes or replaces something.
func Undo(
	ctx context.Context,
	std terminal.Streams,
	args []string,
	carryOut func(context.Context, bootstrap.Opened, gateway.Request) error,
) error {
	var u undoFlags
	o, err := bootstrap.Open("undo", std, args, func(f *settings.Flags) {
		f.Reviews = true
		f.StringVar(&u.batch, "batch", "", "take back the whole batch that the change with this id belongs to")
		f.StringVar(
			&u.session,
			"session",
			"",
			"take back all changes of the session of the change with this id (default: of the latest change)",
		)
		f.StringVar(&u.grant, "grant", "", "take back all changes that the grant with this id allowed")
		f.Lookup("session").NoOptDefVal = ofLatest
		u.screen.Flags(f.FlagSet)
	})
	if err != nil {
		return err
	}
	noteState(std)
	if u.session == ofLatest && len(o.Rest) == 1 {
		u.session = o.Rest[0]
		o.Rest = nil
	}
	id := ""
	switch {
	case len(o.Rest) == 1 && o.Rest[0] == "list":
		// "vaultwicket undo list": the changes that can be taken back, of every caller.
		s := terminal.NewScreen(std, u.screen, time.Now())
		changes := []keptChange{}
		err := o.Gateway.Undoable(ctx, journal.Filter{Agent: o.Reviewed}, func(e journal.Entry) bool {
			changes = append(changes, keptChangeOf(e))
			return len(changes) < maxListed
		})
		if err != nil {
			return terminal.FailureOf(failure.Of(err))
		}
		return printChanges(o, s, changes)
	case len(o.Rest) > 1:
		return &terminal.UsageError{
			Reason: fmt.Sprintf("undo: unexpected argument %q", excerpt.Short(o.Rest[1])),
			Advice: `"vaultwicket journal list" shows the ids`,
		}
	case len(o.Rest) == 1:
		id = o.Rest[0]
	}
	if u.grant != "" {
		words, err := toUndoGrant(ctx, o, u, id)
		if err != nil {
			return err
		}
		return carryOut(ctx, o, gateway.Request{Command: "undo", Words: words})
	}
	words, cause := toUndo(ctx, o, u, id)
	if cause != nil {
		return terminal.FailureOf(cause)
	}
	return carryOut(ctx, o, gateway.Request{Command: "undo", Words: words})
}

// toUndoGrant returns the words that take back all changes that a grant allowed.
func toUndoGrant(ctx context.Context, o bootstrap.Opened, u undoFlags, id string) ([]string, error) {
	if id != "" || u.batch != "" || u.session != "" {
		return nil, &terminal.UsageError{Reason: "undo: --grant cannot be combined with an id, --batch or --session"}
	}
	var ids []string
	err := o.Gateway.Undoable(ctx, journal.Filter{Grant: u.grant}, func(e journal.Entry) bool {
		ids = append(ids, e.ID)
		return len(ids) < consent.MaxGrantChanges
	})
	switch {
	case err != nil:
		return nil, terminal.FailureOf(failure.Of(err))
	case len(ids) == 0:
		return nil, terminal.FailureOf(&failure.Error{
			Code:    failure.CodeNotFound,
			Message: fmt.Sprintf("no change of this vault that can be undone was made under the grant %q", excerpt.Short(u.grant)),
			Hint:    `"vaultwicket grants --all" lists the grants with their vaults`,
		})
	}
	return []string{"id=" + strings.Join(ids, ",")}, nil
}

func toUndo(ctx context.Context, o bootstrap.Opened, u undoFlags, id string) ([]string, *failure.Error) {
	words := []string{}
	if id != "" {
		words = append(words, "id="+id)
	}
	if u.batch != "" {
		words = append(words, "batch="+u.batch)
	}
	if u.session != "" && u.session != ofLatest {
		words = append(words, "session="+u.session)
	}
	if len(words) > 0 && u.session != ofLatest {
		return words, nil // the command reports invalid combinations
	}
	var latest journal.Entry // of the agent whose past is wanted, not undone and no undo
	err := o.Gateway.Undoable(ctx, journal.Filter{Agent: o.Reviewed}, func(e journal.Entry) bool {
		latest = e
		return false
	})
	switch {
	case err != nil:
		return nil, failure.Of(err)
	case latest.ID == "":
		return words, nil // the command reports that there is none
	case u.session == ofLatest:
		return append(words, "session="+latest.ID), nil
	case latest.Caller == bootstrap.AtTerminal:
		return words, nil
	}
	by := cmp.Or(latest.Caller, "an unknown caller")
	if latest.Client != "" { // its own word, which could be any other
		by = "a client that calls itself " + inQuotes(terminal.Visible(latest.Client))
	}
	if agent := ownerfiles.AgentOf(latest.Caller); agent != "" {
		by = "the agent " + agent
	}
	terminal.Notef(o.Std.Err, "the latest change was made by %s: %s %s",
		by, latest.Command, terminal.Visible(filesOf(keptChangeOf(latest))))
	if latest.Batch != "" {
		return append(words, "batch="+latest.ID), nil
	}
	return append(words, "id="+latest.ID), nil
}

const maxListed = 50
