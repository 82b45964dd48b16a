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

// undoFlags are the flags of "vaultwicket undo".
type undoFlags struct {
	batch   string
	session string
	grant   string
	screen  terminal.ScreenOptions // for "undo list"
}

// ofLatest is the value of the flag --session without a value.
const ofLatest = "latest"

// Undo runs "vaultwicket undo". It makes a request for the command undo, and carryOut runs it as "vaultwicket run"
// would.
//
// Without an id it undoes the latest change of the vault by any author. If that is another caller, the change is
// passed to the gateway by its id, and undoing it requires approval if that removes or replaces something.
func Undo(
	ctx context.Context,
	std terminal.Streams,
	args []string,
	carryOut func(context.Context, bootstrap.Opened, gateway.Request) error,
) error {
	var flags undoFlags
	opened, err := bootstrap.Open("undo", std, args, func(f *settings.Flags) {
		f.Reviews = true
		f.StringVar(&flags.batch, "batch", "", "take back the whole batch that the change with this id belongs to")
		f.StringVar(
			&flags.session,
			"session",
			"",
			"take back all changes of the session of the change with this id (default: of the latest change)",
		)
		f.StringVar(&flags.grant, "grant", "", "take back all changes that the grant with this id allowed")
		f.Lookup("session").NoOptDefVal = ofLatest
		flags.screen.Flags(f.FlagSet)
	})
	if err != nil {
		return err
	}
	noteState(std)
	if flags.session == ofLatest && len(opened.Rest) == 1 {
		flags.session = opened.Rest[0]
		opened.Rest = nil
	}
	id := ""
	switch {
	case len(opened.Rest) == 1 && opened.Rest[0] == "list":
		// "vaultwicket undo list" lists the changes of every caller that can be undone.
		screen := terminal.NewScreen(std, flags.screen, time.Now())
		changes := []keptChange{}
		sight, err := opened.Gateway.Undoable(ctx, journal.Filter{Agent: opened.Reviewed}, func(e journal.Entry) bool {
			changes = append(changes, keptChangeOf(e))
			return len(changes) < maxListed
		})
		if err != nil {
			return terminal.FailureOf(failure.Of(err))
		}
		noteUnread(opened.Std, sight)
		return printChanges(opened, screen, changes)
	case len(opened.Rest) > 1:
		return &terminal.UsageError{
			Reason: fmt.Sprintf("undo: unexpected argument %q", excerpt.Short(opened.Rest[1])),
			Advice: `"vaultwicket journal list" shows the ids`,
		}
	case len(opened.Rest) == 1:
		id = opened.Rest[0]
	}
	if flags.grant != "" {
		words, err := grantWords(ctx, opened, flags, id)
		if err != nil {
			return err
		}
		return carryOut(ctx, opened, gateway.Request{Command: "undo", Words: words})
	}
	words, cause := changeWords(ctx, opened, flags, id)
	if cause != nil {
		return terminal.FailureOf(cause)
	}
	return carryOut(ctx, opened, gateway.Request{Command: "undo", Words: words})
}

// grantWords returns the parameters for undoing all changes that a grant allowed.
func grantWords(ctx context.Context, opened bootstrap.Opened, flags undoFlags, id string) ([]string, error) {
	if id != "" || flags.batch != "" || flags.session != "" {
		return nil, &terminal.UsageError{Reason: "undo: --grant cannot be combined with an id, --batch or --session"}
	}
	var ids []string
	sight, err := opened.Gateway.Undoable(ctx, journal.Filter{Grant: flags.grant}, func(e journal.Entry) bool {
		ids = append(ids, e.ID)
		return len(ids) < consent.MaxGrantChanges
	})
	switch err = cmp.Or(err, sight.Whole()); { // all that it allowed, or nothing
	case err != nil:
		return nil, terminal.FailureOf(failure.Of(err))
	case len(ids) == 0:
		return nil, terminal.FailureOf(&failure.Error{
			Code:    failure.CodeNotFound,
			Message: fmt.Sprintf("no change of this vault that can be undone was made under the grant %q", excerpt.Short(flags.grant)),
			Hint:    `"vaultwicket grants --all" lists the grants with their vaults`,
		})
	}
	return []string{"id=" + strings.Join(ids, ",")}, nil
}

// changeWords returns the parameters for undoing the changes that the user selected, or else the latest change.
func changeWords(ctx context.Context, opened bootstrap.Opened, flags undoFlags, id string) ([]string, *failure.Error) {
	words := []string{}
	if id != "" {
		words = append(words, "id="+id)
	}
	if flags.batch != "" {
		words = append(words, "batch="+flags.batch)
	}
	if flags.session != "" && flags.session != ofLatest {
		words = append(words, "session="+flags.session)
	}
	if len(words) > 0 && flags.session != ofLatest {
		return words, nil // the command reports invalid combinations
	}
	var latest journal.Entry // the latest change that can be undone; with --agent of that agent
	sight, err := opened.Gateway.Undoable(ctx, journal.Filter{Agent: opened.Reviewed}, func(e journal.Entry) bool {
		latest = e
		return false
	})
	switch err = cmp.Or(err, sight.Whole()); { // what cannot be read may be the latest
	case err != nil:
		return nil, failure.Of(err)
	case latest.ID == "":
		return words, nil // the command reports that there is none
	case flags.session == ofLatest:
		return append(words, "session="+latest.ID), nil
	case latest.Caller == bootstrap.AtTerminal:
		return words, nil
	}
	author := cmp.Or(latest.Caller, "an unknown caller")
	if latest.Client != "" { // the client chose the name itself
		author = "a client that calls itself " + inQuotes(terminal.Visible(latest.Client))
	}
	if agent := ownerfiles.AgentOf(latest.Caller); agent != "" {
		author = "the agent " + agent
	}
	terminal.Notef(opened.Std.Err, "the latest change was made by %s: %s %s",
		author, latest.Command, terminal.Visible(filesOf(keptChangeOf(latest))))
	if latest.Batch != "" {
		return append(words, "batch="+latest.ID), nil
	}
	return append(words, "id="+latest.ID), nil
}

// maxListed is the maximum number of changes that "undo list" shows.
const maxListed = 50
