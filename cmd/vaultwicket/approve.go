package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/exit"
	"vaultwicket/cmd/internal/flags"
	"vaultwicket/cmd/internal/screen"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/approvals"
)

// waiting is a question as "approvals --json" prints it.
type waiting struct {
	Code        string    `json:"code"`
	Asked       time.Time `json:"asked"`
	AgeSeconds  int       `json:"ageSeconds"`
	Expires     time.Time `json:"expires"`
	LeftSeconds int       `json:"leftSeconds"`
	Session     string    `json:"session"`
	Client      string    `json:"client,omitempty"`
	Vault       string    `json:"vault"`
	Command     string    `json:"command"`
	Text        string    `json:"text"`
}

func waitingOf(q approvals.Question, now time.Time) waiting {
	return waiting{
		Code: q.Code, Asked: q.Made, AgeSeconds: wholeSeconds(now.Sub(q.Made)), Expires: q.Expires, LeftSeconds: wholeSeconds(q.Expires.Sub(now)),
		Session: clean.Line(q.Session), Client: clean.Line(q.Client), Vault: clean.Line(q.Vault), Command: clean.Line(q.Command), Text: shownText(q.Text),
	}
}

// wholeSeconds is never below zero: a clock may have been put back.
func wholeSeconds(d time.Duration) int { return max(0, int(d/time.Second)) }

// shownText is the text of a question, as it was made to be shown.
func shownText(text string) string {
	text, _ = clean.Text(text)
	return text
}

// listApprovals is "vaultwicket approvals": the questions that wait for a person.
func listApprovals(_ context.Context, std terminal.Streams, args []string) error {
	var asJSON bool
	var look screen.Options
	rest, err := flags.Parse("approvals", args, func(f flags.Set) {
		f.BoolVar(&asJSON, "json", false, "print JSON")
		look.Flags(f)
	})
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return &exit.UsageError{Reason: fmt.Sprintf("approvals: unexpected argument %q", quote.Short(rest[0])), Advice: `"vaultwicket approve CODE" approves one`}
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
		if q.State == approvals.Pending {
			list = append(list, waitingOf(q, now))
		}
	}
	if asJSON {
		return exit.JSON(std.Out, list, exit.Done)
	}
	if len(list) == 0 {
		terminal.Notef(std.Err, "no pending approvals")
	}
	for i, w := range list {
		if i > 0 {
			fmt.Fprintln(std.Out)
		}
		w.print(std.Out, screen.New(std, look, now))
	}
	return nil
}

// print writes a question. Its text is set off, so that no row of it stands where
// a code does.
func (w waiting) print(out io.Writer, s screen.Screen) {
	fmt.Fprintf(out, "%s  %s\n", s.Paint(screen.Strong, w.Code), w.times(s))
	who := "session " + inQuotes(w.Session)
	if w.Client != "" {
		who = "client " + inQuotes(w.Client) + ", " + who
	}
	fmt.Fprintf(out, "  vault %s, command %s, %s\n", inQuotes(w.Vault), inQuotes(w.Command), who)
	for line := range strings.Lines(w.Text) {
		fmt.Fprintf(out, "  %s\n", s.Diff(strings.TrimSuffix(line, "\n"), quotedLine))
	}
}

// quotedLine is what the lines of a difference begin with in the text of a question.
const quotedLine = "│ "

// times says when the question was asked and how long it can be answered: on a terminal as
// people say it, unless times are asked for in full.
func (w waiting) times(s screen.Screen) string {
	switch told := s.Time(w.Asked); {
	case !s.IsTerminal():
		return fmt.Sprintf("asked %s ago, %s left", time.Duration(w.AgeSeconds)*time.Second, time.Duration(w.LeftSeconds)*time.Second)
	case told == w.Asked.UTC().Format(time.RFC3339):
		return fmt.Sprintf("asked %s, expires %s", told, w.Expires.UTC().Format(time.RFC3339))
	default:
		return "asked " + told + ", " + s.Paint(screen.Alert, screen.Span(time.Duration(w.LeftSeconds)*time.Second)+" left")
	}
}

// inQuotes sets off a name that somebody else has chosen and that is clean.
func inQuotes(name string) string { return `"` + strings.ReplaceAll(name, `"`, "'") + `"` }

// approve is "vaultwicket approve CODE": a person's yes to a question. It is asked
// for at the terminal that the process belongs to, not on standard input, which a
// program can fill; there is no way to give it without one.
func approve(ctx context.Context, std terminal.Streams, args []string) error {
	rest, err := flags.Parse("approve", args, nil)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return oneCode("approve")
	}
	console, err := std.OpenConsole()
	if err != nil {
		return exit.Of(&failure.Error{
			Code: "unconfirmed", Message: "approve requires a terminal: " + err.Error(),
			Hint: "run it in a terminal window",
		})
	}
	defer console.Close()
	store, q, err := questionOf(std, console, rest[0])
	if err != nil {
		return err
	}
	if !terminal.Confirm(ctx, console, console) {
		return exit.Of(&failure.Error{
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
	return &exit.UsageError{Reason: name + " requires one code", Advice: `"vaultwicket approvals" lists the pending approvals with their codes`}
}

// deny is "vaultwicket deny CODE": a person's no to a question.
func deny(_ context.Context, std terminal.Streams, args []string) error {
	rest, err := flags.Parse("deny", args, nil)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return oneCode("deny")
	}
	store, q, err := questionOf(std, std.Err, rest[0])
	if err != nil {
		return err
	}
	if q, err = store.decide(q.Code, false); err != nil {
		return storeError(err)
	}
	fmt.Fprintf(std.Out, "denied %s: %s in %s\n", q.Code, clean.Line(q.Command), clean.Line(q.Vault))
	return nil
}

// questionOf finds the question with a code, and shows it to the person: nobody
// answers one unseen.
func questionOf(std terminal.Streams, person io.Writer, code string) (store, approvals.Question, error) {
	d, err := openStore(std)
	if err != nil {
		return d, approvals.Question{}, err
	}
	questions, err := d.questions(std)
	if err != nil {
		return d, approvals.Question{}, err
	}
	for _, q := range questions {
		if !strings.EqualFold(bare(q.Code), bare(code)) {
			continue
		}
		if q.State != approvals.Pending {
			return d, q, storeError(&approvals.Answered{Question: q.Code, State: q.State})
		}
		fmt.Fprintln(person, shownText(q.Text))
		return d, q, nil
	}
	return d, approvals.Question{}, storeError(&approvals.Unknown{What: code})
}

// bare is a code without its dash, which a person may leave out.
func bare(code string) string { return strings.ReplaceAll(code, "-", "") }

// store is where questions wait.
type store struct {
	*approvals.Store
	state string // the folder
}

// decide stores the answer to a question that was shown in this terminal.
func (d store) decide(code string, approve bool) (approvals.Question, error) {
	return consent.Decide(d.state, consent.Answer{Code: code, Approve: approve, By: atTerminal, Session: session()})
}

func openStore(std terminal.Streams) (store, error) {
	state, err := settings.StateFolder(std)
	if err != nil {
		return store{}, err
	}
	return store{approvals.Open(consent.Folder(state), time.Now), state}, nil
}

// questions returns the questions that have not expired, and says which cannot be
// read.
func (d store) questions(std terminal.Streams) ([]approvals.Question, error) {
	questions, damaged, err := d.List()
	if err != nil {
		return nil, storeError(err)
	}
	for _, bad := range damaged {
		terminal.Notef(std.Err, "%s; it is ignored", clean.Line(bad.Error()))
	}
	return questions, nil
}

// storeError says why a question could not be answered.
func storeError(err error) error {
	var answered *approvals.Answered
	var unusable *approvals.Unusable
	cause := &failure.Error{Code: "not_found", Message: err.Error(), Hint: `"vaultwicket approvals" lists the pending ones; repeat the call to request approval again`}
	switch {
	case errors.As(err, &unusable):
		return exit.New(exit.NotReady, err.Error(), "it must be a folder that only you can access")
	case errors.As(err, &answered) && answered.State == approvals.Approved:
		cause.Hint = "repeat the call: the approval is valid for one call"
	case errors.As(err, &answered):
		cause.Hint = "approval can be requested again after this one expires"
	}
	return exit.Of(cause)
}
