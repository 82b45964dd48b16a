package ui

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// overviewData is the data of the first view, about today.
type overviewData struct {
	Sentence string
	// Cards are the pending questions that are visible at once, and CardsRest those that are folded.
	Cards, CardsRest []card
	Waiting          int
	Changed          []listed
	Unread           int // notes that cannot be read, whose changes are left out
	// Refused and Agents are visible at once, and the rests are folded.
	Refused, RefusedRest []refused
	// MoreRefused is the number of kinds of refusals that are not shown.
	MoreRefused        int
	Agents, AgentsRest []dayOf
	Servers            []shownServer
	First              bool // no agent has ever called
	ToReview           []toReview
	Vault              string
}

// refused counts calls of one agent that were refused for the same reason.
type refused struct {
	refusedCount
	Path, Why string
}

// dayOf has the figures of an agent since midnight, and its chart of the last 24 hours.
type dayOf struct {
	agentFigures
	Changed int // number of changed notes
	Strip   chart
}

// shownServer is a running server with figures from the audit log.
type shownServer struct {
	ownerfiles.Server
	Who    string // of its latest call, "" before the first
	Up     string
	Minute int // number of calls in the last minute
}

// Limits of the lists in the first view. Clients choose the names of agents and kinds of refusals.
const (
	agentsOfDay  = 50
	refusedOfDay = 20
	agentsSeen   = 10 // the rest is folded
	refusedSeen  = 5
	cardsSeen    = 5
)

// folded splits a list into the visible part and the rest.
func folded[T any](list []T, count int) (shown, rest []T) {
	count = min(count, len(list))
	return list[:count], list[count:]
}

// overview shows what happened today, what waits, and what can be undone.
func (p *Page) overview(r request) view {
	v := view{template: "overview", title: "Overview"}
	_, err := p.calls.Update()
	today, unread, changesErr := p.changedOn(r.Context(), p.Now())
	found, questionsErr := p.readQuestions()
	data := overviewData{Cards: p.cards(found.Waiting), Unread: unread, Vault: p.Gateway.VaultName()}
	for _, c := range today {
		data.Changed = append(data.Changed, p.listed(r.Context(), c))
	}
	var refusals []refusedCount
	data.Agents, refusals = p.agentsOn(today)
	data.MoreRefused = max(0, len(refusals)-refusedOfDay)
	for _, refusal := range refusals[:min(len(refusals), refusedOfDay)] {
		data.Refused = append(data.Refused, refused{refusal, p.names.pathOf(refusal.Last), p.why(refusal.Last).Sentence})
	}
	isQuiet := len(today) == 0 && len(data.Agents) == 0
	data.First = isQuiet && len(p.calls.Figures(callFilter{}, p.Now()).Agents) == 0
	data.Sentence = sentence(data.Agents, len(found.Waiting))
	data.Agents = data.Agents[:min(len(data.Agents), agentsOfDay)]
	data.Agents, data.AgentsRest = folded(data.Agents, agentsSeen)
	data.Waiting = len(data.Cards)
	data.Cards, data.CardsRest = folded(data.Cards, cardsSeen)
	data.Refused, data.RefusedRest = folded(data.Refused, refusedSeen)
	servers, serversErr := ownerfiles.Servers(ownerfiles.ServersFolder(p.State))
	for _, s := range servers {
		shown := shownServer{Server: s, Up: duration(max(0, p.Now().Sub(s.Since)))}
		shown.Minute = p.calls.Page(callFilter{Session: s.Session, Since: p.Now().Add(-time.Minute)}, 0, 0).Made
		if last, ok := p.calls.Latest(callFilter{Session: s.Session}); ok {
			shown.Who = last.Who()
		}
		data.Servers = append(data.Servers, shown)
	}
	var reviewErr error
	data.ToReview, _, reviewErr = p.unreviewed(r.Context())
	v.data = data
	return v.failed(cmp.Or(err, questionsErr, serversErr, changesErr, reviewErr))
}

// sentence describes the day of agents, and how many questions wait.
func sentence(agents []dayOf, waiting int) string {
	const most = 4
	var parts []string
	for i, a := range agents {
		if i == most {
			parts = append(parts, sanitize.Counted(len(agents)-most, "more agent")+" called")
			break
		}
		var acts []string
		if a.Read > 0 {
			acts = append(acts, "read "+sanitize.Counted(a.Read, "note"))
		}
		switch {
		case a.Changed > 0 && a.Read > 0:
			acts = append(acts, fmt.Sprintf("changed %d", a.Changed))
		case a.Changed > 0:
			acts = append(acts, "changed "+sanitize.Counted(a.Changed, "note"))
		}
		if len(acts) == 0 && a.Calls > a.Denied {
			acts = append(acts, "made "+sanitize.Counted(a.Calls-a.Denied, "call"))
		}
		switch {
		case a.Denied == 1:
			acts = append(acts, "was refused once")
		case a.Denied > 1:
			acts = append(acts, "was refused "+sanitize.Counted(a.Denied, "time"))
		}
		switch n := len(acts); {
		case n == 1:
			parts = append(parts, nameOf(a.Name)+" "+acts[0])
		case n > 1:
			parts = append(parts, nameOf(a.Name)+" "+strings.Join(acts[:n-1], ", ")+" and "+acts[n-1])
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "No agent has called today")
	}
	if waiting > 0 {
		waits := " wait for you"
		if waiting == 1 {
			waits = " waits for you"
		}
		parts = append(parts, sanitize.Counted(waiting, "question")+waits)
	}
	return strings.Join(parts, "; ") + "."
}

// midnight returns the start of the day of a time, in local time.
func midnight(t time.Time) time.Time {
	t = t.Local()
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// agentsData is the data of the view of agents.
type agentsData struct {
	Agents []shownAgent
	Known  bool         // agents are defined
	Unread int          // notes that cannot be read, whose changes are not counted
	Grants []shownGrant // grants of servers, and of agents that are not listed
}

// shownAgent is an agent that is defined or has called.
type shownAgent struct {
	Agent
	Defined  bool
	Rights   string
	Day      dayOf
	Clients  string
	Changed  []changedBy // today
	Grants   []shownGrant
	ToReview []toReview
}

// agents shows the agents that may call, and what each did today.
func (p *Page) agents(r request) view {
	_, err := p.calls.Update()
	today, unread, changesErr := p.changedOn(r.Context(), p.Now())
	days, _ := p.agentsOn(today)
	var data agentsData
	defined, agentsErr := p.Agents()
	given, grantsErr := p.grantsOf()
	_, toReview, reviewErr := p.unreviewed(r.Context())
	show := func(a Agent, isDefined bool) {
		shown := shownAgent{Agent: a, Defined: isDefined, Day: dayOf{agentFigures: agentFigures{Name: a.Name}}}
		if isDefined {
			shown.Rights = rightsOf(a)
		}
		if i := slices.IndexFunc(days, func(d dayOf) bool { return d.Name == a.Name }); i >= 0 {
			shown.Day = days[i]
		} else {
			shown.Day.Last, _ = p.calls.Latest(callFilter{Who: a.Name})
		}
		if shown.Day.Last.Client != a.Name {
			shown.Clients = shown.Day.Last.Client
		}
		for _, c := range today {
			if c.Who == a.Name && !c.Own {
				shown.Changed = append(shown.Changed, c)
			}
		}
		shown.ToReview = toReview[a.Name]
		shown.Grants = given[a.Name]
		delete(given, a.Name)
		data.Agents = append(data.Agents, shown)
	}
	for _, a := range defined {
		show(a, true)
	}
	for _, d := range days[:min(len(days), agentsOfDay)] {
		if d.Name != "" && !slices.ContainsFunc(defined, func(a Agent) bool { return a.Name == d.Name }) {
			show(Agent{Name: d.Name}, false)
		}
	}
	data.Known = len(defined) > 0
	data.Unread = unread
	for _, who := range slices.Sorted(maps.Keys(given)) {
		data.Grants = append(data.Grants, given[who]...)
	}
	return view{template: "agents", title: "Agents", data: data}.failed(cmp.Or(err, changesErr, agentsErr, grantsErr, reviewErr))
}

// rightsOf describes what a defined agent may do.
func rightsOf(a Agent) string {
	isEnded := a.State == "revoked" || a.State == "expired"
	hasTier := a.Tier != "" && a.Tier != "none"
	if isEnded || !hasTier {
		return "May do nothing"
	}
	rights := "May call the commands of tier " + a.Tier + " and may not change notes"
	if a.Mutations {
		rights = "May call the commands of tier " + a.Tier + " and change notes"
	}
	if a.Expires != nil {
		rights += ", until " + a.Expires.Local().Format(time.DateOnly)
	}
	return rights
}

// agentAct pauses, resumes or revokes the agent of the form.
func (p *Page) agentAct(r request, what string) view {
	name := r.PostForm.Get("agent")
	v := view{goTo: "agents"}
	known, _ := p.Agents() // after an error, no agent is accepted
	if !slices.ContainsFunc(known, func(a Agent) bool { return a.Name == name }) {
		return v.failed(failure.New(failure.CodeNotFound, "the view of agents lists them", "no such agent"))
	}
	var err error
	switch what {
	case "pause":
		err = admission.Pause(p.State, name, p.Now())
		v.note = name + " is paused."
	case "resume":
		_, err = admission.Resume(p.State, name)
		v.note = name + " can call again."
	default:
		err = p.Revoke(name)
		v.note = name + " is revoked: it has no rights until “vaultwicket agent rotate " + name + "”."
	}
	if err != nil {
		v.note = ""
		return v.failed(failure.New(failure.CodeState, `try "vaultwicket agent" in a terminal`, "not done: %v", err))
	}
	return v
}

// pause makes all servers deny all calls.
func (p *Page) pause(r request) view {
	v := view{goTo: p.backTo(r)}
	if !ownerfiles.EnsureFolder(p.State) {
		return v.failed(failure.New(
			failure.CodeState,
			"it must be a folder that only you can access",
			"not paused: the state folder cannot be used",
		))
	}
	if err := admission.Pause(p.State, "", p.Now()); err != nil {
		return v.failed(failure.New(failure.CodeState, `try "vaultwicket pause" in a terminal`, "not paused: %v", err))
	}
	return v
}

// resume ends a pause of all servers.
func (p *Page) resume(r request) view {
	v := view{goTo: p.backTo(r)}
	ownerfiles.EnsureFolder(p.State)
	if _, err := admission.Resume(p.State, ""); err != nil {
		return v.failed(failure.New(failure.CodeState, "delete the file", "still paused: %v", err))
	}
	return v
}

// backTo returns the path and query of the view from which a form was sent; every view has that form.
// It is "" for the first view, and for an invalid path.
func (p *Page) backTo(r request) string {
	from, err := url.Parse(r.PostForm.Get("from"))
	if err != nil || from.IsAbs() || from.Host != "" {
		return ""
	}
	where := from.EscapedPath()
	parentRoute := where[:strings.LastIndexByte(where, '/')+1] // a route for everything below it ends with a slash
	if p.routes[where].show == nil && (parentRoute == "" || p.routes[parentRoute].show == nil) {
		return ""
	}
	query := from.Query()
	query.Del(answerField)
	if len(query) > 0 {
		where += "?" + query.Encode()
	}
	return where
}

// inForce returns the settings. Their origins have the name of the settings file instead of its path.
func (p *Page) inForce() (shown Settings, err error) {
	shown, err = p.Settings()
	if shown.File == "" {
		return shown, err
	}
	for i := range shown.Rows {
		row := &shown.Rows[i]
		row.Origin = strings.Replace(row.Origin, shown.File, filepath.Base(shown.File), 1)
	}
	return shown, err
}
