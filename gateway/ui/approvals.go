package ui

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/gateway/ui/activity"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// questions returns the pending questions, the oldest first, so that a new one never moves those
// that the user is reading. Those in ended are of callers that cannot use the answer any more, and
// those in approved are of calls that were not repeated yet. damaged counts files that cannot be
// read.
func (p *Page) questions() (waiting, ended, approved []consent.StoredQuestion, damaged int, err error) {
	all, unreadable, err := consent.OpenStore(consent.Folder(p.State), p.Now).List()
	servers, unknown := ownerfiles.Servers(ownerfiles.ServersFolder(p.State))
	for _, q := range all {
		switch {
		case q.State == consent.Approved:
			approved = append(approved, q)
		case q.State != consent.Pending:
		case unknown == nil && hasEnded(q.Session, servers):
			ended = append(ended, q)
		default:
			waiting = append(waiting, q)
		}
	}
	return waiting, ended, approved, len(unreadable), err
}

// hasEnded reports whether a caller cannot call again: a process, whose name begins with its
// number, or an HTTP session, after its server has ended. A terminal, or a client that is
// identified by its token, can call again.
func hasEnded(caller string, servers []ownerfiles.Server) bool {
	caller = ownerfiles.SessionOf(caller)
	kind, _, _ := strings.Cut(caller, "-")
	if _, err := strconv.Atoi(kind); err == nil {
		return !slices.ContainsFunc(servers, func(s ownerfiles.Server) bool { return s.Session == caller })
	}
	return kind == "session" && !slices.ContainsFunc(servers, func(s ownerfiles.Server) bool { return s.Transport == "http" })
}

// approvalsData is what the view of approvals shows.
type approvalsData struct {
	Cards    []card
	Answered []answered
	Ended    []card // of sessions that have ended
	Damaged  int    // files that cannot be read
}

// card is a question in a view. Chips are what it does, in short.
type card struct {
	consent.StoredQuestion
	Who, Path string
	More      int // further files
	Chips     []chip
	Intro     []diffRow
	Files     []fileBlock
	Left      string // how long it can be answered
	Grave     bool   // it is destructive
}

// chip is a short fact. Class is "grave" for what is lost.
type chip struct{ Class, Text string }

// answered is a question that was approved here, until the view that shows its end is left.
type answered struct {
	card
	Call *activity.Call // that was made with the approval, nil before
}

func (p *Page) cardOf(q consent.StoredQuestion) card {
	c := card{
		StoredQuestion: q, Who: cmp.Or(ownerfiles.AgentOf(q.Session), q.Client), Left: countdown(q.Expires.Sub(p.Now())),
		Grave: q.Effect != "" && q.Effect != tiers.Writes.String(),
	}
	if q.Session == atTerminal {
		c.Who = "Your terminal"
	}
	lines := q.Lines
	if len(lines) > 0 && strings.HasPrefix(lines[0].Text, "Allow ") && lines[0].Kind == consent.Words { // the heading says so
		lines = lines[1:]
	}
	intro, files := blocksOf(lines)
	c.Files, c.More = files, max(0, len(files)-1)
	added, removed := 0, 0
	for _, f := range files {
		added, removed = added+f.Added, removed+f.Removed
		c.Path = cmp.Or(c.Path, f.From, f.Path)
	}
	add := func(class, sign string, n int, thing string) {
		if n > 0 {
			c.Chips = append(c.Chips, chip{class, sign + sanitize.Counted(n, thing)})
		}
	}
	add("grave", "−", removed, "line")
	add("", "+", added, "line")
	add("", "", len(files), "note")
	for _, row := range intro {
		sentence, is := strings.CutPrefix(row.Before, "It ")
		switch {
		case row.Kind == "" && is:
			c.Chips = append(c.Chips, chip{"", strings.TrimSuffix(sentence, ".")})
		default:
			if path, is := strings.CutPrefix(row.Before, `path: "`); row.Kind == "" && is {
				c.Path = cmp.Or(c.Path, strings.ReplaceAll(strings.TrimSuffix(path, `"`), `\"`, `"`))
			}
			c.Intro = append(c.Intro, row)
		}
	}
	return c
}

func (p *Page) cards(list []consent.StoredQuestion) (shown []card) {
	for _, q := range list {
		shown = append(shown, p.cardOf(q))
	}
	return shown
}

// approvals shows the pending questions, each with its whole difference, and what became of those
// that were approved.
func (p *Page) approvals(request) view {
	waiting, ended, approved, damaged, err := p.questions()
	data := approvalsData{Cards: p.cards(waiting), Ended: p.cards(ended), Damaged: damaged}
	_, _ = p.calls.Update() // a call that is known can be shown without it
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, q := range approved { // also in a terminal
		if !slices.ContainsFunc(p.approved, func(a answered) bool { return a.Code == q.Code }) {
			p.approved = append(p.approved, answered{card: p.cardOf(q)})
		}
	}
	p.approved = slices.DeleteFunc(p.approved, func(a answered) bool { return !p.Now().Before(a.Expires) })
	for i := range p.approved {
		a := &p.approved[i]
		if a.Call == nil && !slices.ContainsFunc(approved, func(q consent.StoredQuestion) bool { return q.Code == a.Code }) {
			for _, c := range p.calls.Page(activity.Filter{Vault: a.Vault, Command: a.Command, Since: a.Made}, 0, 100).Calls {
				used := slices.ContainsFunc(p.approved, func(other answered) bool { return other.Call != nil && other.Call.ID == c.ID })
				if c.Approved && c.Ended && c.Kind == "" && !c.Own() && !used {
					a.Call = &c
					break
				}
			}
		}
		shown := *a
		shown.Left = countdown(a.Expires.Sub(p.Now()))
		data.Answered = append(data.Answered, shown)
	}
	return view{template: "approvals", title: "Approvals", data: data}.failed(err)
}

// decide answers the questions with the codes of the form.
func (p *Page) decide(r request, approve bool) view {
	waiting, ended, _, _, _ := p.questions() // what cannot be read cannot be answered
	v := view{goTo: "approvals"}
	codes := r.PostForm["code"]
	if len(codes) == 0 {
		return v.failed(failure.New(failure.CodeBadRequest, "select one or more of them", "no question is selected"))
	}
	for _, code := range codes {
		if approve && slices.ContainsFunc(ended, func(q consent.StoredQuestion) bool { return q.Code == code }) {
			return v.failed(failure.New(failure.CodeBadRequest, "the agent can repeat the call in a new session to request approval again", "the session that asked has ended"))
		}
		q, err := consent.Decide(p.State, consent.Answer{Code: code, Approve: approve, By: Surface, Session: p.Session})
		var done *consent.Answered
		var unusable *consent.Unusable
		switch {
		case errors.As(err, &unusable):
			return v.failed(failure.New(failure.CodeState, "it must be a folder that only you can access", "%v", err))
		case errors.As(err, &done):
			return v.failed(failure.New(failure.CodeBadRequest, "it was answered here or in a terminal", "%v", err))
		case err != nil:
			return v.failed(failure.New(failure.CodeNotFound, "it may have expired; the agent can repeat the call to request approval again", "%v", err))
		}
		if i := slices.IndexFunc(waiting, func(w consent.StoredQuestion) bool { return w.Code == q.Code }); i >= 0 && approve {
			q.Lines = waiting[i].Lines // the store has them no more
			p.mu.Lock()
			p.approved = append(p.approved, answered{card: p.cardOf(q)})
			p.mu.Unlock()
		}
	}
	did := "Denied"
	if approve {
		did = "Approved"
	}
	if v.note = did + "."; len(codes) > 1 {
		v.note = fmt.Sprintf("%s: %d calls.", did, len(codes))
	}
	return v
}
