package ui

import (
	"errors"
	"time"

	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/approvals"
)

// questions returns the questions that wait for the user.
func (p *page) questions() ([]approvals.Question, error) {
	all, _, err := approvals.Open(consent.Folder(p.State), p.Now).List()
	return pending(all), err
}

// approvalsData is what the view of approvals shows.
type approvalsData struct {
	Questions []shownQuestion
	Damaged   int // files that cannot be read
}

// shownQuestion is a question as it is shown.
type shownQuestion struct {
	approvals.Question
	Left string // how long it can be answered
}

func shownQuestionOf(q approvals.Question, now time.Time) shownQuestion {
	return shownQuestion{q, lasted(max(0, q.Expires.Sub(now)))}
}

// approvals shows the questions that wait, each with its whole difference.
func (p *page) approvals(request) view {
	v := view{template: "approvals", title: "Approvals"}
	all, damaged, err := approvals.Open(consent.Folder(p.State), p.Now).List()
	data := approvalsData{Damaged: len(damaged)}
	for _, q := range pending(all) {
		data.Questions = append(data.Questions, shownQuestionOf(q, p.Now()))
	}
	v.data = data
	if err != nil {
		return v.failed(err)
	}
	return v
}

func (p *page) approve(r request) view { return p.decide(r, true) }

func (p *page) deny(r request) view { return p.decide(r, false) }

// decide answers one question: the one with the code of the form, which was shown with it.
func (p *page) decide(r request, approve bool) view {
	q, err := consent.Decide(p.State, consent.Answer{Code: r.PostForm.Get("code"), Approve: approve, By: Surface, Session: p.Session})
	if err != nil {
		return view{goTo: "approvals"}.failed(decideError(err))
	}
	if q.State == approvals.Approved {
		return view{goTo: "approvals", note: "Approved: valid for one call, on the notes as they were shown."}
	}
	return view{goTo: "approvals", note: "Denied."}
}

// decideError says what to do about a question that could not be answered.
func decideError(err error) error {
	var answered *approvals.Answered
	var unusable *approvals.Unusable
	switch {
	case errors.As(err, &unusable):
		return failure.New(failure.CodeState, "it must be a folder that only you can access", "%v", err)
	case errors.As(err, &answered):
		return failure.New(failure.CodeBadRequest, "it was answered here or in a terminal", "%v", err)
	}
	return failure.New(failure.CodeNotFound, "it may have expired; the agent can repeat the call to request approval again", "%v", err)
}
