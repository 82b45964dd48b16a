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
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// questions are the pending questions in the folder, oldest first, so that a new one never moves those that the owner
// is reading.
type questions struct {
	Waiting []consent.StoredQuestion
	Ended   []consent.StoredQuestion // of callers that can no longer use the answer
	Damaged int                      // files that cannot be read
}

// readQuestions reads the folder of questions, and updates the followed ones.
func (p *Page) readQuestions() (questions, error) {
	stored, unreadable, err := consent.OpenStore(consent.Folder(p.State), p.Now).List()
	if err != nil {
		return questions{}, err
	}
	p.mu.Lock()
	p.follow(stored)
	p.mu.Unlock()
	servers, serversErr := ownerfiles.Servers(ownerfiles.ServersFolder(p.State))
	found := questions{Damaged: len(unreadable)}
	for _, q := range stored {
		switch {
		case q.State != consent.Pending:
		case serversErr == nil && hasEnded(q.Session, servers):
			found.Ended = append(found.Ended, q)
		default:
			found.Waiting = append(found.Waiting, q)
		}
	}
	return found, nil
}

// hasEnded reports whether a caller cannot call again because its server has ended: a process,
// whose name begins with its number, or an HTTP session. A terminal, or a client that is identified
// by its token, can always call again.
func hasEnded(caller string, servers []ownerfiles.Server) bool {
	caller = ownerfiles.SessionOf(caller)
	kind, _, _ := strings.Cut(caller, "-")
	if _, err := strconv.Atoi(kind); err == nil {
		return !slices.ContainsFunc(servers, func(s ownerfiles.Server) bool { return s.Session == caller })
	}
	return kind == "session" &&
		!slices.ContainsFunc(servers, func(s ownerfiles.Server) bool { return s.Transport == "http" })
}

// approvalsData is the data of the view of approvals.
type approvalsData struct {
	Cards    []card
	Proposed []proposalCard
	Answered []answered
	Ended    []card // of sessions that have ended
	Damaged  int    // files that cannot be read
	Paired   int    // browsers that can answer questions behind links
}

// card is a question in a view. Act describes the call, and Chips are short facts about it.
type card struct {
	consent.StoredQuestion
	Act, Who, Path string
	More           int // further files
	Chips          []chip
	Intro          []diffRow
	Files          []fileBlock
	Left           string // remaining time for an answer
	Grave          bool   // the call is destructive
	Whole          bool   // the view has all lines; otherwise they are read in parts
}

// nameBytes is the maximum length of a client's name in a card: that of the log, as in the other views.
const nameBytes = 97

// chip is a short fact. Class is "grave" for a loss.
type chip struct{ Class, Text string }

// Limits of the part of a question in one view. A longer question is read in parts.
const (
	partRows = 2000
	partCost = 256 << 10 // bytes; a single longer line is a part of its own
)

// cardOf returns the card of a stored question. If it is too long for a view, the card has its first lines.
func (p *Page) cardOf(q consent.StoredQuestion) card {
	lines, whole := p.linesOf(q)
	parts := partsOf(lines)
	c := p.cardWith(q, parts[0])
	c.Whole = whole && len(parts) == 1
	return c
}

// linesOf returns the lines of a question. If they cannot be read, whole is false, and lines are those of the short text
// of the question.
func (p *Page) linesOf(q consent.StoredQuestion) (lines []consent.Line, whole bool) {
	lines, err := consent.OpenStore(consent.Folder(p.State), p.Now).Shown(q)
	if err == nil && len(lines) > 0 {
		return lines, true
	}
	for row := range strings.Lines(q.Text) {
		lines = append(lines, consent.Line{Text: strings.TrimSuffix(row, "\n")})
	}
	return lines, err == nil
}

// partsOf splits lines into parts that fit in a view. There is at least one part.
func partsOf(lines []consent.Line) (parts [][]consent.Line) {
	start := 0
	cost := 0
	for i, l := range lines {
		cost += len(l.Text)
		isFull := i-start >= partRows || cost > partCost
		if isFull && i > start {
			parts = append(parts, lines[start:i])
			start = i
			cost = len(l.Text)
		}
	}
	return append(parts, lines[start:])
}

// cardWith returns the card of a question with some of its lines.
func (p *Page) cardWith(q consent.StoredQuestion, lines []consent.Line) card {
	c := card{
		StoredQuestion: q,
		Who:            ownerfiles.AgentOf(q.Session),
		Left:           countdown(q.Expires.Sub(p.Now())),
		Grave:          q.Effect != "" && q.Effect != tiers.Writes.String(),
	}
	switch {
	case c.Who != "":
	case q.Session == atTerminal:
		c.Who = "Your terminal"
	case q.Client != "": // quoted, because a client may call itself anything
		c.Who = "“" + excerpt.Clip(q.Client, nameBytes) + "”"
	}
	c.Act, c.Intro, c.Files = blocksOf(lines)
	added := 0
	removed := 0
	named := 0
	for _, f := range c.Files {
		if f.Act != "" {
			continue
		}
		added += f.Added
		removed += f.Removed
		named++
		c.Path = cmp.Or(c.Path, f.From, f.Path)
	}
	c.More = max(0, named-1)
	add := func(class, sign string, n int, thing string) {
		if n > 0 {
			c.Chips = append(c.Chips, chip{class, sign + sanitize.Counted(n, thing)})
		}
	}
	add("grave", "−", removed, "line")
	add("", "+", added, "line")
	add("", "", named, "note")
	var rest []diffRow
	for _, row := range c.Intro {
		sentence, is := strings.CutPrefix(row.Before, "It ")
		if row.Kind == "" && is {
			c.Chips = append(c.Chips, chip{"", strings.TrimSuffix(sentence, ".")})
			continue
		}
		if path, is := strings.CutPrefix(row.Before, `path: "`); row.Kind == "" && is {
			c.Path = cmp.Or(c.Path, strings.ReplaceAll(strings.TrimSuffix(path, `"`), `\"`, `"`))
		}
		rest = append(rest, row)
	}
	c.Intro = rest
	countsAll := func(other chip) bool { return strings.HasPrefix(other.Text, "affects ") }
	if slices.ContainsFunc(c.Chips, countsAll) {
		c.Chips = slices.DeleteFunc(
			c.Chips,
			func(other chip) bool { return other.Text == sanitize.Counted(named, "note") },
		)
	}
	return c
}

// partData is the data of the view of one part of a question, or of its outcome.
type partData struct {
	card
	Part, Parts int // from 1
	Next, Prev  int // other parts, 0 for none
	Answered    *answered
}

// Card returns the card of the question, for the forms that answer it.
func (d partData) Card() card { return d.card }

// oneQuestion shows a part of a question that is too long for the list. It can be approved in its last part.
func (p *Page) oneQuestion(r request) view {
	found, err := p.readQuestions()
	i := slices.IndexFunc(found.Waiting, func(q consent.StoredQuestion) bool { return q.Code == r.rest })
	if err == nil && i < 0 {
		for _, a := range p.answered() {
			if a.Code == r.rest {
				return view{template: "part", title: "Question", data: partData{Answered: &a}}
			}
		}
	}
	var lines []consent.Line
	if i >= 0 {
		lines, err = consent.OpenStore(consent.Folder(p.State), p.Now).Shown(found.Waiting[i])
	}
	if err != nil || i < 0 {
		missing := failure.New(failure.CodeNotFound, "it was answered, or has expired", "no question with this code waits")
		return view{goTo: "approvals", template: "missing", title: "Not found"}.failed(missing)
	}
	parts := partsOf(lines)
	at, _ := strconv.Atoi(r.URL.Query().Get("part")) // without a number, the first part
	at = min(max(at, 1), len(parts))
	data := partData{card: p.cardWith(found.Waiting[i], parts[at-1]), Part: at, Parts: len(parts), Prev: at - 1}
	if at < len(parts) {
		data.Next = at + 1
	}
	if at > 1 { // the act is in the first part
		data.Act, _, _ = blocksOf(lines[:1])
		data.Chips = nil
	}
	return view{template: "part", title: "Question", data: data}
}

// cards returns the cards of questions.
func (p *Page) cards(list []consent.StoredQuestion) (shown []card) {
	for _, q := range list {
		shown = append(shown, p.cardOf(q))
	}
	return shown
}

// approvals shows the pending questions with their differences, and the outcomes of earlier ones.
func (p *Page) approvals(request) view {
	found, err := p.readQuestions()
	data := approvalsData{
		Cards:    p.cards(found.Waiting),
		Proposed: p.proposalsWaiting(),
		Answered: p.answered(),
		Ended:    p.cards(found.Ended),
		Damaged:  found.Damaged,
		Paired:   p.guard.links.paired.Count(),
	}
	return view{template: "approvals", title: "Approvals", data: data}.failed(err)
}

// forgetBrowsers ends the pairing of all browsers that can answer questions behind links.
func (p *Page) forgetBrowsers(request) view {
	v := view{goTo: "approvals", note: "No browser is paired any more. This one is again, when it opens the next link of \"vaultwicket ui\"."}
	if err := p.guard.links.paired.Forget(); err != nil {
		return view{goTo: "approvals"}.failed(err)
	}
	return v
}

// decide gives the same answer to all questions whose codes are in the form.
func (p *Page) decide(r request, answer consent.Answer) view {
	answer.By = Surface
	answer.Session = p.Session
	answer.Typed = r.PostForm.Get("typed")
	found, _ := p.readQuestions() // unreadable questions cannot be answered
	v := view{goTo: "approvals"}
	codes := r.PostForm["code"]
	if len(codes) == 0 {
		return v.failed(failure.New(failure.CodeBadRequest, "select one or more of them", "no question is selected"))
	}
	for _, code := range codes {
		hasEnded := slices.ContainsFunc(found.Ended, func(q consent.StoredQuestion) bool { return q.Code == code })
		if answer.Approve && hasEnded {
			return v.failed(
				failure.New(
					failure.CodeBadRequest,
					"the agent can repeat the call in a new session to request approval again",
					"the session that asked has ended",
				),
			)
		}
		answer.Code = code
		q, err := consent.Decide(p.State, answer)
		var elsewhere *consent.Elsewhere
		var done *consent.Answered
		var unusable *consent.Unusable
		switch {
		case errors.As(err, &unusable):
			return v.failed(failure.New(failure.CodeState, "it must be a folder that only you can access", "%v", err))
		case errors.As(err, &elsewhere):
			return v.failed(failure.New(failure.CodeBadRequest, "open the question to read and approve it", "%v", err))
		case errors.As(err, &done):
			return v.failed(failure.New(failure.CodeBadRequest, "it was answered here or in a terminal", "%v", err))
		case err != nil:
			return v.failed(
				failure.New(
					failure.CodeNotFound,
					"it may have expired; the agent can repeat the call to request approval again",
					"%v",
					err,
				),
			)
		}
		if q.State == consent.Withdrawn {
			v.note = "Withdrawn."
		}
	}
	did := "Denied"
	if answer.Approve {
		did = "Approved"
	}
	v.note = cmp.Or(v.note, did+".")
	if len(codes) > 1 {
		v.note = fmt.Sprintf("%s: %d calls.", did, len(codes))
	}
	return v
}
