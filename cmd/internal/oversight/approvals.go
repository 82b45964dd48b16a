package oversight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/cmd/internal/bootstrap"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// Approvals is "vaultwicket approvals": the pending approvals.
func Approvals(_ context.Context, std terminal.Streams, args []string) error {
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
		return &terminal.UsageError{
			Reason: fmt.Sprintf("approvals: unexpected argument %q", excerpt.Short(rest[0])),
			Advice: `"vaultwicket approve CODE" approves one`,
		}
	}
	state, questions, err := openQuestions(std)
	if err != nil {
		return err
	}
	now := time.Now()
	list := []waitingApproval{}
	for _, q := range questions {
		if q.State == consent.Pending {
			list = append(list, waitingOf(q, now))
		}
	}
	proposed, err := waitingProposals(std, state, now)
	if err != nil {
		return err
	}
	list = append(list, proposed...)
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
		// Write a question. Its text is indented, so that no line of it can pass for one with a code.
		out := std.Out
		s := terminal.NewScreen(std, look, now)
		left := time.Duration(w.LeftSeconds) * time.Second
		// Relative times on a terminal, unless exact ones are requested.
		asked := s.Time(w.Asked)
		expires := s.Paint(terminal.Alert, terminal.Span(left)+" left")
		if !s.IsTerminal() {
			asked = fmt.Sprintf("%s ago", time.Duration(w.AgeSeconds)*time.Second)
			expires = fmt.Sprintf("%s left", left)
		} else if asked == w.Asked.UTC().Format(time.RFC3339) {
			expires = "expires " + w.Expires.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(out, "%s  asked %s, %s\n", s.Paint(terminal.Strong, w.Code), asked, expires)
		who := "session " + inQuotes(w.Session)
		if w.Client != "" {
			who = "client " + inQuotes(w.Client) + ", " + who
		}
		if w.Agent != "" {
			who = "agent " + inQuotes(w.Agent) + ", " + who
		}
		fmt.Fprintf(out, "  vault %s, command %s, %s\n", inQuotes(w.Vault), inQuotes(w.Command), who)
		for line := range strings.Lines(w.Text) {
			line = strings.TrimSuffix(line, "\n")
			fmt.Fprintf(out, "  %s\n", s.Signed(consent.SignOf(line), line))
		}
		printOperations(out, w.Operations)
	}
	return nil
}

// waitingOf returns a question as it is listed. Seconds are never below zero: a clock may have been put back.
func waitingOf(q consent.StoredQuestion, now time.Time) waitingApproval {
	return waitingApproval{
		Code: q.Code, Asked: q.Made, AgeSeconds: int(max(0, now.Sub(q.Made)) / time.Second),
		Expires: q.Expires, LeftSeconds: int(max(0, q.Expires.Sub(now)) / time.Second),
		Session: sanitize.Line(ownerfiles.SessionOf(q.Session)), Agent: sanitize.Line(ownerfiles.AgentOf(q.Session)),
		Client: sanitize.Line(q.Client), Vault: sanitize.Line(q.Vault), Command: sanitize.Line(q.Command), Text: terminal.Visible(q.Text),
	}
}

// Approve is "vaultwicket approve CODE". It asks at the terminal that the process belongs to,
// not on standard input, which a program can fill; without a terminal nothing can be approved. A proposal is carried out at
// once.
func Approve(ctx context.Context, std terminal.Streams, args []string) error {
	var c choice
	f := settings.NewFlags("approve")
	c.add(f)
	code, err := codeOf("approve", f.Parse(args), f.Args())
	if err != nil {
		return err
	}
	console, err := std.OpenConsole()
	if err != nil {
		return terminal.FailureOf(
			&failure.Error{Code: "unconfirmed", Message: "approve requires a terminal: " + err.Error(),
				Hint: "run it in a terminal window"},
		)
	}
	defer console.Close()
	folder, err := settings.StateFolder(std)
	if err != nil {
		return err
	}
	p, isProposal, err := proposalWith(folder, code)
	switch {
	case err != nil:
		return err
	case isProposal:
		return takeProposal(ctx, std, args, console, p)
	case c.isGiven():
		return &terminal.UsageError{Reason: "--only, --without and --say are for proposals"}
	}
	state, q, err := questionOf(std, code, consent.Pending)
	if err != nil {
		return err
	}
	rows, err := rowsOf(state, q, console)
	if err != nil {
		return err
	}
	typed := ""
	allowed := terminal.Pages(ctx, console, console, rows)
	switch {
	case !allowed:
	case q.Typed != "":
		fmt.Fprintf(console, "This is much. Type %q to allow it: ", q.Typed)
		typed, allowed = terminal.Ask(ctx, console, console)
		allowed = allowed && typed == q.Typed
	default:
		allowed = terminal.Confirm(ctx, console, console, "Allow this?")
	}
	if !allowed {
		return terminal.FailureOf(&failure.Error{
			Code: "unconfirmed", Message: fmt.Sprintf("approval %s is still pending", q.Code),
			Hint: fmt.Sprintf(`"vaultwicket deny %s" denies it`, q.Code),
		})
	}
	if q, err = decide(state, consent.Answer{Code: q.Code, Approve: true, Typed: typed}); err != nil {
		return approvalError(err)
	}
	fmt.Fprintf(
		std.Out,
		"approved %s: %s in %s, once, until %s\n",
		q.Code,
		sanitize.Line(q.Command),
		sanitize.Line(q.Vault),
		q.Expires.Local().Format(time.TimeOnly),
	)
	return nil
}

// Deny is "vaultwicket deny CODE": it shows a question and answers it with no, or withdraws an approval that was not
// used yet.
func Deny(_ context.Context, std terminal.Streams, args []string) error {
	says := ""
	rest, err := terminal.ParseFlags("deny", args, func(f terminal.FlagSet) {
		f.StringVar(&says, "say", "", "of a proposal: a sentence for the agent")
	})
	code, err := codeOf("deny", err, rest)
	if err != nil {
		return err
	}
	folder, err := settings.StateFolder(std)
	if err != nil {
		return err
	}
	p, isProposal, err := proposalWith(folder, code)
	switch {
	case err != nil:
		return err
	case isProposal:
		return declineProposal(std, folder, p, says)
	case says != "":
		return &terminal.UsageError{Reason: "--say is for proposals"}
	}
	state, q, err := questionOf(std, code, consent.Pending, consent.Approved)
	if err != nil {
		return err
	}
	rows, err := rowsOf(state, q, std.Err)
	if err != nil {
		return err
	}
	for _, row := range rows {
		fmt.Fprintln(std.Err, row)
	}
	if q, err = decide(state, consent.Answer{Code: q.Code, Approve: false}); err != nil {
		return approvalError(err)
	}
	fmt.Fprintf(std.Out, "%s %s: %s in %s\n", q.State, q.Code, sanitize.Line(q.Command), sanitize.Line(q.Vault))
	return nil
}

// codeOf returns the one word of a command, whose flags were parsed.
func codeOf(name string, err error, rest []string) (string, error) {
	if err == nil && len(rest) != 1 {
		err = &terminal.UsageError{
			Reason: name + " requires one code",
			Advice: `"vaultwicket approvals" lists the pending approvals with their codes`,
		}
	}
	return strings.Join(rest, ""), err
}

// questionOf finds the question with a code, which is to be shown: no question is answered unseen. It is in one of
// some states. It also returns the state folder.
func questionOf(
	std terminal.Streams,
	code string,
	states ...consent.State,
) (state string, q consent.StoredQuestion, err error) {
	state, questions, err := openQuestions(std)
	if err != nil {
		return "", q, err
	}
	for _, q := range questions {
		if !strings.EqualFold(bareCode(q.Code), bareCode(code)) {
			continue
		}
		if !slices.Contains(states, q.State) {
			return "", q, approvalError(&consent.Answered{Question: q.Code, State: q.State})
		}
		return state, q, nil
	}
	return "", q, approvalError(&consent.Unknown{What: code})
}

// rowsOf returns all that a question shows, in rows for a stream.
func rowsOf(state string, q consent.StoredQuestion, stream any) ([]string, error) {
	lines, err := consent.OpenStore(consent.Folder(state), time.Now).Shown(q)
	if err != nil {
		return nil, approvalError(err)
	}
	rows := rowsFor(lines, stream)
	if rows == nil { // of a version that kept no lines
		return strings.Split(terminal.Visible(q.Text), "\n"), nil
	}
	return rows, nil
}

// bareCode returns a code without its dash, which users may omit.
func bareCode(code string) string { return strings.ReplaceAll(code, "-", "") }

// decide stores the answer to a question that was shown in this terminal.
func decide(state string, given consent.Answer) (consent.StoredQuestion, error) {
	given.By = bootstrap.AtTerminal
	given.Session = bootstrap.Session()
	return consent.Decide(state, given)
}

// openQuestions returns the state folder and its questions that have not expired, and says which cannot be read.
func openQuestions(std terminal.Streams) (state string, questions []consent.StoredQuestion, err error) {
	if state, err = settings.StateFolder(std); err != nil {
		return "", nil, err
	}
	noteState(std)
	questions, damaged, err := consent.OpenStore(consent.Folder(state), time.Now).List()
	if err != nil {
		return "", nil, approvalError(err)
	}
	for _, bad := range damaged {
		terminal.Notef(std.Err, "%s; it is ignored", sanitize.Line(bad.Error()))
	}
	return state, questions, nil
}

func approvalError(err error) error {
	var answered *consent.Answered
	var unusable *consent.Unusable
	cause := &failure.Error{
		Code:    "not_found",
		Message: err.Error(),
		Hint:    `"vaultwicket approvals" lists the pending ones; repeat the call to request approval again`,
	}
	switch {
	case errors.As(err, &unusable):
		return terminal.Fail(terminal.ExitNotReady, err.Error(), "it must be a folder that only you can access")
	case errors.As(err, &answered) && answered.State == consent.Approved:
		cause.Hint = "repeat the call: the approval is valid for one call"
	case errors.As(err, &answered):
		cause.Hint = "approval can be requested again after this one expires"
	}
	return terminal.FailureOf(cause)
}

// waitingApproval is a question as "approvals --json" prints it.
type waitingApproval struct {
	Code        string    `json:"code"`
	Asked       time.Time `json:"asked"`
	AgeSeconds  int       `json:"ageSeconds"`
	Expires     time.Time `json:"expires"`
	LeftSeconds int       `json:"leftSeconds"`
	Session     string    `json:"session"`
	Agent       string    `json:"agent,omitempty"`
	Client      string    `json:"client,omitempty"`
	Vault       string    `json:"vault"`
	Command     string    `json:"command"`
	Text        string    `json:"text"`
	// Of a proposal: its id for the agent, and its operations.
	Proposal   string             `json:"proposal,omitempty"`
	Operations []waitingOperation `json:"operations,omitempty"`
}

// inQuotes quotes a cleaned name that a client has chosen.
func inQuotes(name string) string { return `"` + strings.ReplaceAll(name, `"`, `\"`) + `"` }
