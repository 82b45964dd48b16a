// Package consent asks the user for approval of a call: what they are shown, who asks them
// in which way, what is pending in a terminal, what they declined, and which earlier
// approval is good for this call.
//
// An approval is bound by a digest to the exact call, its caller, and the notes as the user was
// shown them; it expires and is valid for one call. Anything else is refused. There are three
// kinds. A [Sealer] makes the state that travels through a client which can ask the user itself,
// and returns with the answer. A [Store] keeps questions in a folder for clients that cannot ask;
// the user answers them in a terminal, outside the model's reach. An approval for one session and
// one folder is in memory only, and never covers a destructive call.
//
// [Grants] answer questions in advance, and [Proposals] are changes that wait for the owner as a whole. A [Notifier]
// tells the owner that a question waits.
//
// The package protects against a client and a model, not against another program of the same user
// that writes to the folder: it could as well change the vault itself.
package consent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Terminal is the caller of what the owner does at a terminal.
const Terminal = "terminal"

// Folder returns the folder of pending questions in the state folder.
func Folder(state string) string { return filepath.Join(state, "approvals") }

// Approvals asks the user for approval of calls, and knows what they approved and declined.
type Approvals struct {
	store     *Store // nil where there is no folder for it
	standing  *standing
	attention *attention
	tell      func(text, link string) // nil tells no one
	openPage  func() string           // see [Approvals.ShowOn]; nil where there is no such page
	state     string
}

// Requester is who needs an approval.
type Requester struct {
	// Caller names the caller, for the limit of one open dialog and for what was
	// declined. Client is what the client calls itself.
	Caller, Client string
	// Session is one session of one client in one vault, "" for anything else. An
	// approval for a folder is good for the session.
	Session string
	// Ask asks the user where they are, nil where that is not possible. Owner says that it asks the user themselves,
	// at the terminal or on the page, and no client.
	Ask   Asker
	Owner bool
	// Ways are the ways in which questions reach the user, and MinAnswer how long a client needs for an answer that
	// counts, see [policy.Policy].
	Ways      policy.Asking
	MinAnswer time.Duration
	// Taken is when the call was received, from which it waits no longer than [maxWait]; zero is now.
	Taken time.Time
}

// New returns the approvals in a state folder. With "" a user can only be asked through the
// client. tell is called for each question that is left for the user, with a text without names
// of notes and a link to the question on the local page, "" if none is open; it must not wait.
func New(state string, tell func(text, link string)) *Approvals {
	c := &Approvals{standing: newStanding(time.Now), tell: tell, state: state}
	c.attention = &attention{
		now:      time.Now,
		open:     map[string]openQuestion{},
		declined: map[declined]time.Time{},
		closed:   map[declined]time.Time{},
	}
	if state != "" {
		c.store = OpenStore(Folder(state), time.Now)
	}
	return c
}

// ShowOn has links lead to a page of this process where no other page is open. open opens it for the questions of this
// process, unless it is open, and returns its address, "" where that is not possible. It is called before the first
// request.
func (a *Approvals) ShowOn(open func() string) { a.openPage = open }

func declinedError(command string) error {
	return failure.New(failure.CodeUnconfirmed, "ask the user what they want instead; the same call is not asked about again for ten minutes", "command %q: the user declined", command).
		Declined()
}

// Approval says how the user approved a call.
type Approval struct {
	// Waited says that the approval was waited for, so that the call has to be planned again.
	Waited bool
	// By is where it was given, such as "terminal" or "page", "" for the client and for
	// an earlier approval of the folder.
	By string
}

// Request returns how the user approved the call of a question, otherwise the error for the
// client. refusal is the error if the user cannot be asked.
//
// The question is stored first, with all that it shows, and the client is one way to it: the first answer that counts
// decides. What a client does without the user leaves the question open, and so does a call that ends before the
// answer: the same call finds it.
func (a *Approvals) Request(ctx context.Context, by Requester, q Question, refusal error) (Approval, error) {
	if by.Session != "" && a.standsFor(by.Session, q) {
		return Approval{}, nil
	}
	vault := sanitize.Line(cmp.Or(q.Vault, "the app's choice"))
	// A repeated question is recognised by the call, and by the change that it would make, which can be
	// spelled in more than one way.
	calls := []CallDigest{q.Call}
	if q.Change != "" {
		calls = append(calls, CallDigest(sha256.Sum256([]byte("change "+q.Change+q.Identity))))
	}
	if a.attention.isDeclined(by.Caller, calls...) {
		return Approval{}, declinedError(q.Command)
	}
	if q.Unshown != "" {
		return Approval{}, failure.New(failure.CodeUnconfirmed, "make it several calls that change less each",
			"command %q requires user approval, and the user cannot be shown all of it: %s", q.Command, q.Unshown)
	}
	given, pending, err := a.redeem(vault, q, by.Caller)
	if pending == nil || err != nil {
		return Approval{By: given}, err
	}
	asksOwner := by.Ask != nil && by.Owner
	if asksOwner || a.store == nil {
		return a.askOnce(ctx, by, q, calls, refusal)
	}
	left, err := a.leave(vault, q, by)
	var open *StillOpen
	switch {
	case errors.As(err, &open):
		return Approval{}, failure.New(
			failure.CodeUnconfirmed,
			`wait until the user has answered; the command approvals lists your questions, and withdraws those that are not needed`,
			"command %q requires user approval, and %v",
			q.Command,
			open,
		)
	case err != nil:
		return Approval{}, failure.New(
			failure.CodeUnconfirmed,
			failure.Of(refusal).Hint,
			"command %q: approval cannot be requested: %v",
			q.Command,
			err,
		)
	case pending.State != Pending && a.tell != nil:
		a.tell(q.told(by), a.linkTo(left)) // the owner may be anywhere
	}
	reply, dialog := a.askClient(ctx, by, q, left, calls)
	if reply == Later {
		return Approval{}, failure.New(
			failure.CodeUnconfirmed,
			"send the call again with the answer of the user",
			"command %q: the user is being asked",
			q.Command,
		)
	}
	given, pending, err = a.redeem(vault, q, by.Caller)
	switch {
	case pending == nil || err != nil:
		return Approval{Waited: true, By: given}, err
	case reply == Void:
		return Approval{}, failure.New(
			failure.CodeUnconfirmed,
			"send the call again, without an answer: the user is asked again",
			"command %q: the answer is not one to this call on the notes as they are, or comes too late",
			q.Command,
		)
	case pending.State == Unasked:
		return Approval{}, failure.New(
			failure.CodeUnconfirmed,
			"the same call asks the user again",
			"command %q: the question was withdrawn, or has expired",
			q.Command,
		)
	}
	return Approval{}, a.waits(q, left, dialog)
}

// askOnce asks the user about a question that no other way leads to.
func (a *Approvals) askOnce(
	ctx context.Context,
	by Requester,
	q Question,
	calls []CallDigest,
	refusal error,
) (Approval, error) {
	if by.Ask == nil {
		return Approval{}, refusal
	}
	end := a.attention.begin(by.Caller, calls)
	if end == nil {
		return Approval{}, refusal
	}
	q.Dialog = newDialog(ctx, by, q)
	reply := by.Ask(ctx, q)
	end(reply)
	switch reply {
	case Yes, YesHere:
		a.remember(by, q, reply)
		return Approval{Waited: true}, nil
	case No:
		return Approval{}, declinedError(q.Command)
	}
	return Approval{}, refusal
}

// remember keeps an approval for a folder.
func (a *Approvals) remember(by Requester, q Question, reply Reply) {
	isForFolder := reply == YesHere && q.Folder != ""
	if isForFolder && by.Session != "" && !q.Destructive {
		a.standing.grant(by.Session, q.Folder)
	}
}

// maxWait is how long a call waits for the answer to its question. Some clients end a call after 60 seconds.
const maxWait = 50 * time.Second

// errDecided is the cause with which a dialog ends about a question that was decided elsewhere.
var errDecided = errors.New("the question was decided elsewhere")

// askClient has the client ask the user about a question that is stored, if one of the ways that are open leads
// through it. What comes back is stored before it returns, and also what comes after that.
func (a *Approvals) askClient(
	ctx context.Context,
	by Requester,
	q Question,
	left StoredQuestion,
	calls []CallDigest,
) (Reply, *Dialog) {
	d := newDialog(ctx, by, q)
	d.Ref = left.Ref
	if by.Ask == nil || !d.Form && !d.Link {
		return NoWay, d
	}
	end := a.attention.begin(by.Caller, calls)
	if end == nil {
		return NoWay, d
	}
	open, decided := context.WithCancelCause(context.WithoutCancel(ctx))
	open, expire := context.WithDeadline(open, left.Expires)
	d.Open = open
	go func() {
		if a.answered(open, left.Ref) {
			decided(errDecided)
		}
	}()
	settle := func(reply Reply) {
		a.settle(by, q, left, reply)
		end(reply)
		expire()
		decided(nil)
	}
	d.Later = settle
	q.Dialog = d
	q.OnPage = func(kinds ...string) (Page, bool) {
		link := ""
		if d.Link {
			link = a.link(left.Ref, kinds...)
		}
		return Page{link, left.Ref}, link != ""
	}
	taken := by.Taken
	if taken.IsZero() {
		taken = time.Now()
	}
	during, stop := context.WithDeadline(ctx, taken.Add(maxWait))
	defer stop()
	defer context.AfterFunc(open, stop)()
	reply := by.Ask(during, q)
	if reply == Waiting {
		if d.Said() == "" {
			d.Say("the client still shows the question")
		}
		return reply, d
	}
	settle(reply)
	return reply, d
}

// settle stores what came of a dialog. An answer that was given elsewhere before counts.
func (a *Approvals) settle(by Requester, q Question, left StoredQuestion, reply Reply) {
	answer := a.store.Deny
	switch reply {
	case Yes, YesHere:
		answer = a.store.Approve
	case No:
	default:
		return
	}
	if _, err := answer(left.Code); err == nil {
		a.remember(by, q, reply)
	}
}

// waits returns the error of a call that waits for the user. It does not contain the code of the question: with it and
// a terminal an agent could approve.
func (a *Approvals) waits(q Question, left StoredQuestion, d *Dialog) error {
	waiting := &failure.Approval{
		ID:      left.ID(),
		Reason:  q.reason(),
		Ways:    []string{"terminal"},
		Expires: left.Expires.UTC().Truncate(time.Second),
	}
	if link := a.linkTo(left); link != "" {
		waiting.Ways = []string{"page", "terminal"}
		waiting.Link = link
	}
	what := ""
	if said := d.Said(); said != "" {
		what = "; " + said
		waiting.Reason += what
	}
	hint := `the user can approve it in a terminal, where "vaultwicket approvals" lists it; the command approvals with wait=50 waits for that; then send the same call again`
	if waiting.Link != "" {
		hint = `show the user the link in approval.link, or tell them of "vaultwicket approvals" in a terminal; the command approvals with wait=50 waits for the answer; then send the same call again`
	}
	return failure.New(failure.CodeUnconfirmed, hint, "command %q requires user approval, and waits for the owner%s", q.Command, what).
		Waiting(waiting)
}

// linkTo returns a link to a question, "" where no page is open, or the question is for the terminal alone.
func (a *Approvals) linkTo(q StoredQuestion) string {
	if q.Only == Terminal {
		return ""
	}
	return a.link(q.Ref, RemotePage, LocalPage)
}

// link returns the link to a question on a page of one of these kinds, "" if none can be opened.
func (a *Approvals) link(ref string, kinds ...string) string {
	if link := Link(a.state, ref, kinds...); link != "" {
		return link
	}
	if a.openPage == nil || !slices.Contains(kinds, LocalPage) {
		return ""
	}
	address := a.openPage()
	if address == "" {
		return ""
	}
	return address + LinkPath + ref
}

// CheckDeclined returns an error if the user recently declined one of the calls of a command. With
// answers the request has the answer to the question about the last of them, which is then closed.
func (a *Approvals) CheckDeclined(command, caller string, answers bool, calls ...CallDigest) error {
	if answers {
		a.attention.answered(caller, calls[len(calls)-1])
	}
	if a.attention.isDeclined(caller, calls...) {
		return declinedError(command)
	}
	return nil
}

// standsFor reports whether a yes for folders covers all that a call would change.
func (a *Approvals) standsFor(session string, q Question) bool {
	for _, f := range q.Files {
		for _, path := range f.Places() {
			if !a.standing.covers(session, path, q.Destructive) {
				return false
			}
		}
	}
	return len(q.Files) > 0 && q.Rest == Rest{}
}

// redeem takes an approval that was given outside of the client, and says where. Without one it
// returns the state of the question; an error is the answer to the call.
func (a *Approvals) redeem(vault string, q Question, caller string) (by string, pending *Ungranted, err error) {
	if a.store == nil {
		return "", &Ungranted{}, nil
	}
	granted, err := a.store.Redeem(vault, q.Digest, q.Call, caller)
	switch ungranted, without := errors.AsType[*Ungranted](err); {
	case err == nil:
		return granted.By, nil, nil
	case without && ungranted.State == Denied:
		return "", nil, declinedError(q.Command)
	case without && ungranted.State == Withdrawn:
		return "", nil, failure.New(failure.CodeUnconfirmed, "ask the user what they want instead; the same call is not asked about again for ten minutes", "command %q: the user withdrew the approval", q.Command).
			Declined()
	case without:
		return "", ungranted, nil
	}
	return "", nil, failure.New(
		failure.CodeUnconfirmed,
		`the user can look at them with "vaultwicket approvals"`,
		"command %q: the answers of the user cannot be read: %v",
		q.Command,
		err,
	)
}

// answered waits until a question that was left is no longer pending. It reports false if ctx ends
// before, or the questions cannot be read.
func (a *Approvals) answered(ctx context.Context, ref string) bool {
	for {
		list, _, err := a.store.List()
		i := slices.IndexFunc(list, func(q StoredQuestion) bool { return q.Ref == ref })
		if err != nil || i < 0 || list[i].State != Pending {
			return err == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(lookAgain):
		}
	}
}

// lookAgain is the time between two looks for an answer on the page. The folder is small.
const lookAgain = 200 * time.Millisecond

// leave stores a question. The errors are those of [Store.Ask].
func (a *Approvals) leave(vault string, q Question, by Requester) (StoredQuestion, error) {
	only := ""
	if by.Ways == policy.AskTerminal {
		only = Terminal
	}
	effect := tiers.Writes
	if q.Destructive {
		effect = tiers.Destroys
	}
	return a.store.Ask(StoredQuestion{
		Session: by.Caller, Client: sanitize.Line(excerpt.Short(by.Client)), Vault: vault, Command: q.Command, Effect: effect.String(), Text: q.Text, Lines: q.Lines, Digest: q.Digest, Call: q.Call,
		Only: only, Typed: q.typed(), Offer: q.Offer,
	})
}

// Pages is the folder of the pages that are open, in the state folder: see [ownerfiles.RegisterServer].
func Pages(state string) string { return filepath.Join(state, "pages") }

const (
	// LocalPage and RemotePage are the transports of pages: of "vaultwicket ui", and of a server where
	// the owner signs in with a passkey.
	LocalPage  = "page"
	RemotePage = "sign-in"

	// LinkPath is followed by the name of a question, see [StoredQuestion.Ref], in links to a page. A
	// link gives no right: the page shows it to a browser that is signed in, and to no other.
	LinkPath = "/question/"
)

// Link returns the link to a question on the page that was opened last, of the first of these kinds
// of which one is open; "" if none is.
func Link(state, ref string, kinds ...string) string {
	pages, _ := ownerfiles.Servers(Pages(state)) // what cannot be read is none
	for _, kind := range kinds {
		for _, p := range pages {
			if p.Transport == kind && p.URL != "" {
				return p.URL + LinkPath + ref
			}
		}
	}
	return ""
}

// Waiting returns the questions of a caller that wait for the user, the oldest first.
func (a *Approvals) Waiting(caller string) (list []StoredQuestion, err error) {
	if a.store == nil {
		return nil, nil
	}
	all, _, err := a.store.List()
	for _, q := range all {
		if q.Session == caller && q.State == Pending {
			list = append(list, q)
		}
	}
	return list, err
}

// Decided waits until one of the questions of a caller that wait for the user does not any more, or ctx ends. It returns
// all that are decided: a repeated call finds its answer.
func (a *Approvals) Decided(ctx context.Context, caller string) (list []StoredQuestion, err error) {
	waiting, err := a.Waiting(caller)
	for err == nil && len(waiting) > 0 {
		now, failed := a.Waiting(caller)
		isOver := slices.ContainsFunc(waiting, func(q StoredQuestion) bool {
			return !slices.ContainsFunc(now, func(other StoredQuestion) bool { return other.Code == q.Code })
		})
		if err = failed; isOver || ctx.Err() != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookAgain):
		}
	}
	if err != nil || a.store == nil {
		return nil, err
	}
	all, _, err := a.store.List()
	for _, q := range all {
		if q.Session == caller && q.State != Pending {
			list = append(list, q)
		}
	}
	return list, err
}

// Withdraw takes back a question of a caller that waits for the user.
func (a *Approvals) Withdraw(q StoredQuestion) error { return a.store.Withdraw(q) }

// Void takes back everything that an agent was allowed, and its questions: an agent that was revoked
// and has rights again begins anew.
func (a *Approvals) Void(agent string) {
	a.standing.mu.Lock()
	clear(a.standing.until)
	a.standing.mu.Unlock()
	if a.store == nil {
		return
	}
	all, _, _ := a.store.List()
	for _, q := range all {
		if ownerfiles.AgentOf(q.Session) == agent && q.State != Denied {
			_ = a.store.withContent(func(content) error { return a.store.remove(q) })
		}
	}
}

// Answer is what the user has decided about a question that they were shown.
type Answer struct {
	Code    string // of the question
	Approve bool   // false denies
	By      string // where they were shown it: "terminal", "page" or "sign-in"
	Session string // of the process that shows it
	Typed   string // what they have typed to approve it, see [StoredQuestion]
}

// decisions are the states that a decision of the user leads to, as the log names them.
var decisions = map[State]string{Approved: "approve", Denied: "deny", Withdrawn: "withdraw"}

// Decide stores an answer in the state folder, for the call that waits for it, and notes it
// in the audit log. To deny what was approved withdraws the approval, until it is used. The errors are
// those of [Store.Approve].
func Decide(state string, a Answer) (StoredQuestion, error) {
	store := OpenStore(Folder(state), time.Now)
	store.by = a.By
	wanted := Denied
	if a.Approve {
		wanted = Approved
	}
	q, err := store.answer(a.Code, wanted, a.Typed)
	if answered, ok := errors.AsType[*Answered](err); ok && answered.State == Approved && !a.Approve {
		q, err = store.TakeBack(a.Code) // until it is used
	}
	if err != nil {
		return q, err
	}
	decision := decisions[q.State]
	// The answer counts without the line: the call is not carried out unless its own lines, which
	// say where it was approved, can be written.
	_ = audit.OpenLogs(state).WriteLasting(audit.Line{
		Kind: "approval", Decision: decision, By: a.By, Session: a.Session, Agent: sanitize.Line(ownerfiles.AgentOf(q.Session)), Client: sanitize.Line(q.Client),
		Vault: sanitize.Line(q.Vault), Command: sanitize.Line(q.Command), Effect: sanitize.Line(q.Effect),
	}, audit.Durable)
	return q, nil
}

// Reply is what came of a question.
type Reply uint8

const (
	// NoWay is the zero value: the person cannot be asked in this way.
	NoWay Reply = iota
	// No: the user declined.
	No
	// Later: the person is being asked, and the caller sends the call again with the answer.
	Later
	// Yes to this call.
	Yes
	// YesHere to this call, and to those that change notes in the same folder
	// until the session ends, but for destructive ones.
	YesHere
	// Left: the client has closed the question, or answered it with something that no user has chosen. The dialog
	// says what it was, see [Dialog.Say].
	Left
	// Void: what came is no answer to this question, so the user has not declined.
	Void
	// Opened: the client has opened the question on a page, and the answer is there, if there is one yet.
	Opened
	// Waiting: the call ends before the answer. What comes then is passed to [Dialog.Later].
	Waiting
)

// Asker asks a person and waits for the answer, no longer than ctx lasts. A client is asked in the ways of q.Dialog.
type Asker func(ctx context.Context, q Question) Reply

// Dialog is how a client may ask the user.
type Dialog struct {
	Form, Link bool   // a form, a link to a page
	Ref        string // that of the stored question, "" where it is not stored
	// MinAnswer is how long a client has had a form at least when an answer comes that counts.
	MinAnswer time.Duration
	// Open ends when nobody has to answer any more, see [Dialog.IsDecided]. It outlasts the call.
	Open context.Context
	// Later takes what an Asker has returned [Waiting] for, once.
	Later func(Reply)

	mu   sync.Mutex
	said string
}

// newDialog returns the ways in which a client may ask about a question. What is destructive is not decided in a form,
// unless the user has chosen that: a program that answers in their place cannot be told from them.
func newDialog(ctx context.Context, by Requester, q Question) *Dialog {
	d := &Dialog{MinAnswer: by.MinAnswer, Open: ctx, Later: func(Reply) {}}
	switch by.Ways {
	case policy.AskClient:
		d.Form = true
		d.Link = true
	case policy.AskAuto:
		d.Form = !q.Destructive
		d.Link = true
	case policy.AskPage:
		d.Link = true
	}
	return d
}

// Say notes what became of a dialog, for the agent.
func (d *Dialog) Say(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.said = fmt.Sprintf(format, args...)
}

// Said returns what was noted last, "" for nothing.
func (d *Dialog) Said() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.said
}

// IsDecided reports whether the question was answered elsewhere.
func (d *Dialog) IsDecided() bool { return context.Cause(d.Open) == errDecided }

// Why the state of a question approves nothing. Callers are only told that it does not.
var (
	errForged    = errors.New("the state of the question was not made by this server")
	errChanged   = errors.New("the state of the question was changed, or was made by another run of the server")
	errOtherCall = errors.New("the state of the question was made for another call, vault or caller")
	errExpired   = errors.New("the state of the question has expired")
	errUsed      = errors.New("the state of the question was used before")
	errFull      = errors.New("the state of the question cannot be accepted: too many were used recently")
)

// Ungranted says that a call was not approved.
type Ungranted struct {
	State    State  // Pending, Denied or Unasked
	Question string // its code, "" if Unasked
}

func (e *Ungranted) Error() string {
	if e.State == Unasked {
		return "no approval was requested for this call in this session"
	}
	return fmt.Sprintf("approval %s is %s", e.Question, e.State)
}

// Unknown says that there is no question with a code; it may have expired, or
// its answer may have been used.
type Unknown struct{ What string } // the code as it was given

func (e *Unknown) Error() string { return fmt.Sprintf("no approval has the code %.40q", e.What) }

// Answered says that a question has its answer.
type Answered struct {
	Question string // its code
	State    State  // that it has: Approved, Denied or Withdrawn, or Pending for one that cannot be taken back
}

func (e *Answered) Error() string {
	return fmt.Sprintf("approval %s was already answered: %s", e.Question, e.State)
}

// Elsewhere says that a question is not approved in this way.
type Elsewhere struct{ Question, Reason string } // its code, and which way it is

func (e *Elsewhere) Error() string { return fmt.Sprintf("approval %s: %s", e.Question, e.Reason) }

// StillOpen says that an agent has as many questions that were not answered yet as it may.
type StillOpen struct{ Questions int }

func (e *StillOpen) Error() string {
	return fmt.Sprintf("%d approvals of this session are still pending", e.Questions)
}

// errTooMany says that there is no room for one more question.
var errTooMany = fmt.Errorf("limit of %d questions reached", maxPending)

// Invalid says that a caller gave what cannot be asked.
type Invalid struct{ Field, Reason string }

func (e *Invalid) Error() string { return fmt.Sprintf("approval: %s %s", e.Field, e.Reason) }

// Damaged says that a file is not what was written. It counts as no answer, and
// is left where it is.
type Damaged struct{ Name, Reason string }

func (e *Damaged) Error() string { return fmt.Sprintf("question file %q: %s", e.Name, e.Reason) }

// Unusable says that the folder cannot be written or read, or its lock is held.
type Unusable = ownerfiles.Unusable

var store = ownerfiles.Store{Name: "approvals", Code: "approvals"}

func unusable(path string, err error) error { return store.Unusable(path, err) }
