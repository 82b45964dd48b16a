package calls

import (
	"context"
	"fmt"

	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/exec/frame"
	"vaultwicket/gateway"
	"vaultwicket/gateway/consent"
)

// typed returns a request as one that was typed in a terminal, where user is asked.
func typed(user *user, req gateway.Request) gateway.Request {
	req.Owner = true
	req.Ask, req.Caller, req.Client, req.Surface = user.asker(), settings.AtTerminal, settings.AtTerminal, settings.AtTerminal
	return req
}

// user is who sits at the terminal of a command, if anybody does.
type user struct {
	std      terminal.Streams
	progress *terminal.Progress
	declined bool // an approval that the command asked for
}

// newUser returns who typed a command, and begins to tell them of its progress: the caller
// stops that when there is a result.
func newUser(o settings.Opened, command string) *user {
	return &user{std: o.Std, progress: o.Progress(command)}
}

// counting is ctx for a call of which p shows how far it has come.
func counting(ctx context.Context, p *terminal.Progress) context.Context {
	return frame.WithProgress(ctx, func(c frame.Progress) { p.Count(c.String()) })
}

// asker returns the function that asks the user at the terminal for an approval. It
// is nil when standard input or standard error is not a terminal; the request then
// waits for "vaultwicket approve".
func (u *user) asker() consent.Asker {
	if !terminal.IsTerminal(u.std.In) || !terminal.IsTerminal(u.std.Err) {
		return nil
	}
	return func(ctx context.Context, q consent.Question) consent.Reply {
		defer u.progress.Pause()()
		columns, ok := terminal.Width(u.std.Err)
		if !ok {
			columns = consent.Columns
		}
		var rows []string
		for _, row := range consent.Rows(q.Lines, columns) {
			rows = append(rows, row.Text)
		}
		if terminal.Pages(ctx, u.std.In, u.std.Err, rows) && terminal.Confirm(ctx, u.std.In, u.std.Err, "Allow this?") {
			return consent.Yes
		}
		u.declined = true
		return consent.No
	}
}

// cancelled tells the user who declined what came of it. The error for a client, with
// its advice for a model, is not for them.
func (u *user) cancelled() error {
	fmt.Fprintln(u.std.Err, "Cancelled. Nothing was changed.")
	return terminal.Silent(terminal.ExitDenied)
}
