package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"vaultwicket/gateway/clean"
	"vaultwicket/gateway/state/approvals"
)

// Question is what a person is asked before a call.
type Question struct {
	Vault, Command string
	// Path is the note or file that the call is about, "" if it is not known.
	Path string
	// Folder holds all that the call would change, and [YesHere] is a yes to it.
	// It is "" where there is no such folder, what would change is not known, or no
	// session of the caller's could end it.
	Folder string
	// Text is the whole question, fit to be shown: rows from notes begin with a
	// bar, so that nothing in them can pose as ours.
	Text string
	// Digest is that of the exact call, and of the notes as they were when it was
	// asked about. A yes is good for nothing else.
	Digest [sha256.Size]byte
	// Destructive says that the call removes, replaces or publishes: a yes to it
	// stands for no other call.
	Destructive bool
	Caller      string

	files []PlannedFile // that the call would change, as far as is known
	// identity is that of the vault, call that of the call in it.
	identity string
	call     callDigest
	// change is the digest of the change, "" where the embedded program does not
	// know it. Then spelled are the hashes of the notes that the call names.
	change  string
	spelled map[string]string
}

// binding is what a call must still be when it is carried out, for an approval to
// be one of it. The zero value is any call.
type binding struct {
	change  string
	spelled map[string]string
}

func (q Question) binding() binding { return binding{q.change, q.spelled} }

// calls are what a question is recognised by when it is asked again: the call, and
// the change that it would make, which can be spelled in more than one way.
func (q Question) calls() []callDigest {
	if q.change == "" {
		return []callDigest{q.call}
	}
	return []callDigest{q.call, callDigest(sha256.Sum256([]byte("change " + q.change + q.identity)))}
}

// Reply is what came of a question.
type Reply uint8

const (
	// NoWay is the zero value: the person cannot be asked in this way.
	NoWay Reply = iota
	// No: the person declined, or did not answer, or the answer was none.
	No
	// Later: the person is being asked, and the caller sends the call again with
	// the answer.
	Later
	// Yes to this call.
	Yes
	// YesHere to this call, and to those that change notes in the same folder
	// until the session ends, but for destructive ones.
	YesHere
	// Void: what came is no answer to this question, so the user has not declined.
	Void
)

// Asker asks a person and waits for the answer, no longer than ctx lasts.
type Asker func(ctx context.Context, q Question) Reply

// ApprovalsFolder returns where questions wait in the state folder for a person
// who answers them in a terminal.
func ApprovalsFolder(state string) string { return filepath.Join(state, "approvals") }

// consent is how a person is asked.
type consent struct {
	desk      *approvals.Desk // nil where there is no place for it
	standing  *approvals.Standing
	attention *attention
}

func newConsent(state string) *consent {
	c := &consent{standing: approvals.NewStanding(time.Now), attention: newAttention(time.Now)}
	if state != "" {
		c.desk = approvals.Open(ApprovalsFolder(state), time.Now)
	}
	return c
}

// standingYes is how long a yes for a folder lasts at most, should the session.
const standingYes = 8 * time.Hour

// approved says how a call that needs approval may be carried out: by a question
// that the user said yes to. The zero value asks.
type approved struct {
	question *Question
	// inBatch says that the user was asked about the whole batch: what they were
	// not shown there is not asked about in the midst of it.
	inBatch bool
	// takesBack is for undoing what an operation of the batch has just done.
	takesBack bool
}

// plan returns a plan as it may be carried out.
func (by approved) plan(p Plan) (Plan, error) {
	if by.takesBack {
		return p.agreed(Question{})
	}
	return p.agreed(*by.question)
}

// agree asks a person about a plan that only they can allow. It returns the plan
// as it may be carried out, or why it may not.
func (g *door) agree(ctx context.Context, req Request, plan Plan, refusal error) (Plan, error) {
	if req.Answers {
		g.consent.attention.answered(g.callerOf(req), g.digestOfCall(plan))
	}
	if g.consent.attention.isDeclined(g.callerOf(req), g.digestOfCall(plan)) {
		return plan, declinedError(plan.call.Name())
	}
	q, err := g.question(ctx, req, plan, maxShownBytes)
	if err != nil {
		return plan, err
	}
	thought, err := g.ask(ctx, req, q, refusal)
	if err != nil {
		return plan, err
	}
	if thought {
		if plan, err = g.asBefore(ctx, req, q); err != nil {
			return plan, err
		}
	}
	return plan.agreed(q)
}

// asBefore plans once more what a person said yes to. They may have thought about
// it for minutes, in which somebody can have closed what was open, and notes can
// have become others than the person was shown.
func (g *door) asBefore(ctx context.Context, req Request, q Question) (Plan, error) {
	if err := g.admission.open(); err != nil {
		return Plan{}, err
	}
	plan, err := g.Plan(req)
	plan, err = g.foresee(ctx, req, plan, err)
	if err != nil && !asks(err) {
		return plan, err
	}
	again, err := g.question(ctx, req, plan, maxShownBytes)
	if err != nil {
		return plan, err
	}
	return plan, q.sameAs(again)
}

// sameAs returns an error unless a yes to q is one to again.
func (q Question) sameAs(again Question) error {
	if q.Digest == again.Digest {
		return nil
	}
	return changedSince(q.Command)
}

// changedSince says that a call is not carried out because notes are others than
// the user was shown.
func changedSince(command string) error {
	return refuse(codeConflict, "read the notes again; the same call asks the user again, with the notes as they are now",
		"command %q: notes were changed after the user was asked", command)
}

// agreed returns a plan to which a person said yes: for the change that q has
// shown, and for no other.
func (p Plan) agreed(q Question) (Plan, error) {
	p.routes = slices.Clone(p.routes)
	for i, r := range p.routes {
		r.agreed, r.shown = true, q.binding()
		var err error
		if p.routes[i], err = r.permitted(); err != nil {
			return p, err
		}
	}
	p.refusal = nil
	return p, nil
}

// ask returns nil if a person said yes, else the error for the caller. thought says
// that the yes was waited for.
func (g *door) ask(ctx context.Context, req Request, q Question, refusal error) (thought bool, err error) {
	standing := g.identity() + "\x00" + req.Caller
	if req.OneSession && g.standsFor(standing, q) {
		return false, nil
	}
	vault, caller := clean.Line(cmp.Or(q.Vault, "the app's choice")), g.callerOf(req)
	if g.consent.attention.isDeclined(caller, q.calls()...) {
		return false, declinedError(q.Command)
	}
	pending, err := g.redeem(vault, q, caller)
	if pending == nil || err != nil {
		return false, err
	}
	reply := NoWay
	if req.Ask != nil {
		end, ok := g.consent.attention.begin(caller, q.calls())
		if !ok {
			return false, anotherIsOpen(q)
		}
		defer func() { end(reply) }()
		reply = req.Ask(ctx, q)
	}
	switch reply {
	case YesHere:
		if req.OneSession && !q.Destructive && q.Folder != "" {
			_ = g.consent.standing.Grant(standing, q.Folder, time.Now().Add(standingYes)) // a yes to this call it is anyway
		}
		return true, nil
	case Yes:
		return true, nil
	case No:
		return false, declinedError(q.Command)
	case Later:
		return false, refuse(codeUnconfirmed, "send the call again with the answer of the user", "command %q: the user is being asked", q.Command)
	case Void:
		return false, refuse(codeUnconfirmed, "send the call again, without an answer: the user is asked again", "command %q: the answer is not one to this call on the notes as they are, or comes too late", q.Command)
	}
	if pending.State == approvals.Pending {
		return false, waiting(q)
	}
	return false, g.leaveQuestion(vault, q, caller, req, refusal)
}

// callerOf names who asks, also for the journal: the caller, or this process where
// that has only one.
func (g *door) callerOf(req Request) string { return cmp.Or(req.Caller, g.session, "gateway") }

// standsFor reports whether a yes for folders covers all that a call would change.
func (g *door) standsFor(standing string, q Question) bool {
	for _, f := range q.files {
		for _, path := range f.places() {
			if !g.consent.standing.Covers(standing, path, q.Destructive) {
				return false
			}
		}
	}
	return len(q.files) > 0
}

// identity tells the vault from every other one, also from one of the same name.
func (g *door) identity() string {
	at := g.target()
	if at.folder == "" {
		return "app:" + at.app
	}
	return "folder:" + g.home()
}

// redeem takes a yes that was given in a terminal. Without one it says what
// became of the question; an error is the answer to the call.
func (g *door) redeem(vault string, q Question, caller string) (*approvals.Ungranted, error) {
	if g.consent.desk == nil {
		return &approvals.Ungranted{}, nil
	}
	held, err := g.consent.desk.Held(vault, approvals.Digest(q.call), caller)
	switch {
	case err != nil:
		return nil, unreadable(q, err)
	case held == approvals.Denied: // also where an earlier yes was not used
		return nil, declinedError(q.Command)
	}
	grant, err := g.consent.desk.Redeem(vault, q.Digest, caller)
	var ungranted *approvals.Ungranted
	switch {
	case err == nil && grant.Valid():
		return nil, nil
	case !errors.As(err, &ungranted):
		return nil, unreadable(q, err)
	case ungranted.State == approvals.Denied:
		return nil, declinedError(q.Command)
	case ungranted.State != approvals.Pending && held == approvals.Pending:
		return nil, anotherIsOpen(q)
	}
	return ungranted, nil
}

func unreadable(q Question, err error) error {
	return refuse(codeUnconfirmed, `the user can look at them with "vaultwicket approvals"`, "command %q: the answers of the user cannot be read: %v", q.Command, err)
}

// leaveQuestion puts a question where a person finds it in a terminal.
func (g *door) leaveQuestion(vault string, q Question, caller string, req Request, refusal error) error {
	if g.consent.desk == nil {
		return refusal
	}
	_, err := g.consent.desk.Ask(approvals.Question{
		Session: caller, Client: clean.Line(clip(req.Client)), Vault: vault, Command: q.Command, Text: q.Text, Digest: q.Digest, Call: approvals.Digest(q.call),
	})
	var open *approvals.StillOpen
	switch {
	case errors.As(err, &open):
		return anotherIsOpen(q)
	case err != nil:
		return refuse(codeUnconfirmed, errorOf(refusal).Hint, "command %q: nobody can be asked: %v", q.Command, err)
	}
	return waiting(q)
}

// waiting tells a caller that the user has to answer in a terminal. It does not
// tell the code of the question: who has it and a terminal can say yes.
func waiting(q Question) error {
	return refuse(codeUnconfirmed, `the user can list what waits for approval with "vaultwicket approvals" in a terminal, and approve it there; then send the same call again`,
		"command %q requires user approval", q.Command)
}

func anotherIsOpen(q Question) error {
	return refuse(codeUnconfirmed, `wait until the user has answered; "vaultwicket approvals" shows them what waits in a terminal`,
		"command %q requires user approval, and another question of this session is still open", q.Command)
}
