package ui

import (
	"cmp"
	"time"

	"vaultwicket/gateway/admission"
	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/state/private"
	"vaultwicket/gateway/ui/activity"
)

// overviewData is what the first view shows.
type overviewData struct {
	Questions []shownQuestion
	Servers   []shownServer
	Today     activity.Figures
	Latest    []activity.Call
	Health    healthData // of the latest check
	Problem   string     // why servers or calls are not known
}

// shownServer is a running server with what the audit log says of it.
type shownServer struct {
	private.Server
	Client string // of its latest call, "" before the first
	Up     string
	Minute int // calls in the last minute
	Last   *activity.Call
}

// latestCalls is how many calls the first view shows.
const latestCalls = 8

// overview shows the pending questions, the running servers and the calls of the day.
func (p *page) overview(r request) view {
	v := view{template: "overview", title: "Overview"}
	_, err := p.calls.Update()
	now := p.Now()
	data := overviewData{Health: p.health.latest(), Today: p.calls.Figures(activity.Filter{Since: midnight(now)}, now), Latest: p.calls.Page(activity.Filter{}, 0, latestCalls).Calls}
	questions, _, _, questionsErr := p.questions()
	data.Questions = p.shownQuestions(questions)
	servers, serversErr := private.Servers(private.ServersFolder(p.State))
	for _, s := range servers {
		shown := shownServer{Server: s, Up: lasted(max(0, now.Sub(s.Since)))}
		shown.Minute = p.calls.Page(activity.Filter{Session: s.Session, Since: now.Add(-time.Minute)}, 0, 0).Total
		if last, ok := p.calls.Latest(s.Session); ok {
			shown.Client, shown.Last = last.Client, &last
		}
		data.Servers = append(data.Servers, shown)
	}
	v.data = data
	return v.failed(cmp.Or(err, questionsErr, serversErr))
}

// midnight is when the day of a time began, in the zone of the machine.
func midnight(t time.Time) time.Time {
	t = t.Local()
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}

// pause has every server deny every call.
func (p *page) pause(r request) view {
	if !private.EnsureFolder(p.State) {
		return view{goTo: backTo(r)}.failed(failure.New(failure.CodeState, "it must be a folder that only you can access", "not paused: the state folder cannot be used"))
	}
	if err := admission.Pause(p.State, p.Now()); err != nil {
		return view{goTo: backTo(r)}.failed(failure.New(failure.CodeState, `try "vaultwicket pause" in a terminal`, "not paused: %v", err))
	}
	return view{goTo: backTo(r)}
}

// resume ends a pause.
func (p *page) resume(r request) view {
	if _, err := admission.Resume(p.State); err != nil {
		return view{goTo: backTo(r)}.failed(failure.New(failure.CodeState, "delete the file", "still paused: %v", err))
	}
	return view{goTo: backTo(r)}
}

// backTo returns the view that a form was sent from, which is in every view.
func backTo(r request) string {
	switch from := r.PostForm.Get("from"); from {
	case "activity", "approvals", "changes", "policy", "health", "settings":
		return from
	}
	return ""
}

// settings shows every setting with its origin, and the lines for another value. It changes
// nothing: a looser policy needs a restart by the user.
func (p *page) settings(r request) view {
	var shown Settings
	var err error
	if p.Settings != nil {
		shown, err = p.Config.Settings()
	}
	return view{template: "settings", title: "Settings", data: shown}.failed(err)
}
