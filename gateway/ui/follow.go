package ui

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// followed is a question that the page has seen, pending or answered. The page follows it to its outcome, because the
// file of the question is removed when its approval is used, withdrawn by the agent or expired.
type followed struct {
	card           // without the change; the last known state of the question
	gone time.Time // when its file was found missing, zero while it exists
	end  *ending   // the final outcome, nil before that
}

const (
	// endShown is how long the outcome of a question stays on the page.
	endShown = 10 * time.Minute
	// maxFollowed is the maximum number of followed questions: more than the folder can have.
	maxFollowed = 512
)

// follow updates the followed questions from those in the folder. It counts the changes that views must show in p.moves.
// The caller holds mu.
func (p *Page) follow(stored []consent.StoredQuestion) {
	now := p.Now()
	for _, q := range stored {
		i := slices.IndexFunc(p.followed, func(f *followed) bool { return f.Code == q.Code })
		switch {
		case i < 0:
			heading := p.cardOf(q)
			heading.Intro = nil
			heading.Files = nil
			p.followed = append(p.followed, &followed{card: heading})
			p.moves++
		case p.followed[i].State != q.State:
			p.followed[i].StoredQuestion = q
			p.moves++
		}
	}
	for _, f := range p.followed {
		isStored := slices.ContainsFunc(stored, func(q consent.StoredQuestion) bool { return q.Code == f.Code })
		if !isStored && f.gone.IsZero() {
			f.gone = now
			p.moves++
		}
	}
	p.followed = slices.DeleteFunc(p.followed, func(f *followed) bool {
		isTold := f.State == consent.Denied || f.State == consent.Withdrawn // it was shown while its file existed
		return !f.gone.IsZero() && (isTold || now.Sub(f.gone) >= endShown)
	})
	p.followed = p.followed[max(0, len(p.followed)-maxFollowed):]
}

// followsStored reports whether the file of any followed question exists.
func (p *Page) followsStored() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.followed, func(f *followed) bool { return f.gone.IsZero() })
}

// ending is the outcome of a question that no longer waits for the owner. State is approved until its call comes, and
// running until that ends; then done, failed or void (the call was refused). Otherwise it is denied, withdrawn (by the
// owner), recalled (by the agent), replaced (by a question about the changed notes), left (by a session that has ended),
// or unanswered or unused (both expired).
type ending struct {
	State string
	Text  string
	// Call is the most telling of the calls that used the answer, nil for none; Calls is their number.
	Call  *loggedCall
	Calls int
}

// IsDone reports whether everything that was approved was done.
func (e ending) IsDone() bool { return e.State == "done" }

// IsOpen reports whether the approval can be withdrawn.
func (e ending) IsOpen() bool { return e.State == "approved" }

// places describes where the owner answered, by [consent.Answer.By].
var places = map[string]string{
	Surface: "here", consent.Terminal: "in a terminal", consent.RemotePage: "with a passkey", "": "in the client",
}

// endingOf returns the outcome of a question. hasLeft reports whether a session cannot call again. The caller holds mu.
func (p *Page) endingOf(f *followed, hasLeft func(session string) bool) ending {
	if f.end != nil {
		return *f.end
	}
	calls := p.calls.Answered(f.ID(), f.Made)
	if len(calls) > 0 {
		end := endingOfCalls(calls)
		if end.State != "running" {
			f.end = &end
		}
		return end
	}
	isGone := !f.gone.IsZero()
	hasExpired := !p.Now().Before(f.Expires)
	place := cmp.Or(places[f.By], "on "+sanitize.Line(f.By))
	switch {
	case f.State == consent.Withdrawn:
		return ending{State: "withdrawn", Text: "Withdrawn. The call is not carried out."}
	case f.State == consent.Denied:
		return ending{State: "denied", Text: "Denied " + place + ". The call is not carried out."}
	case p.isReplaced(f):
		return ending{State: "replaced", Text: "Void: its notes were changed since, so the agent asked again."}
	case f.State == consent.Approved && hasExpired:
		return ending{State: "unused", Text: "Void: the agent did not repeat the call in time."}
	case f.State == consent.Approved && isGone:
		return ending{State: "running", Text: "The call has come, and has not ended."}
	case f.State == consent.Approved && hasLeft(f.Session):
		return ending{State: "left", Text: "Void: the session that asked has ended."}
	case f.State == consent.Approved:
		return ending{State: "approved", Text: "Approved " + place + ", for one call, on the notes as they were shown."}
	case hasExpired:
		return ending{State: "unanswered", Text: "Expired before it was answered."}
	}
	return ending{State: "recalled", Text: "Withdrawn by the agent."}
}

// isReplaced reports whether the agent asked again about the same call on changed notes.
func (p *Page) isReplaced(f *followed) bool {
	return slices.ContainsFunc(p.followed, func(other *followed) bool {
		isSameCall := f.Call != consent.CallDigest{} && other.Call == f.Call
		isSameCaller := other.Vault == f.Vault && other.Session == f.Session
		isNewer := other.Digest != f.Digest && other.Made.After(f.Made)
		return isSameCall && isSameCaller && isNewer
	})
}

// endingOfCalls returns the outcome of the calls that used an answer: one call, or the operations of a batch.
func endingOfCalls(calls []loggedCall) ending {
	counts := map[string]int{}
	firstWith := map[string]*loggedCall{} // by outcome
	for i, call := range calls {
		outcome := call.Outcome()
		if !call.Ended {
			outcome = "running"
		}
		counts[outcome]++
		if firstWith[outcome] == nil {
			firstWith[outcome] = &calls[i]
		}
	}
	n := len(calls)
	end := ending{Calls: n}
	done := counts["allowed"]
	switch {
	case counts["running"] > 0:
		end.State = "running"
		end.Call = firstWith["running"]
		end.Text = "The call has come, and has not ended."
	case done == n && n > 1:
		end.State = "done"
		end.Call = firstWith["allowed"]
		end.Text = "Done, all " + sanitize.Counted(n, "operation")
	case done == n:
		end.State = "done"
		end.Call = firstWith["allowed"]
		end.Text = "Done"
	case counts["denied"] == n:
		end.State = "void"
		end.Call = firstWith["denied"]
		end.Text = "Void: the call that came with the approval was refused (" + sanitize.Line(end.Call.Code) + ")"
	case n == 1:
		end.State = "failed"
		end.Call = &calls[0]
		end.Text = "The call failed (" + sanitize.Line(cmp.Or(end.Call.Code, end.Call.Outcome())) + ")"
	default:
		end.State = "failed"
		end.Call = cmp.Or(firstWith["failed"], firstWith["denied"], firstWith["skipped"], &calls[0])
		end.Text = fmt.Sprintf("Failed: %d of %s done", done, sanitize.Counted(n, "operation"))
		if end.Call.Code != "" {
			end.Text += " (" + sanitize.Line(end.Call.Code) + ")"
		}
	}
	return end
}

// answered is a question that no longer waits, with its outcome.
type answered struct {
	card
	End ending
}

// answered returns the questions that no longer wait for the owner, in the order in which they were asked.
func (p *Page) answered() (all []answered) {
	_, _ = p.calls.Update() // known calls can be shown even after an error
	servers, serversErr := ownerfiles.Servers(ownerfiles.ServersFolder(p.State))
	hasLeft := func(session string) bool { return serversErr == nil && hasEnded(session, servers) }
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.followed {
		if f.State == consent.Pending && f.gone.IsZero() {
			continue
		}
		shown := answered{f.card, p.endingOf(f, hasLeft)}
		shown.Left = countdown(f.Expires.Sub(p.Now()))
		all = append(all, shown)
	}
	return all
}
