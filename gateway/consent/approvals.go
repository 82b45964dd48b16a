// Package consent asks the user to approve calls. It decides what the user is shown and how they
// are asked, and keeps the pending questions, the declined calls and the approvals.
//
// An approval is bound by a digest to the exact call, its caller, and the notes as the user was
// shown them; it expires and is valid for one call. Anything else is refused. There are three
// kinds. A [Sealer] makes the state that travels through a client which can ask the user itself,
// and returns with the answer. A [Store] keeps questions in a folder for clients that cannot ask;
// the user answers them in a terminal, outside the model's reach. An approval for one session and
// one folder is in memory only, and never covers a destructive call.
//
// [Grants] answer questions in advance, and [Proposals] are batches of changes that wait for the
// owner. A [Notifier] tells the owner about pending questions.
//
// The package protects against clients and models, but not against another program of the same
// user that writes to the folder: it could just as well change the vault itself.
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

// Terminal is the caller of calls that the owner makes at a terminal.
const Terminal = "terminal"

// Folder returns the folder of pending questions in the state folder.
func Folder(state string) string { return filepath.Join(state, "approvals") }

// Approvals asks the user to approve calls, and remembers what they approved and declined.
type Approvals struct {
	store     *Store // nil without a state folder
	standing  *standing
	attention *attention
	tell      func(text, link string) // nil tells no one
	openPage  func() string           // see [Approvals.ShowOn]; nil if there is no such page
	state     string                  // the state folder, "" for none
}

// Requester is the caller that needs an approval.
type Requester struct {
	// Caller identifies the caller, which has at most one open dialog, and whose declined calls are remembered.
	// Client is the name that the client gives itself.
	Caller, Client string
	// Session is one session of one client in one vault, "" for anything else. An
	// approval for a folder is good for the session.
	Session string
	// Ask asks the user directly; nil if that is not possible. Owner is set if it asks the user themselves, at the
	// terminal or on the page, and not through a client.
	Ask   Asker
	Owner bool
	// Ways are the ways in which questions reach the user. MinAnswer is the minimum time a client must take for an
	// answer to count, see [policy.Policy].
	Ways      policy.Asking
	MinAnswer time.Duration
	// Taken is the time at which the call was received; it waits at most [maxWait] from then. Zero means now.
	Taken time.Time
}

// New returns the approvals of a state folder. Without one (""), the user can only be asked through
// the client. tell is called for each question that is left for the user, with a text that names no
// notes, and a link to the question on the local page ("" if none is open). It must not block.
func New(state string, tell func(text, link string)) *Approvals {
	a := &Approvals{standing: newStanding(time.Now), tell: tell, state: state}
	a.attention = &attention{
		now:      time.Now,
		open:     map[string]openQuestion{},
		declined: map[callKey]time.Time{},
		closed:   map[callKey]time.Time{},
	}
	if state != "" {
		a.store = OpenStore(Folder(state), time.Now)
	}
	return a
}

// ShowOn makes links lead to a page of this process if no other page is open. open opens this page, unless it is
// already open, and returns its address, or "" if that is not possible. Call ShowOn before the first request.
func (a *Approvals) ShowOn(open func() string) { a.openPage = open }

// declinedError returns the error of a call that the user declined.
func declinedError(command string) error {
	return failure.New(failure.CodeUnconfirmed, "ask the user what they want instead; the same call is not asked about again for ten minutes", "command %q: the user declined", command).
		Declined()
}

// Approval describes how the user approved a call.
type Approval struct {
	// Waited is set if the call waited for the approval, and so must be planned again.
	Waited bool
	// By is where the approval was given, such as "terminal" or "page"; "" for the client and for
	// an earlier approval of the folder.
	By string
}

// Request asks the user to approve the call of a question. It returns how they approved it, or the
// error for the client. refusal is the error if the user cannot be asked.
//
// The question is stored first, with all its lines; the client is one way to answer it, and the first valid answer
// decides. If the client closes the question without the user, or the call ends before the answer, the question stays
// open: the same call finds it again.
func (a *Approvals) Request(ctx context.Context, requester Requester, q Question, refusal error) (Approval, error) {
	if requester.Session != "" && a.isCovered(requester.Session, q) {
		return Approval{}, nil
	}
	vault := sanitize.Line(cmp.Or(q.Vault, "the app's choice"))
	// A repeated question is recognised by the call, or by the change that it would make, which can be
	// requested in more than one way.
	calls := []CallDigest{q.Call}
	if q.Change != "" {
		calls = append(calls, CallDigest(sha256.Sum256([]byte("change "+q.Change+q.Identity))))
	}
	if a.attention.isDeclined(requester.Caller, calls...) {
		return Approval{}, declinedError(q.Command)
	}
	if q.Unshown != "" {
		return Approval{}, failure.New(failure.CodeUnconfirmed, "make it several calls that change less each",
			"command %q requires user approval, and the user cannot be shown all of it: %s", q.Command, q.Unshown)
	}
	approvedAt, ungranted, err := a.redeem(vault, q, requester.Caller)
	if ungranted == nil || err != nil {
		return Approval{By: approvedAt}, err
	}
	asksOwner := requester.Ask != nil && requester.Owner
	if asksOwner || a.store == nil {
		return a.askOnce(ctx, requester, q, calls, refusal)
	}
	stored, err := a.leave(vault, q, requester)
	var stillOpen *StillOpen
	switch {
	case errors.As(err, &stillOpen):
		return Approval{}, failure.New(
			failure.CodeUnconfirmed,
			`wait until the user has answered; the command approvals lists your questions, and withdraws those that are not needed`,
			"command %q requires user approval, and %v",
			q.Command,
			stillOpen,
		)
	case err != nil:
		return Approval{}, failure.New(
			failure.CodeUnconfirmed,
			failure.Of(refusal).Hint,
			"command %q: approval cannot be requested: %v",
			q.Command,
			err,
		)
	case ungranted.State != Pending && a.tell != nil:
		a.tell(q.messageFor(requester), a.linkTo(stored)) // the owner may be anywhere
	}
	reply, dialog := a.askClient(ctx, requester, q, stored, calls)
	if reply == Later {
		return Approval{}, failure.New(
			failure.CodeUnconfirmed,
			"send the call again with the answer of the user",
			"command %q: the user is being asked",
			q.Command,
		)
	}
	if ctx.Err() != nil {
		// An approval that was given meanwhile is left for the same call when it is sent again.
		return Approval{}, a.waitingError(q, stored, dialog)
	}
	approvedAt, ungranted, err = a.redeem(vault, q, requester.Caller)
	switch {
	case ungranted == nil || err != nil:
		return Approval{Waited: true, By: approvedAt}, err
	case reply == Void:
		return Approval{}, failure.New(
			failure.CodeUnconfirmed,
			"send the call again, without an answer: the user is asked again",
			"command %q: the answer is not one to this call on the notes as they are, or comes too late",
			q.Command,
		)
	case ungranted.State == Unasked:
		return Approval{}, failure.New(
			failure.CodeUnconfirmed,
			"the same call asks the user again",
			"command %q: the question was withdrawn, or has expired",
			q.Command,
		)
	}
	return Approval{}, a.waitingError(q, stored, dialog)
}

// askOnce asks the user about a question that is not stored, so that they can only answer it now.
func (a *Approvals) askOnce(
	ctx context.Context,
	requester Requester,
	q Question,
	calls []CallDigest,
	refusal error,
) (Approval, error) {
	if requester.Ask == nil {
		return Approval{}, refusal
	}
	end := a.attention.begin(requester.Caller, calls)
	if end == nil {
		return Approval{}, refusal
	}
	q.Dialog = newDialog(ctx, requester, q)
	reply := requester.Ask(ctx, q)
	end(reply)
	switch reply {
	case Yes, YesHere:
		a.remember(requester, q, reply)
		return Approval{Waited: true}, nil
	case No:
		return Approval{}, declinedError(q.Command)
	}
	return Approval{}, refusal
}

// remember keeps an approval for a folder.
func (a *Approvals) remember(requester Requester, q Question, reply Reply) {
	isForFolder := reply == YesHere && q.Folder != ""
	if isForFolder && requester.Session != "" && !q.Destructive {
		a.standing.grant(requester.Session, q.Folder)
	}
}

// maxWait is the longest time that a call waits for the answer to its question. Some clients end a call after
// 60 seconds.
const maxWait = 50 * time.Second

// errDecided is the cause with which a dialog ends if its question was decided elsewhere.
var errDecided = errors.New("the question was decided elsewhere")

// askClient makes the client ask the user about a stored question, if the allowed ways include the client. The reply is
// stored before askClient returns; a reply that comes later is stored, too.
func (a *Approvals) askClient(
	ctx context.Context,
	requester Requester,
	q Question,
	stored StoredQuestion,
	calls []CallDigest,
) (Reply, *Dialog) {
	d := newDialog(ctx, requester, q)
	d.Ref = stored.Ref
	if requester.Ask == nil || !d.Form && !d.Link {
		return NoWay, d
	}
	end := a.attention.begin(requester.Caller, calls)
	if end == nil {
		return NoWay, d
	}
	open, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	open, expire := context.WithDeadline(open, stored.Expires)
	d.Open = open
	go func() {
		if a.waitForAnswer(open, stored.Ref) {
			cancel(errDecided)
		}
	}()
	settle := func(reply Reply) {
		a.settle(requester, q, stored, reply)
		end(reply)
		expire()
		cancel(nil)
	}
	d.Later = settle
	q.Dialog = d
	q.OnPage = func(kinds ...string) (Page, bool) {
		link := ""
		if d.Link {
			link = a.link(stored.Ref, kinds...)
		}
		return Page{link, stored.Ref}, link != ""
	}
	received := requester.Taken
	if received.IsZero() {
		received = time.Now()
	}
	askCtx, stop := context.WithDeadline(ctx, received.Add(maxWait))
	defer stop()
	defer context.AfterFunc(open, stop)()
	reply := requester.Ask(askCtx, q)
	if reply == Waiting {
		if d.Said() == "" {
			d.Say("the client still shows the question")
		}
		return reply, d
	}
	settle(reply)
	return reply, d
}

// settle stores the reply of a dialog, unless the question was already answered elsewhere.
func (a *Approvals) settle(requester Requester, q Question, stored StoredQuestion, reply Reply) {
	answer := a.store.Deny
	switch reply {
	case Yes, YesHere:
		answer = a.store.Approve
	case No:
	default:
		return
	}
	if _, err := answer(stored.Code); err == nil {
		a.remember(requester, q, reply)
	}
}

// waitingError returns the error of a call that waits for the user. It does not contain the code of the question: with
// the code and a terminal, an agent could approve it.
func (a *Approvals) waitingError(q Question, stored StoredQuestion, d *Dialog) error {
	waiting := &failure.Approval{
		ID:      stored.ID(),
		Reason:  q.reason(),
		Ways:    []string{"terminal"},
		Expires: stored.Expires.UTC().Truncate(time.Second),
	}
	if link := a.linkTo(stored); link != "" {
		waiting.Ways = []string{"page", "terminal"}
		waiting.Link = link
	}
	detail := ""
	if said := d.Said(); said != "" {
		detail = "; " + said
		waiting.Reason += detail
	}
	hint := `the user can approve it in a terminal, where "vaultwicket approvals" lists it; the command approvals with wait=50 waits for that; then send the same call again`
	if waiting.Link != "" {
		hint = `show the user the link in approval.link, or tell them of "vaultwicket approvals" in a terminal; the command approvals with wait=50 waits for the answer; then send the same call again`
	}
	return failure.New(failure.CodeUnconfirmed, hint, "command %q requires user approval, and waits for the owner%s", q.Command, detail).
		Waiting(waiting)
}

// linkTo returns a link to a question, or "" if no page is open or the question is only for the terminal.
func (a *Approvals) linkTo(q StoredQuestion) string {
	if q.Only == Terminal {
		return ""
	}
	return a.link(q.Ref, RemotePage, LocalPage)
}

// link returns the link to a question on a page of one of these kinds, or "" if none can be opened.
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
// answers, the request carries the answer to the question about the last call, which is then closed.
func (a *Approvals) CheckDeclined(command, caller string, answers bool, calls ...CallDigest) error {
	if answers {
		a.attention.closeAnswered(caller, calls[len(calls)-1])
	}
	if a.attention.isDeclined(caller, calls...) {
		return declinedError(command)
	}
	return nil
}

// isCovered reports whether standing approvals for folders cover everything that a call would change.
func (a *Approvals) isCovered(session string, q Question) bool {
	for _, f := range q.Files {
		for _, path := range f.Places() {
			if !a.standing.covers(session, path, q.Destructive) {
				return false
			}
		}
	}
	return len(q.Files) > 0 && q.Rest == Rest{}
}

// redeem uses up an approval that was given outside of the client, and returns where it was given.
// Without an approval, it returns the state of the question. An error is the answer to the call.
func (a *Approvals) redeem(vault string, q Question, caller string) (by string, pending *Ungranted, err error) {
	if a.store == nil {
		return "", &Ungranted{}, nil
	}
	question, err := a.store.Redeem(vault, q.Digest, q.Call, caller)
	switch ungranted, isUngranted := errors.AsType[*Ungranted](err); {
	case err == nil:
		return question.By, nil, nil
	case isUngranted && ungranted.State == Denied:
		return "", nil, declinedError(q.Command)
	case isUngranted && ungranted.State == Withdrawn:
		return "", nil, failure.New(failure.CodeUnconfirmed, "ask the user what they want instead; the same call is not asked about again for ten minutes", "command %q: the user withdrew the approval", q.Command).
			Declined()
	case isUngranted:
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

// waitForAnswer waits until a stored question is no longer pending. It returns false if ctx ends
// first, or the questions cannot be read.
func (a *Approvals) waitForAnswer(ctx context.Context, ref string) bool {
	for {
		list, _, err := a.store.List()
		i := slices.IndexFunc(list, func(q StoredQuestion) bool { return q.Ref == ref })
		if err != nil || i < 0 || list[i].State != Pending {
			return err == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pollInterval):
		}
	}
}

// pollInterval is the time between two reads of the stored questions. The folder is small.
const pollInterval = 200 * time.Millisecond

// leave stores a question for the user. The errors are those of [Store.Ask].
func (a *Approvals) leave(vault string, q Question, requester Requester) (StoredQuestion, error) {
	only := ""
	if requester.Ways == policy.AskTerminal {
		only = Terminal
	}
	effect := tiers.Writes
	if q.Destructive {
		effect = tiers.Destroys
	}
	return a.store.Ask(StoredQuestion{
		Session: requester.Caller,
		Client:  sanitize.Line(excerpt.Short(requester.Client)),
		Vault:   vault,
		Command: q.Command,
		Effect:  effect.String(),
		Text:    q.Text,
		Lines:   q.Lines,
		Digest:  q.Digest,
		Call:    q.Call,
		Only:    only,
		Typed:   q.typed(),
		Offer:   q.Offer,
	})
}

// Pages returns the folder in the state folder that lists the open pages, see [ownerfiles.RegisterServer].
func Pages(state string) string { return filepath.Join(state, "pages") }

const (
	// LocalPage and RemotePage are the transports of pages: that of "vaultwicket ui", and that of a
	// server where the owner signs in with a passkey.
	LocalPage  = "page"
	RemotePage = "sign-in"

	// LinkPath precedes the reference of a question, see [StoredQuestion.Ref], in links to a page. A
	// link grants nothing: the page shows the question only to a browser that is signed in.
	LinkPath = "/question/"
)

// Link returns the link to a question on an open page of one of these kinds, preferring the first
// kind and the page that was opened last. It returns "" if no such page is open.
func Link(state, ref string, kinds ...string) string {
	pages, _ := ownerfiles.Servers(Pages(state)) // unreadable entries count as closed
	for _, kind := range kinds {
		for _, page := range pages {
			if page.Transport == kind && page.URL != "" {
				return page.URL + LinkPath + ref
			}
		}
	}
	return ""
}

// Waiting returns the pending questions of a caller, oldest first.
func (a *Approvals) Waiting(caller string) (list []StoredQuestion, err error) {
	if a.store == nil {
		return nil, nil
	}
	questions, _, err := a.store.List()
	for _, q := range questions {
		if q.Session == caller && q.State == Pending {
			list = append(list, q)
		}
	}
	return list, err
}

// Decided waits until one of the pending questions of a caller is decided, or ctx ends. It returns all decided questions
// of the caller, so that a repeated call finds its answer.
func (a *Approvals) Decided(ctx context.Context, caller string) (list []StoredQuestion, err error) {
	waiting, err := a.Waiting(caller)
	for err == nil && len(waiting) > 0 {
		var stillWaiting []StoredQuestion
		stillWaiting, err = a.Waiting(caller)
		isDecided := slices.ContainsFunc(waiting, func(q StoredQuestion) bool {
			return !slices.ContainsFunc(stillWaiting, func(other StoredQuestion) bool { return other.Code == q.Code })
		})
		if isDecided || ctx.Err() != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollInterval):
		}
	}
	if err != nil || a.store == nil {
		return nil, err
	}
	questions, _, err := a.store.List()
	for _, q := range questions {
		if q.Session == caller && q.State != Pending {
			list = append(list, q)
		}
	}
	return list, err
}

// Withdraw removes a pending question of a caller.
func (a *Approvals) Withdraw(q StoredQuestion) error { return a.store.Withdraw(q) }

// Void removes all approvals and questions of an agent, except for denials: an agent that was revoked and
// gets rights again starts over.
func (a *Approvals) Void(agent string) {
	a.standing.mu.Lock()
	clear(a.standing.until)
	a.standing.mu.Unlock()
	if a.store == nil {
		return
	}
	questions, _, _ := a.store.List()
	for _, q := range questions {
		if ownerfiles.AgentOf(q.Session) == agent && q.State != Denied {
			_ = a.store.withContent(func(content) error { return a.store.remove(q) })
		}
	}
}

// Answer is a decision of the user about a question that they were shown.
type Answer struct {
	Code    string // of the question
	Approve bool   // false denies
	By      string // where the question was shown: "terminal", "page" or "sign-in"
	Session string // of the process that showed it
	Typed   string // what the user typed to approve it, see [StoredQuestion]
}

// decisions maps the state after a decision of the user to its name in the audit log.
var decisions = map[State]string{Approved: "approve", Denied: "deny", Withdrawn: "withdraw"}

// Decide stores an answer in the state folder, for the call that waits for it, and records it in the
// audit log. Denying an approved question withdraws the approval if it has not been used. The errors
// are those of [Store.Approve].
func Decide(state string, a Answer) (StoredQuestion, error) {
	store := OpenStore(Folder(state), time.Now)
	store.by = a.By
	wanted := Denied
	if a.Approve {
		wanted = Approved
	}
	q, err := store.answer(a.Code, wanted, a.Typed)
	if answered, ok := errors.AsType[*Answered](err); ok && answered.State == Approved && !a.Approve {
		q, err = store.TakeBack(a.Code) // it fails if the approval was used
	}
	if err != nil {
		return q, err
	}
	decision := decisions[q.State]
	// The answer counts even if this line cannot be written: the call is not carried out unless its own
	// lines, which record where it was approved, can be.
	_ = audit.OpenLogs(state).WriteLasting(audit.Line{
		Kind:     "approval",
		Decision: decision,
		By:       a.By,
		Session:  a.Session,
		Agent:    sanitize.Line(ownerfiles.AgentOf(q.Session)),
		Client:   sanitize.Line(q.Client),
		Vault:    sanitize.Line(q.Vault),
		Command:  sanitize.Line(q.Command),
		Effect:   sanitize.Line(q.Effect),
	}, audit.Durable)
	return q, nil
}

// Reply is the outcome of asking a question.
type Reply uint8

const (
	// NoWay is the zero value: the user cannot be asked in this way.
	NoWay Reply = iota
	// No means that the user declined.
	No
	// Later means that the user is being asked, and the caller sends the call again with the answer.
	Later
	// Yes approves this call.
	Yes
	// YesHere approves this call and, until the session ends, all calls that change notes in the same
	// folder and are not destructive.
	YesHere
	// Left means that the client closed the question, or answered it with something that no user chose. [Dialog.Said]
	// tells which.
	Left
	// Void means that the reply was no answer to this question, so the user has not declined.
	Void
	// Opened means that the client opened the question on a page, where the user can answer it.
	Opened
	// Waiting means that the call ends before the answer. A later answer is passed to [Dialog.Later].
	Waiting
)

// Asker asks the user and waits for the answer until ctx ends. A client is asked in the ways of q.Dialog.
type Asker func(ctx context.Context, q Question) Reply

// Dialog describes how a client may ask the user.
type Dialog struct {
	Form, Link bool   // whether it may show a form, or a link to a page
	Ref        string // of the stored question, "" if it is not stored
	// MinAnswer is the minimum time that a form must have been open for its answer to count.
	MinAnswer time.Duration
	// Open ends when an answer is no longer needed, see [Dialog.IsDecided]. It outlives the call.
	Open context.Context
	// Later accepts the reply for which an Asker returned [Waiting], once.
	Later func(Reply)

	mu   sync.Mutex
	said string
}

// newDialog returns the ways in which a client may ask about a question. Destructive calls are not approved in a form
// unless the user has configured that, because a program that answers in their place cannot be told from them.
func newDialog(ctx context.Context, requester Requester, q Question) *Dialog {
	d := &Dialog{MinAnswer: requester.MinAnswer, Open: ctx, Later: func(Reply) {}}
	switch requester.Ways {
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

// Say sets the remark about the outcome of a dialog, for the agent.
func (d *Dialog) Say(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.said = fmt.Sprintf(format, args...)
}

// Said returns the last remark of [Dialog.Say], or "".
func (d *Dialog) Said() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.said
}

// IsDecided reports whether the question was answered elsewhere.
func (d *Dialog) IsDecided() bool { return context.Cause(d.Open) == errDecided }

// Reasons why the state of a question approves nothing. They are not reported to callers.
var (
	errForged    = errors.New("the state of the question was not made by this server")
	errChanged   = errors.New("the state of the question was changed, or was made by another run of the server")
	errOtherCall = errors.New("the state of the question was made for another call, vault or caller")
	errExpired   = errors.New("the state of the question has expired")
	errUsed      = errors.New("the state of the question was used before")
	errFull      = errors.New("the state of the question cannot be accepted: too many were used recently")
)

// Ungranted reports that a call was not approved.
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

// Unknown reports that no question has a code; it may have expired, or its answer may have been
// used.
type Unknown struct{ What string } // the code as it was given

func (e *Unknown) Error() string { return fmt.Sprintf("no approval has the code %.40q", e.What) }

// Answered reports that the state of a question does not allow an answer.
type Answered struct {
	Question string // its code
	State    State  // Approved, Denied or Withdrawn; Pending if there is no approval to take back
}

func (e *Answered) Error() string {
	return fmt.Sprintf("approval %s was already answered: %s", e.Question, e.State)
}

// Elsewhere reports that a question cannot be approved in this way.
type Elsewhere struct{ Question, Reason string } // its code, and how it can be approved

func (e *Elsewhere) Error() string { return fmt.Sprintf("approval %s: %s", e.Question, e.Reason) }

// StillOpen reports that an agent has the maximum number of pending questions.
type StillOpen struct{ Questions int }

func (e *StillOpen) Error() string {
	return fmt.Sprintf("%d approvals of this session are still pending", e.Questions)
}

// errTooMany reports that the folder is full.
var errTooMany = fmt.Errorf("limit of %d questions reached", maxPending)

// Invalid reports a field with which a question cannot be asked.
type Invalid struct{ Field, Reason string }

func (e *Invalid) Error() string { return fmt.Sprintf("approval: %s %s", e.Field, e.Reason) }

// Damaged reports a question file that was altered. It counts as no answer, and is left in place.
type Damaged struct{ Name, Reason string }

func (e *Damaged) Error() string { return fmt.Sprintf("question file %q: %s", e.Name, e.Reason) }

// Unusable reports that the folder cannot be written or read, or its lock is held.
type Unusable = ownerfiles.Unusable

var store = ownerfiles.Store{Name: "approvals", Code: "approvals"}

func unusable(path string, err error) error { return store.Unusable(path, err) }
