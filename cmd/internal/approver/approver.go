// Package approver shows the pending approvals to the user at a terminal and stores what
// they decide: approvals, approve and deny. It needs no settings and starts nothing.
package approver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/failure"
)

// List is "vaultwicket approvals": the questions that wait for a person.
func List(_ context.Context, std terminal.Streams, args []string) error {
	var asJSON bool
	var look terminal.ScreenOptions
	rest, err := terminal.ParseFlags("approvals", args, func(f terminal.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "print JSON")
		look.Flags(f)
	})
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return &terminal.UsageError{Reason: fmt.Sprintf("approvals: unexpected argument %q", quote.Short(rest[0])), Advice: `"vaultwicket approve CODE" approves one`}
	}
	store, err := openStore(std)
	if err != nil {
		return err
	}
	questions, err := store.questions(std)
	if err != nil {
		return err
	}
	now := time.Now()
	list := []waiting{}
	for _, q := range questions {
		if q.State == consent.Pending {
			list = append(list, waitingOf(q, now))
		}
	}
	if asJSON {
		return terminal.PrintJSON(std.Out, list, terminal.ExitDone)
	}
	if len(list) == 0 {
		terminal.Notef(std.Err, "no pending approvals")
	}
	for i, w := range list {
		if i > 0 {
			fmt.Fprintln(std.Out)
		}
		w.print(std.Out, terminal.NewScreen(std, look, now))
	}
	return nil
}

// Approve is "vaultwicket approve CODE": a person's yes to a question. It is asked
// for at the terminal that the process belongs to, not on standard input, which a
// program can fill; there is no way to give it without one.
func Approve(ctx context.Context, std terminal.Streams, args []string) error {
	rest, err := terminal.ParseFlags("approve", args, nil)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return oneCode("approve")
	}
	console, err := std.OpenConsole()
	if err != nil {
		return terminal.FailureOf(&failure.Error{
			Code: "unconfirmed", Message: "approve requires a terminal: " + err.Error(),
			Hint: "run it in a terminal window",
		})
	}
	defer console.Close()
	store, q, err := questionOf(std, rest[0])
	if err != nil {
		return err
	}
	if !terminal.Pages(ctx, console, console, rowsOf(q, console)) || !terminal.Confirm(ctx, console, console, "Allow this?") {
		return terminal.FailureOf(&failure.Error{
			Code: "unconfirmed", Message: fmt.Sprintf("approval %s is still pending", q.Code),
			Hint: fmt.Sprintf(`"vaultwicket deny %s" denies it`, q.Code),
		})
	}
	if q, err = store.decide(q.Code, true); err != nil {
		return storeError(err)
	}
	fmt.Fprintf(std.Out, "approved %s: %s in %s, once, until %s\n", q.Code, clean.Line(q.Command), clean.Line(q.Vault), q.Expires.Local().Format(time.TimeOnly))
	return nil
}

func oneCode(name string) error {
	return &terminal.UsageError{Reason: name + " requires one code", Advice: `"vaultwicket approvals" lists the pending approvals with their codes`}
}

// Deny is "vaultwicket deny CODE": a person's no to a question.
func Deny(_ context.Context, std terminal.Streams, args []string) error {
	rest, err := terminal.ParseFlags("deny", args, nil)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return oneCode("deny")
	}
	store, q, err := questionOf(std, rest[0])
	if err != nil {
		return err
	}
	for _, row := range rowsOf(q, std.Err) {
		fmt.Fprintln(std.Err, row)
	}
	if q, err = store.decide(q.Code, false); err != nil {
		return storeError(err)
	}
	fmt.Fprintf(std.Out, "denied %s: %s in %s\n", q.Code, clean.Line(q.Command), clean.Line(q.Vault))
	return nil
}

// questionOf finds the question with a code, which its reader has to be shown: no question
// is answered unseen.
func questionOf(std terminal.Streams, code string) (store, consent.StoredQuestion, error) {
	d, err := openStore(std)
	if err != nil {
		return d, consent.StoredQuestion{}, err
	}
	questions, err := d.questions(std)
	if err != nil {
		return d, consent.StoredQuestion{}, err
	}
	for _, q := range questions {
		if !strings.EqualFold(bare(q.Code), bare(code)) {
			continue
		}
		if q.State != consent.Pending {
			return d, q, storeError(&consent.Answered{Question: q.Code, State: q.State})
		}
		return d, q, nil
	}
	return d, consent.StoredQuestion{}, storeError(&consent.Unknown{What: code})
}

// rowsOf returns the whole question in rows for a terminal.
func rowsOf(q consent.StoredQuestion, stream any) (rows []string) {
	columns, ok := terminal.Width(stream)
	if !ok {
		columns = consent.Columns
	}
	for _, row := range consent.Rows(q.Lines, columns) {
		rows = append(rows, row.Text)
	}
	if rows == nil { // of a version that kept no lines
		return strings.Split(shownText(q.Text), "\n")
	}
	return rows
}

// bare is a code without its dash, which a person may leave out.
func bare(code string) string { return strings.ReplaceAll(code, "-", "") }
