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
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// Approvals runs "vaultwicket approvals", which lists the pending approvals.
func Approvals(_ context.Context, std terminal.Streams, args []string) error {
	var asJSON bool
	var screenOptions terminal.ScreenOptions
	rest, err := terminal.ParseFlags("approvals", args, func(f terminal.FlagSet) {
		f.BoolVar(&asJSON, "json", false, "print JSON")
		screenOptions.Flags(f)
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
	for i, approval := range list {
		if i > 0 {
			fmt.Fprintln(std.Out)
		}
		printApproval(std.Out, terminal.NewScreen(std, screenOptions, now), approval)
	}
	return nil
}

// printApproval prints a pending approval. Its text is indented so that no line of it looks like a line with a code.
func printApproval(out io.Writer, screen terminal.Screen, approval waitingApproval) {
	left := time.Duration(approval.LeftSeconds) * time.Second
	// Times are relative on a terminal, unless exact ones are requested.
	asked := screen.Time(approval.Asked)
	expires := screen.Paint(terminal.Alert, terminal.Span(left)+" left")
	if !screen.IsTerminal() {
		asked = fmt.Sprintf("%s ago", time.Duration(approval.AgeSeconds)*time.Second)
		expires = fmt.Sprintf("%s left", left)
	} else if asked == approval.Asked.UTC().Format(time.RFC3339) {
		expires = "expires " + approval.Expires.UTC().Format(time.RFC3339)
	}
	fmt.Fprintf(out, "%s  asked %s, %s\n", screen.Paint(terminal.Strong, approval.Code), asked, expires)
	who := "session " + inQuotes(approval.Session)
	if approval.Client != "" {
		who = "client " + inQuotes(approval.Client) + ", " + who
	}
	if approval.Agent != "" {
		who = "agent " + inQuotes(approval.Agent) + ", " + who
	}
	fmt.Fprintf(out, "  vault %s, command %s, %s\n", inQuotes(approval.Vault), inQuotes(approval.Command), who)
	for line := range strings.Lines(approval.Text) {
		line = strings.TrimSuffix(line, "\n")
		fmt.Fprintf(out, "  %s\n", screen.Signed(consent.SignOf(line), line))
	}
	printOperations(out, approval.Operations)
}

// waitingOf returns a question as "approvals" lists it. Seconds are never negative, even if the clock was set back.
func waitingOf(q consent.StoredQuestion, now time.Time) waitingApproval {
	return waitingApproval{
		Code:        q.Code,
		Asked:       q.Made,
		AgeSeconds:  int(max(0, now.Sub(q.Made)) / time.Second),
		Expires:     q.Expires,
		LeftSeconds: int(max(0, q.Expires.Sub(now)) / time.Second),
		Session:     sanitize.Line(ownerfiles.SessionOf(q.Session)),
		Agent:       sanitize.Line(ownerfiles.AgentOf(q.Session)),
		Client:      sanitize.Line(q.Client),
		Vault:       sanitize.Line(q.Vault),
		Command:     sanitize.Line(q.Command),
		Text:        terminal.Visible(q.Text),
	}
}

// Approve runs "vaultwicket approve CODE". It asks at the terminal that the process belongs to, not on standard input,
// which a program could fill. Without a terminal nothing can be approved. An approved proposal is carried out at once.
func Approve(ctx context.Context, std terminal.Streams, args []string) error {
	var selected choice
	f := settings.NewFlags("approve")
	selected.add(f)
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
	proposal, isProposal, err := proposalWith(folder, code)
	switch {
	case err != nil:
		return err
	case isProposal:
		return takeProposal(ctx, std, args, console, proposal)
	case selected.isGiven():
		return &terminal.UsageError{Reason: "--only, --without and --say are for proposals"}
	}
	state, question, err := questionOf(std, code, consent.Pending)
	if err != nil {
		return err
	}
	rows, err := rowsOf(state, question, console)
	if err != nil {
		return err
	}
	typed, allowed := askAtConsole(ctx, console, rows, question.Typed, "Allow this?")
	if !allowed || typed != question.Typed {
		return terminal.FailureOf(&failure.Error{
			Code:    "unconfirmed",
			Message: fmt.Sprintf("approval %s is still pending", question.Code),
			Hint:    fmt.Sprintf(`"vaultwicket deny %s" denies it`, question.Code),
		})
	}
	if question, err = decide(state, consent.Answer{Code: question.Code, Approve: true, Typed: typed}); err != nil {
		return approvalError(err)
	}
	fmt.Fprintf(
		std.Out,
		"approved %s: %s in %s, once, until %s\n",
		question.Code,
		sanitize.Line(question.Command),
		sanitize.Line(question.Vault),
		question.Expires.Local().Format(time.TimeOnly),
	)
	return nil
}

// Deny runs "vaultwicket deny CODE", which shows a question and denies it, or withdraws an approval that has not been
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
	proposal, isProposal, err := proposalWith(folder, code)
	switch {
	case err != nil:
		return err
	case isProposal:
		return declineProposal(std, folder, proposal, says)
	case says != "":
		return &terminal.UsageError{Reason: "--say is for proposals"}
	}
	state, question, err := questionOf(std, code, consent.Pending, consent.Approved)
	if err != nil {
		return err
	}
	rows, err := rowsOf(state, question, std.Err)
	if err != nil {
		return err
	}
	for _, row := range rows {
		fmt.Fprintln(std.Err, row)
	}
	if question, err = decide(state, consent.Answer{Code: question.Code, Approve: false}); err != nil {
		return approvalError(err)
	}
	fmt.Fprintf(std.Out, "%s %s: %s in %s\n", question.State, question.Code, sanitize.Line(question.Command), sanitize.Line(question.Vault))
	return nil
}

// codeOf returns the code from rest, the arguments of the command name. err is the error of parsing its flags.
func codeOf(name string, err error, rest []string) (string, error) {
	if err == nil && len(rest) != 1 {
		err = &terminal.UsageError{
			Reason: name + " requires one code",
			Advice: `"vaultwicket approvals" lists the pending approvals with their codes`,
		}
	}
	return strings.Join(rest, ""), err
}

// questionOf returns the question with a code, and the state folder. It is an error if the question is not in one of
// the given states. The caller must show the question before answering it.
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

// rowsOf returns the full text of a question, wrapped to the width of a stream.
func rowsOf(state string, q consent.StoredQuestion, stream any) ([]string, error) {
	lines, err := consent.OpenStore(consent.Folder(state), time.Now).Shown(q)
	if err != nil {
		return nil, approvalError(err)
	}
	rows := rowsFor(lines, stream)
	if rows == nil { // stored by a version that did not store lines
		return strings.Split(terminal.Visible(q.Text), "\n"), nil
	}
	return rows, nil
}

// bareCode removes the dash from a code, which users may omit.
func bareCode(code string) string { return strings.ReplaceAll(code, "-", "") }

// decide stores the answer to a question that was shown in this terminal.
func decide(state string, answer consent.Answer) (consent.StoredQuestion, error) {
	answer.By = bootstrap.AtTerminal
	answer.Session = bootstrap.Session()
	return consent.Decide(state, answer)
}

// openQuestions returns the state folder and its questions that have not expired. It prints a note for each question
// that cannot be read.
func openQuestions(std terminal.Streams) (state string, questions []consent.StoredQuestion, err error) {
	if state, err = settings.StateFolder(std); err != nil {
		return "", nil, err
	}
	noteState(std)
	questions, damaged, err := consent.OpenStore(consent.Folder(state), time.Now).List()
	if err != nil {
		return "", nil, approvalError(err)
	}
	for _, damage := range damaged {
		terminal.Notef(std.Err, "%s; it is ignored", sanitize.Line(damage.Error()))
	}
	return state, questions, nil
}

// approvalError returns an error of the store of questions with its exit status and hint.
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
	// Only for a proposal: its id and its operations.
	Proposal   string             `json:"proposal,omitempty"`
	Operations []waitingOperation `json:"operations,omitempty"`
}

// inQuotes quotes a name that a client has chosen, after control characters were removed from it.
func inQuotes(name string) string { return `"` + strings.ReplaceAll(name, `"`, `\"`) + `"` }
