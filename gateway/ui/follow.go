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

// followed is a question that the page has seen waiting or answered. It is followed to its end, which the folder of
// questions does not have: a file goes when its approval is used, withdrawn by the agent or has expired.
type followed struct {
	card           // without what would change; the question as it was in the folder at last
	gone time.Time // since when it is not there, zero while it is
	end  *ending   // once nothing more comes
}

const (
	// endShown is how long the end of a question is on the page.
	endShown = 10 * time.Minute
	// maxFollowed is how many questions are followed: more than the folder has.
	maxFollowed = 512
)

// follow notes what is in the folder of questions, with mu held. It counts in p.moves what the views have to tell.
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
		isTold := f.State == consent.Denied || f.State == consent.Withdrawn // for as long as it was in the folder
		return !f.gone.IsZero() && (isTold || now.Sub(f.gone) >= endShown)
	})
	p.followed = p.followed[max(0, len(p.followed)-maxFollowed):]
}

// followsStored reports whether a question that is followed is in the folder.
func (p *Page) followsStored() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.followed, func(f *followed) bool { return f.gone.IsZero() })
}

// ending is what became of a question that does not wait for the owner. State is approved while its call has not
// come, and running before that has ended; then done, failed, void (the call was refused), denied, withdrawn (by the
// owner), recalled (by the agent), replaced (by one about the changed notes), left (by a session that has ended),
// unanswered or unused (both have expired).
type ending struct {
	State string
	Text  string
	// Call is the first one that came with the answer and says the most, nil for none; Calls are how many came.
	Call  *loggedCall
	Calls int
}

// IsDone reports whether all was done that was approved.
func (e ending) IsDone() bool { return e.State == "done" }

// IsOpen reports whether the approval can be withdrawn.
func (e ending) IsOpen() bool { return e.State == "approved" }

// places are where the owner answers, in the words of the page.
var places = map[string]string{
	Surface: "here", consent.Terminal: "in a terminal", consent.RemotePage: "with a passkey", "": "in the client",
}

// endingOf returns what became of a question, with mu held.
// hasLeft reports whether a session cannot call again.
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

// isReplaced reports whether the agent asked again about the same call, on other notes.
func (p *Page) isReplaced(f *followed) bool {
	return slices.ContainsFunc(p.followed, func(other *followed) bool {
		isSame := f.Call != consent.CallDigest{} && other.Call == f.Call
		isOfCaller := other.Vault == f.Vault && other.Session == f.Session
		isNewer := other.Digest != f.Digest && other.Made.After(f.Made)
		return isSame && isOfCaller && isNewer
	})
}

// endingOfCalls returns what became of the calls that came with an answer: one, or the operations of a batch.
func endingOfCalls(calls []loggedCall) ending {
	counts := map[string]int{}
	first := map[string]*loggedCall{} // of each outcome
	for i, call := range calls {
		outcome := call.Outcome()
		if !call.Ended {
			outcome = "running"
		}
		counts[outcome]++
		if first[outcome] == nil {
			first[outcome] = &calls[i]
		}
	}
	n := len(calls)
	end := ending{Calls: n}
	done := counts["allowed"]
	switch {
	case counts["running"] > 0:
		end.State = "running"
		end.Call = first["running"]
		end.Text = "The call has come, and has not ended."
	case done == n && n > 1:
		end.State = "done"
		end.Call = first["allowed"]
		end.Text = "Done, all " + sanitize.Counted(n, "operation")
	case done == n:
		end.State = "done"
		end.Call = first["allowed"]
		end.Text = "Done"
	case counts["denied"] == n:
		end.State, end.Call = "void", first["denied"]
		end.Text = "Void: the call that came with the approval was refused (" + sanitize.Line(end.Call.Code) + ")"
	case n == 1:
		end.State, end.Call = "failed", &calls[0]
		end.Text = "The call failed (" + sanitize.Line(cmp.Or(end.Call.Code, end.Call.Outcome())) + ")"
	default:
		end.State, end.Call = "failed", cmp.Or(first["failed"], first["denied"], first["skipped"], &calls[0])
		end.Text = fmt.Sprintf("Failed: %d of %s done", done, sanitize.Counted(n, "operation"))
		if end.Call.Code != "" {
			end.Text += " (" + sanitize.Line(end.Call.Code) + ")"
		}
	}
	return end
}

// answered is a question that does not wait any more, with what became of it.
type answered struct {
	card
	End ending
}

// answered returns the questions that do not wait for the owner, in the order in which they were asked.
func (p *Page) answered() (all []answered) {
	_, _ = p.calls.Update() // a call that is known can be shown without it
	servers, unknown := ownerfiles.Servers(ownerfiles.ServersFolder(p.State))
	hasLeft := func(session string) bool { return unknown == nil && hasEnded(session, servers) }
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
