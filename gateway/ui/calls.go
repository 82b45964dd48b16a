package ui

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"vaultwicket/gateway/state/audit"
	"vaultwicket/gateway/ui/activity"
)

// activityData is what the view of calls shows.
type activityData struct {
	Page     activity.Page
	Query    callQuery
	Figures  activity.Figures
	Chart    chart
	Clients  []string
	Vaults   []string
	Commands []string
	Outcomes []string
	Since    time.Time    // of the oldest call that is kept
	More     bool         // there were older ones
	Before   bool         // this is not the newest part
	Older    template.URL // the query of the next part, "" for none
	Most     int          // of the commands that were called most
}

// callQuery is a filter as it is in the address.
type callQuery struct {
	Client, Vault, Command, Outcome, Text, Session, Period string
	Changes                                                bool
}

// outcomes are the choices of a filter.
var outcomes = []string{"allowed", "denied", "failed", "asked", "planned"}

// rowsOfPage is how many calls one page of the view has.
const rowsOfPage = 100

func callQueryOf(values url.Values) callQuery {
	get := func(name string) string {
		text := strings.TrimSpace(values.Get(name))
		return text[:min(len(text), 200)]
	}
	return callQuery{
		Client: get("client"), Vault: get("vault"), Command: get("command"), Outcome: get("outcome"), Text: get("q"), Session: get("session"),
		Period: get("period"), Changes: get("changes") != "",
	}
}

// activity shows the calls that a filter wants, and their figures.
func (p *page) activity(r request) view {
	v := view{template: "activity", title: "Activity"}
	_, err := p.calls.Update()
	now := p.Now()
	values := r.URL.Query()
	before, _ := strconv.ParseUint(values.Get("before"), 10, 64) // 0 is from the newest
	data := activityData{Query: callQueryOf(values), Outcomes: outcomes, Before: before > 0, Most: 1}
	// What a query wants. The period is a day if none is given.
	filter := activity.Filter{Client: data.Query.Client, Vault: data.Query.Vault, Command: data.Query.Command, Outcome: data.Query.Outcome, Text: data.Query.Text, Session: data.Query.Session, Changes: data.Query.Changes}
	switch data.Query.Period {
	case "hour":
		filter.Since = now.Add(-time.Hour)
	case "today":
		filter.Since = midnight(now)
	case "week":
		filter.Since = now.Add(-7 * 24 * time.Hour)
	case "all":
	default:
		filter.Since = now.Add(-24 * time.Hour)
	}
	data.Page = p.calls.Page(filter, before, rowsOfPage)
	data.Figures = p.calls.Figures(filter, now)
	data.Chart = chartOf(data.Figures.Hours, time.Local)
	data.Clients, data.Vaults, data.Commands = p.calls.Names()
	data.Since, data.More = p.calls.Since()
	for _, c := range data.Figures.Commands {
		data.Most = max(data.Most, c.Calls)
	}
	if data.Page.Older > 0 {
		// The query for an address.
		next := url.Values{}
		for name, value := range map[string]string{"client": data.Query.Client, "vault": data.Query.Vault, "command": data.Query.Command, "outcome": data.Query.Outcome, "q": data.Query.Text, "session": data.Query.Session, "period": data.Query.Period} {
			if value != "" {
				next.Set(name, value)
			}
		}
		if data.Query.Changes {
			next.Set("changes", "1")
		}
		next.Set("before", strconv.FormatUint(data.Page.Older, 10))
		data.Older = template.URL(next.Encode())
	}
	v.data = data
	return v.failed(err)
}

// callData is one call with its lines of the log.
type callData struct {
	Call  activity.Call
	Lines []audit.Line
}

// oneCall shows a call with all its lines.
func (p *page) oneCall(r request) view {
	_, _ = p.calls.Update() // a call that is known can be shown without it
	id, err := url.PathUnescape(r.rest)
	call, lines, ok := p.calls.One(id)
	if err != nil || !ok {
		return view{template: "missing", title: "Not found", status: http.StatusNotFound}
	}
	return view{template: "call", title: "Call", data: callData{call, lines}}
}

// chart is a chart of bars, which the page draws as SVG, with a title and a description; the
// numbers are in a table next to it.
type chart struct {
	Width, Height int
	Title, About  string
	Bars          []bar
	Labels        []label
}

// bar is one part of a bar. Class is allowed, failed, asked or denied, and Title what it shows.
type bar struct {
	X, Y, Width, Height int
	Class, Title        string
}

// label is a text below the bars.
type label struct {
	X    int
	Text string
}

const (
	width, height = 720, 120
	below         = 18 // for the labels
	mostLabels    = 8
	mostBars      = 168 // a week of hours; more are put together
)

// chartOf returns a chart of the calls of some hours, in the time zone in.
func chartOf(hours []activity.Hour, in *time.Location) chart {
	hours, each := together(hours)
	c := chart{Width: width, Height: height, Title: "Calls over time"}
	most, calls, denied := 1, 0, 0
	for _, h := range hours {
		all := h.Allowed + h.Denied + h.Failed + h.Asked
		most, calls, denied = max(most, all), calls+all, denied+h.Denied
	}
	switch {
	case calls == 0:
		c.About = "No calls"
	case each == 1:
		c.About = fmt.Sprintf("%d calls, %d denied; at most %d in an hour", calls, denied, most)
	default:
		c.About = fmt.Sprintf("%d calls, %d denied; at most %d in %d hours", calls, denied, most, each)
	}
	for i, h := range hours {
		x, next := i*width/len(hours), (i+1)*width/len(hours)
		y := height - below
		for _, part := range []struct { // from the bottom
			calls int
			class string
		}{{h.Allowed, "allowed"}, {h.Failed, "failed"}, {h.Asked, "asked"}, {h.Denied, "denied"}} {
			if part.calls == 0 {
				continue
			}
			tall := max(1, part.calls*(height-below-4)/most)
			y -= tall
			title := fmt.Sprintf("%s: %d %s", h.Start.In(in).Format("Mon 2 Jan 15:04"), part.calls, part.class)
			c.Bars = append(c.Bars, bar{x, max(0, y), max(1, next-x-1), tall, part.class, title})
		}
	}
	form := "15:04"
	if len(hours)*each > 48 {
		form = "2 Jan"
	}
	every := max(1, (len(hours)+mostLabels-1)/mostLabels)
	for i := 0; i < len(hours); i += every {
		c.Labels = append(c.Labels, label{i * width / len(hours), hours[i].Start.In(in).Format(form)})
	}
	return c
}

// together puts neighbouring hours together when there are too many for one chart.
func together(hours []activity.Hour) (fewer []activity.Hour, each int) {
	each = (len(hours) + mostBars - 1) / mostBars
	if each <= 1 {
		return hours, 1
	}
	for i, h := range hours {
		if i%each == 0 {
			fewer = append(fewer, activity.Hour{Start: h.Start})
		}
		sum := &fewer[len(fewer)-1]
		sum.Allowed, sum.Denied, sum.Failed, sum.Asked = sum.Allowed+h.Allowed, sum.Denied+h.Denied, sum.Failed+h.Failed, sum.Asked+h.Asked
	}
	return fewer, each
}
