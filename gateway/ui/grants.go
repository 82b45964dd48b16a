package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// shownGrant is a grant in the card of an agent.
type shownGrant struct {
	consent.Grant
	Says string // what it allows, as a sentence
	Left string // what is left of its counts
}

// grantsOf returns the grants in force by the names of their agents. Those of servers are under "".
func (p *Page) grantsOf() (byAgent map[string][]shownGrant, err error) {
	list, _, err := consent.OpenGrants(p.State, p.Now).List()
	byAgent = map[string][]shownGrant{}
	for _, g := range list {
		if g.EndedBy(p.Now()) != "" {
			continue
		}
		changes, notes, lines, links := g.Left()
		left := []string{
			fmt.Sprintf("%d of %s", changes, sanitize.Counted(g.Changes, "change")),
			fmt.Sprintf("%d of %s", notes, sanitize.Counted(g.Notes, "note")),
		}
		if lines >= 0 {
			left = append(left, fmt.Sprintf("%d of %s", lines, sanitize.Counted(g.Lines, "line")))
		}
		if g.Links > 0 {
			left = append(left, fmt.Sprintf("%d of %s", links, sanitize.Counted(g.Links, "link")))
		}
		shown := shownGrant{g, g.Sentence(g.Expires, p.Now()), strings.Join(left, ", ")}
		byAgent[g.Agent] = append(byAgent[g.Agent], shown)
	}
	return byAgent, err
}

// endingForm is a grant with the form that ends it.
type endingForm struct {
	shownGrant
	Base, Token string
}

// Ending returns a grant with the form that ends it.
func (f frame) Ending(g shownGrant) endingForm { return endingForm{g, f.Base, f.visit.Token("agents")} }

// endGrant ends the grant that the form names.
func (p *Page) endGrant(r request) view {
	v := view{goTo: "agents"}
	ended, err := consent.OpenGrants(p.State, p.Now).End(r.PostForm.Get("grant"))
	if _, isUnknown := errors.AsType[*consent.UnknownGrant](err); isUnknown {
		return v.failed(failure.New(failure.CodeNotFound, "the view of agents lists them", "no such grant"))
	}
	if err != nil {
		return v.failed(failure.New(failure.CodeState, `try "vaultwicket grants" in a terminal`, "not ended: %v", err))
	}
	consent.LogGrant(p.State, ended, consent.GrantEnded, Surface, p.Session)
	v.note = "The grant of " + ended.Who() + " has ended."
	return v
}

// offered returns the terms of the grant that a question offers, or nil.
func offered(q consent.StoredQuestion) *consent.GrantTerms {
	var terms consent.GrantTerms
	if q.Offer == "" || json.Unmarshal([]byte(q.Offer), &terms) != nil || terms.Check() != nil {
		return nil
	}
	return &terms
}

// offerForm is a form that approves a question, and also gives the grant that it offers.
type offerForm struct{ Base, Token, Code, Says string }

// Offer returns the form for the grant that a question offers, or nil. A large question is not approved by it.
func (f frame) Offer(c card) *offerForm {
	terms := offered(c.StoredQuestion)
	isRestricted := c.Only != "" || c.Typed != ""
	if terms == nil || isRestricted {
		return nil
	}
	says := fmt.Sprintf("Approve, and allow %s in %s for an hour, up to %s",
		strings.Join(terms.Commands, ", "), excerpt.Quoted(terms.Folders[0]), sanitize.Counted(terms.Notes, "note"))
	return &offerForm{f.Base, f.visit.Token("approvals"), c.Code, says}
}

// allow approves the question whose code is in the form, and gives the grant that it offers.
func (p *Page) allow(r request) view {
	v := view{goTo: "approvals"}
	code := r.PostForm.Get("code")
	list, _, err := consent.OpenStore(consent.Folder(p.State), p.Now).List()
	if err != nil {
		return v.failed(err)
	}
	for _, q := range list {
		terms := offered(q)
		if q.Code != code || q.State != consent.Pending || terms == nil {
			continue
		}
		if decided := p.decide(r, consent.Answer{Approve: true}); decided.problem != nil {
			return decided
		}
		given, err := consent.OpenGrants(p.State, p.Now).Give(*terms, time.Hour)
		if err != nil {
			return v.failed(failure.New(failure.CodeState, "the call is approved", "nothing more is allowed: %v", err))
		}
		consent.LogGrant(p.State, given, consent.GrantGiven, Surface, p.Session)
		v.note = "Approved. " + given.Sentence(given.Expires, p.Now())
		return v
	}
	return v.failed(failure.New(failure.CodeNotFound, "it was answered, or has expired", "no question with this code offers a grant"))
}
