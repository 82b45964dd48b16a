package oversight

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
)

// User is the person who typed a command and can be asked.
type User struct {
	Std      terminal.Streams
	Progress *terminal.Progress // the progress of the command, paused while the user is asked
	Declined bool               // the user declined what the command asked for
}

// Asker returns a function that asks the user at the terminal for an approval. It is nil if standard input or
// standard error is not a terminal; the request then waits for "vaultwicket approve".
func (u *User) Asker() consent.Asker {
	if !terminal.IsTerminal(u.Std.In) || !terminal.IsTerminal(u.Std.Err) {
		return nil
	}
	return func(ctx context.Context, q consent.Question) consent.Reply {
		if u.confirm(ctx, rowsFor(q.Lines, u.Std.Err)) {
			return consent.Yes
		}
		u.Declined = true
		return consent.No
	}
}

// confirm shows rows to the user and asks whether to allow what they describe.
func (u *User) confirm(ctx context.Context, rows []string) bool {
	resume := u.Progress.Pause()
	defer resume()
	return terminal.Pages(ctx, u.Std.In, u.Std.Err, rows) &&
		terminal.Confirm(ctx, u.Std.In, u.Std.Err, "Allow this?")
}

// RemoteAsker is like [User.Asker] for a question that a server sends as text.
func (u *User) RemoteAsker() func(ctx context.Context, text string) bool {
	if u.Asker() == nil {
		return nil
	}
	return func(ctx context.Context, text string) bool {
		isAllowed := u.confirm(ctx, strings.Split(terminal.Visible(text), "\n"))
		u.Declined = !isAllowed
		return isAllowed
	}
}

// rowsFor wraps the lines of a question to the width of a stream, or to consent.Columns if it is not a terminal.
func rowsFor(lines []consent.Line, stream any) (rows []string) {
	columns, ok := terminal.Width(stream)
	if !ok {
		columns = consent.Columns
	}
	for _, row := range consent.Rows(lines, columns) {
		rows = append(rows, row.Text)
	}
	return rows
}

// PrintCancelled tells a user who declined that nothing was changed. It returns the error with the exit status of a
// refusal, which prints nothing more.
func (u *User) PrintCancelled() error {
	fmt.Fprintln(u.Std.Err, "Cancelled. Nothing was changed.")
	return terminal.Silent(terminal.ExitDenied)
}

// PrintQuestion prints the lines of a question after an empty line. Without lines it prints nothing.
func PrintQuestion(out io.Writer, s terminal.Screen, lines []consent.Line) {
	for i, row := range consent.Rows(lines, s.Width(consent.Columns)) {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, s.Signed(string(row.Kind), row.Text))
	}
}
