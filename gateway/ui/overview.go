package ui

import (
	"time"

	"vaultwicket/gateway/state/running"
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
	running.Server
	Client string // of its latest call, "" before the first
	Up     string
	Minute int // calls in the last minute
	Last   *activity.Call
}

// latestCalls is how many calls the first view shows.
const latestCalls = 8

// overview shows how things are: what waits, who serves, what was called today.
func (p *page) overview(r request) view {
	v := view{template: "overview", title: "Overview"}
	_, err := p.calls.Update()
	now := p.Now()
	data := overviewData{Health: p.health.latest(), Today: p.calls.Figures(activity.Filter{Since: midnight(now)}, now), Latest: p.calls.Page(activity.Filter{}, 0, latestCalls).Calls}
	questions, _, _, questionsErr := p.questions()
	data.Questions = p.shownQuestions(questions)
	servers, serversErr := running.List(running.Folder(p.State))
	for _, s := range servers {
		data.Servers = append(data.Servers, p.shownServerOf(s, now))
	}
	v.data = data
	for _, err := range []error{err, questionsErr, serversErr} {
		if err != nil {
			return v.failed(err)
		}
	}
	return v
}

func (p *page) shownServerOf(s running.Server, now time.Time) shownServer {
	shown := shownServer{Server: s, Up: lasted(max(0, now.Sub(s.Since)))}
	shown.Minute = p.calls.Page(activity.Filter{Session: s.Session, Since: now.Add(-time.Minute)}, 0, 0).Total
	if last, ok := p.calls.Latest(s.Session); ok {
		shown.Client, shown.Last = last.Client, &last
	}
	return shown
}

// midnight is when the day of a time began, in the zone of the machine.
func midnight(t time.Time) time.Time {
	t = t.Local()
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location())
}
