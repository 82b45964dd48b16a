package ui

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/gateway/consent"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/private"
)

// questions returns the pending questions, the oldest first, so that a new one never moves those
// that the user is reading. Those in ended are of callers that cannot use the answer any more.
// damaged counts files that cannot be read.
func (p *page) questions() (waiting, ended []consent.StoredQuestion, damaged int, err error) {
	all, unreadable, err := consent.OpenStore(consent.Folder(p.State), p.Now).List()
	servers, unknown := private.Servers(private.ServersFolder(p.State))
	for _, q := range all {
		switch {
		case q.State != consent.Pending:
		case unknown == nil && hasEnded(q.Session, servers):
			ended = append(ended, q)
		default:
			waiting = append(waiting, q)
		}
	}
	return waiting, ended, len(unreadable), err
}

// hasEnded reports whether a caller cannot call again: a process, whose name begins with its
// number, or an HTTP session, after its server has ended. A terminal, or a client that is
// identified by its token, can call again.
func hasEnded(caller string, servers []private.Server) bool {
	caller = private.SessionOf(caller)
	kind, _, _ := strings.Cut(caller, "-")
	if _, err := strconv.Atoi(kind); err == nil {
		return !slices.ContainsFunc(servers, func(s private.Server) bool { return s.Session == caller })
	}
	return kind == "session" && !slices.ContainsFunc(servers, func(s private.Server) bool { return s.Transport == "http" })
}

// approvalsData is what the view of approvals shows.
type approvalsData struct {
	Questions []shownQuestion
	Ended     []shownQuestion // of sessions that have ended
	Damaged   int             // files that cannot be read
}

// shownQuestion is a question in a view.
type shownQuestion struct {
	consent.StoredQuestion
	Left string // how long it can be answered
}

func (p *page) shownQuestions(list []consent.StoredQuestion) (shown []shownQuestion) {
	for _, q := range list {
		shown = append(shown, shownQuestion{q, lasted(max(0, q.Expires.Sub(p.Now())))})
	}
	return shown
}

// approvals shows the pending questions, each with its whole difference.
func (p *page) approvals(request) view {
	waiting, ended, damaged, err := p.questions()
	data := approvalsData{p.shownQuestions(waiting), p.shownQuestions(ended), damaged}
	return view{template: "approvals", title: "Approvals", data: data}.failed(err)
}

// decide answers the question with the code of the form.
func (p *page) decide(r request, approve bool) view {
	code := r.PostForm.Get("code")
	_, ended, _, _ := p.questions() // what cannot be read cannot be answered
	if approve && slices.ContainsFunc(ended, func(q consent.StoredQuestion) bool { return q.Code == code }) {
		return view{goTo: "approvals"}.failed(failure.New(failure.CodeBadRequest, "the agent can repeat the call in a new session to request approval again", "the session that asked has ended"))
	}
	q, err := consent.Decide(p.State, consent.Answer{Code: code, Approve: approve, By: Surface, Session: p.Session})
	if err != nil {
		return view{goTo: "approvals"}.failed(decideError(err))
	}
	if q.State == consent.Approved {
		return view{goTo: "approvals", note: "Approved: valid for one call, on the notes as they were shown."}
	}
	return view{goTo: "approvals", note: "Denied."}
}

// decideError returns the error about a question that could not be answered, with a hint.
func decideError(err error) error {
	var answered *consent.Answered
	var unusable *consent.Unusable
	switch {
	case errors.As(err, &unusable):
		return failure.New(failure.CodeState, "it must be a folder that only you can access", "%v", err)
	case errors.As(err, &answered):
		return failure.New(failure.CodeBadRequest, "it was answered here or in a terminal", "%v", err)
	}
	return failure.New(failure.CodeNotFound, "it may have expired; the agent can repeat the call to request approval again", "%v", err)
}
