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

// overviewData is what the first view shows: today.
type overviewData struct {
	Sentence string
	// Cards are questions that wait, of which the first are seen at once.
	Cards, CardsRest []card
	Waiting          int
	Changed          []listed
	// Refused and Agents are seen at once, and the others when they are asked for.
	Refused, RefusedRest []refused
	// MoreRefused are the kinds of refusals that are not shown.
	MoreRefused        int
	Agents, AgentsRest []dayOf
	Servers            []shownServer
	First              bool // no agent has ever called
	ToReview           []toReview
	Vault              string
}

// refused are calls of one agent that were refused for one reason.
type refused struct {
	refusedCount
	Path, Why string
}

// dayOf is what an agent did: since midnight, and by the hour in the last 24.
type dayOf struct {
	agentFigures
	Changed int // notes
	Strip   chart
}

// shownServer is a running server with what the audit log says of it.
type shownServer struct {
	ownerfiles.Server
	Who    string // of its latest call, "" before the first
	Up     string
	Minute int // calls in the last minute
}

// The maximum of what the first view shows of agents and kinds of refusals, whose names clients choose.
const (
	agentsOfDay  = 50
	refusedOfDay = 20
	agentsSeen   = 10 // the others are folded
	refusedSeen  = 5
	cardsSeen    = 5
)

// folded divides a list into the part that is seen and the rest.
func folded[T any](list []T, seen int) (shown, rest []T) {
	seen = min(seen, len(list))
	return list[:seen], list[seen:]
}

// overview tells what happened today, what waits, and what can be taken back.
func (p *Page) overview(r request) view {
	v := view{template: "overview", title: "Overview"}
	_, err := p.calls.Update()
	today, changesErr := p.changedOn(r.Context(), p.Now())
	found, questionsErr := p.readQuestions()
	data := overviewData{Cards: p.cards(found.Waiting), Vault: p.Gateway.VaultName()}
	for _, c := range today {
		data.Changed = append(data.Changed, p.listed(r.Context(), c))
	}
	var refusals []refusedCount
	data.Agents, refusals = p.agentsOn(today)
	data.MoreRefused = max(0, len(refusals)-refusedOfDay)
	for _, one := range refusals[:min(len(refusals), refusedOfDay)] {
		data.Refused = append(data.Refused, refused{one, p.names.pathOf(one.Last), p.why(one.Last).Sentence})
	}
	data.First = len(today) == 0 && len(data.Agents) == 0 &&
		len(p.calls.Figures(callFilter{}, p.Now()).Agents) == 0
	data.Sentence = sentence(data.Agents, len(found.Waiting))
	data.Agents = data.Agents[:min(len(data.Agents), agentsOfDay)]
	data.Agents, data.AgentsRest = folded(data.Agents, agentsSeen)
	data.Waiting = len(data.Cards)
	data.Cards, data.CardsRest = folded(data.Cards, cardsSeen)
	data.Refused, data.RefusedRest = folded(data.Refused, refusedSeen)
	servers, serversErr := ownerfiles.Servers(ownerfiles.ServersFolder(p.State))
	for _, s := range servers {
		shown := shownServer{Server: s, Up: lasted(max(0, p.Now().Sub(s.Since)))}
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

// sentence tells of a day.
func sentence(agents []dayOf, waiting int) string {
	const most = 4
	var parts []string
	for i, a := range agents {
		if i == most {
			parts = append(parts, sanitize.Counted(len(agents)-most, "more agent")+" called")
			break
		}
		var did []string
		if a.Read > 0 {
			did = append(did, "read "+sanitize.Counted(a.Read, "note"))
		}
		switch {
		case a.Changed > 0 && a.Read > 0:
			did = append(did, fmt.Sprintf("changed %d", a.Changed))
		case a.Changed > 0:
			did = append(did, "changed "+sanitize.Counted(a.Changed, "note"))
		}
		if len(did) == 0 && a.Calls > a.Denied {
			did = append(did, "made "+sanitize.Counted(a.Calls-a.Denied, "call"))
		}
		switch {
		case a.Denied == 1:
			did = append(did, "was refused once")
		case a.Denied > 1:
			did = append(did, "was refused "+sanitize.Counted(a.Denied, "time"))
		}
		switch n := len(did); {
		case n == 1:
			parts = append(parts, nameOf(a.Name)+" "+did[0])
		case n > 1:
			parts = append(parts, nameOf(a.Name)+" "+strings.Join(did[:n-1], ", ")+" and "+did[n-1])
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

// midnight is when the day of a time began, in the zone of the machine.
func midnight(t time.Time) time.Time {
	t = t.Local()
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// agentsData is what the view of agents shows.
type agentsData struct {
	Agents []shownAgent
	Known  bool         // agents are defined
	Grants []shownGrant // of servers, and of agents that are not listed
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

// agents shows who may call, and what each did today.
func (p *Page) agents(r request) view {
	_, err := p.calls.Update()
	today, changesErr := p.changedOn(r.Context(), p.Now())
	days, _ := p.agentsOn(today)
	var data agentsData
	defined, agentsErr := p.Agents()
	given, grantsErr := p.grantsOf()
	_, toReview, reviewErr := p.unreviewed(r.Context())
	show := func(a Agent, isDefined bool) {
		one := shownAgent{Agent: a, Defined: isDefined, Day: dayOf{agentFigures: agentFigures{Name: a.Name}}}
		if isDefined {
			one.Rights = "May do nothing"
			isEnded := a.State == "revoked" || a.State == "expired"
			if a.Tier != "" && a.Tier != "none" && !isEnded {
				one.Rights = "May call the commands of tier " + a.Tier + " and may not change notes"
				if a.Mutations {
					one.Rights = "May call the commands of tier " + a.Tier + " and change notes"
				}
				if a.Expires != nil {
					one.Rights += ", until " + a.Expires.Local().Format(time.DateOnly)
				}
			}
		}
		if i := slices.IndexFunc(days, func(d dayOf) bool { return d.Name == a.Name }); i >= 0 {
			one.Day = days[i]
		} else {
			one.Day.Last, _ = p.calls.Latest(callFilter{Who: a.Name})
		}
		if one.Clients = one.Day.Last.Client; one.Clients == a.Name {
			one.Clients = ""
		}
		for _, c := range today {
			if c.Who == a.Name && !c.Own {
				one.Changed = append(one.Changed, c)
			}
		}
		one.ToReview = toReview[a.Name]
		one.Grants = given[a.Name]
		delete(given, a.Name)
		data.Agents = append(data.Agents, one)
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
	for _, who := range slices.Sorted(maps.Keys(given)) {
		data.Grants = append(data.Grants, given[who]...)
	}
	return view{template: "agents", title: "Agents", data: data}.failed(cmp.Or(err, changesErr, agentsErr, grantsErr, reviewErr))
}

// agentAct pauses or resumes an agent, or takes all rights from it.
func (p *Page) agentAct(r request, what string) view {
	name := r.PostForm.Get("agent")
	v := view{goTo: "agents"}
	known, _ := p.Agents() // one that is not known cannot be named
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

// pause has every server deny every call.
func (p *Page) pause(r request) view {
	v := view{goTo: p.backTo(r)}
	if !ownerfiles.EnsureFolder(p.State) {
		return v.failed(
			failure.New(
				failure.CodeState,
				"it must be a folder that only you can access",
				"not paused: the state folder cannot be used",
			),
		)
	}
	if err := admission.Pause(p.State, "", p.Now()); err != nil {
		return v.failed(
			failure.New(failure.CodeState, `try "vaultwicket pause" in a terminal`, "not paused: %v", err),
		)
	}
	return v
}

// resume ends a pause of every server.
func (p *Page) resume(r request) view {
	v := view{goTo: p.backTo(r)}
	ownerfiles.EnsureFolder(p.State)
	if _, err := admission.Resume(p.State, ""); err != nil {
		return v.failed(failure.New(failure.CodeState, "delete the file", "still paused: %v", err))
	}
	return v
}

// backTo returns the view that a form was sent from, which is in every view, with its query. It is ""
// for the first view, and for what is none.
func (p *Page) backTo(r request) string {
	from, err := url.Parse(r.PostForm.Get("from"))
	if err != nil || from.IsAbs() || from.Host != "" {
		return ""
	}
	where := from.EscapedPath()
	labelHeight := where[:strings.LastIndexByte(where, '/')+1] // a route for everything below it ends with a slash
	if p.routes[where].show == nil && (labelHeight == "" || p.routes[labelHeight].show == nil) {
		return ""
	}
	query := from.Query()
	query.Del(answerField)
	if len(query) > 0 {
		where += "?" + query.Encode()
	}
	return where
}

// inForce returns the settings. Their origins have the name of the file and not its path.
func (p *Page) inForce() (shown Settings, err error) {
	shown, err = p.Settings()
	for i := range shown.Rows {
		if origin := &shown.Rows[i].Origin; shown.File != "" {
			*origin = strings.Replace(*origin, shown.File, filepath.Base(shown.File), 1)
		}
	}
	return shown, err
}
