package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"vaultwicket/gateway/approvals"
	"vaultwicket/gateway/clean"
)

// Question is what a person is asked before a call.
type Question struct {
	Vault, Command string
	// Path is the note or file that the call is about, "" if it is not known.
	Path string
	// Folder holds all that the call would change, and [YesHere] is a yes to it.
	// It is "" where there is no such folder, or what would change is not known.
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

	files  []PlannedFile // that the call would change, as far as is known
	before string        // the hash of the note that it is about, "" if it is not known
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
)

// Asker asks a person and waits for the answer, no longer than ctx lasts.
type Asker func(ctx context.Context, q Question) Reply

// ApprovalsFolder returns where questions wait in the state folder for a person
// who answers them in a terminal.
func ApprovalsFolder(state string) string { return filepath.Join(state, "approvals") }

// consent is how a person is asked.
type consent struct {
	desk     *approvals.Desk // nil where there is no place for it
	standing *approvals.Standing
}

func newConsent(state string) *consent {
	c := &consent{standing: approvals.NewStanding(time.Now)}
	if state != "" {
		c.desk = approvals.Open(ApprovalsFolder(state), time.Now)
	}
	return c
}

// standingYes is how long a yes for a folder lasts at most, should the session.
const standingYes = 8 * time.Hour

// agree asks a person about a plan that only they can allow. It returns the plan
// as it may be carried out, or why it may not.
func (g *door) agree(ctx context.Context, req Request, plan Plan, refusal error) (Plan, error) {
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
	return plan.agreed(q.before)
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
	return refuse(codeUnconfirmed, "send the call again: the person has to see what it would do now", "command %q: notes were changed while the person was asked", q.Command)
}

// agreed returns a plan to which a person said yes. before is the hash that the
// note had when they were asked, "" if it is not known.
func (p Plan) agreed(before string) (Plan, error) {
	p.routes = slices.Clone(p.routes)
	for i := range p.routes {
		r := &p.routes[i]
		r.agreed = true
		var err error
		if r.permit, err = r.decide(r.call); err != nil {
			return p, err
		}
		if r.expect == "" {
			r.expect = before
		}
	}
	p.refusal = nil
	return p, nil
}

// ask returns nil if a person said yes, else the error for the caller. thought says
// that the yes was waited for.
func (g *door) ask(ctx context.Context, req Request, q Question, refusal error) (thought bool, err error) {
	standing := g.identity() + "\x00" + req.Caller
	if g.standsFor(standing, q) {
		return false, nil
	}
	vault := clean.Line(cmp.Or(q.Vault, "the app's choice"))
	caller := g.callerOf(req)
	pending, err := g.redeem(vault, q, caller)
	if pending == nil || err != nil {
		return false, err
	}
	reply := NoWay
	if req.Ask != nil {
		reply = req.Ask(ctx, q)
	}
	switch reply {
	case YesHere:
		if !q.Destructive && q.Folder != "" {
			_ = g.consent.standing.Grant(standing, q.Folder, time.Now().Add(standingYes)) // a yes to this call it is anyway
		}
		return true, nil
	case Yes:
		return true, nil
	case No:
		return false, refuse(codeUnconfirmed, "ask the person what they want instead", "command %q: the person did not say yes", q.Command)
	case Later:
		return false, refuse(codeUnconfirmed, "send the call again with the answer of the person", "command %q: the person is being asked", q.Command)
	}
	if pending.State == approvals.Pending {
		return false, waiting(q, pending.Question)
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
	folder, err := filepath.Abs(at.folder)
	if err != nil {
		return "folder:" + at.folder
	}
	return "folder:" + folder
}

// redeem takes a yes that was given in a terminal. Without one it says what
// became of the question; an error is the answer to the call.
func (g *door) redeem(vault string, q Question, caller string) (*approvals.Ungranted, error) {
	if g.consent.desk == nil {
		return &approvals.Ungranted{}, nil
	}
	grant, err := g.consent.desk.Redeem(vault, q.Digest, caller)
	var ungranted *approvals.Ungranted
	switch {
	case err == nil && grant.Valid():
		return nil, nil
	case errors.As(err, &ungranted) && ungranted.State == approvals.Denied:
		return nil, refuse(codeUnconfirmed, "ask the person what they want instead", "command %q: the person said no", q.Command)
	case errors.As(err, &ungranted):
		return ungranted, nil
	}
	return nil, refuse(codeUnconfirmed, `"vaultwicket approvals" says more`, "command %q: the answers of the person cannot be read: %v", q.Command, err)
}

// leaveQuestion puts a question where a person finds it in a terminal.
func (g *door) leaveQuestion(vault string, q Question, caller string, req Request, refusal error) error {
	if g.consent.desk == nil {
		return refusal
	}
	asked, err := g.consent.desk.Ask(approvals.Question{
		Session: caller, Client: clean.Line(clip(req.Client)), Vault: vault, Command: q.Command, Text: q.Text, Digest: q.Digest,
	})
	if err != nil {
		return refuse(codeUnconfirmed, errorOf(refusal).Hint, "command %q: nobody can be asked: %v", q.Command, err)
	}
	return waiting(q, asked.Code)
}

func waiting(q Question, code string) error {
	return refuse(codeUnconfirmed,
		fmt.Sprintf("a person can allow it in a terminal with \"vaultwicket approve %s\"; then send the same call again", code),
		"command %q needs the yes of a person", q.Command)
}
