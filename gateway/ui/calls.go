package ui

import (
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/internal/sanitize"
)

// activityData is the data of the view of calls.
type activityData struct {
	Page     callPage
	Rows     []callRow
	Query    callQuery
	Chips    []filterChip
	Figures  callFigures
	Chart    chart
	Who      []string
	Vaults   []string
	Commands []string
	Outcomes []string
	First    bool         // there was never a call
	Before   bool         // this is not the newest part
	Newest   template.URL // the query of the newest part
	Older    template.URL // the query of the next part, "" for none
	Most     int          // number of calls of the most frequent command
}

// callRow is a call in a list, or several consecutive calls that are listed together.
type callRow struct {
	loggedCall
	Path  string   // of the note, "" if unknown
	Same  []callID // all calls of the row, nil for a single call
	Until time.Time
}

// callID is one of the calls of a row.
type callID struct {
	ID, Path string
	Time     time.Time
}

// rowsOf returns the rows of a list of calls. Repetitions of an agent are one row.
func (p *Page) rowsOf(calls []loggedCall) (rows []callRow) {
	for _, c := range calls {
		current := callRow{loggedCall: c, Path: p.names.pathOf(c)}
		n := len(rows)
		if n == 0 || !repeats(rows[n-1].loggedCall, c) {
			rows = append(rows, current)
			continue
		}
		last := &rows[n-1]
		if last.Same == nil {
			last.Same = []callID{{last.ID, last.Path, last.Time}}
		}
		last.Same = append(last.Same, callID{c.ID, current.Path, c.Time})
		last.Until = c.Time
	}
	return rows
}

// repeats reports whether a call differs from the one before at most in its note. A change is never a repetition.
func repeats(before, c loggedCall) bool {
	areChanges := before.Change != "" || c.Change != ""
	if areChanges || before.Kind != "" || c.Kind != "" {
		return false
	}
	hasSameCaller := before.Who() == c.Who() && before.Own() == c.Own() && before.Session == c.Session
	isSameCall := before.Vault == c.Vault && before.Command == c.Command
	hasSameEnd := before.Code == c.Code && before.Outcome() == c.Outcome()
	return hasSameCaller && isSameCall && hasSameEnd
}

// Notes returns the number of different notes that the calls of a row name.
func (r callRow) Notes() int {
	seen := map[string]bool{}
	for _, one := range r.Same {
		if one.Path != "" {
			seen[one.Path] = true
		}
	}
	return len(seen)
}

// filterChip is a filter in effect. Without is the query of the view without it.
type filterChip struct {
	Text    string
	Without template.URL
}

// chipOf returns the chip of a filter in a query, which consists of the parameters with these names.
func chipOf(query url.Values, text string, names ...string) filterChip {
	without := maps.Clone(query)
	for _, name := range names {
		without.Del(name)
	}
	return filterChip{sanitize.Line(text), template.URL(without.Encode())}
}

// callQuery is a filter as it appears in the address. Hour is the Unix time at which a part of a chart
// begins, and Hours its length.
type callQuery struct {
	Who, Vault, Command, Outcome, Text, Session, Period, Hour, Hours, Changes string
}

// outcomes are the choices of the filter by outcome.
var outcomes = []string{"allowed", "denied", "failed", "asked", "planned", "skipped"}

// periods are the labels of the choices of the filter by period.
var periods = map[string]string{"hour": "last hour", "today": "today", "week": "last 7 days", "all": "any time"}

// rowsOfPage is the maximum number of calls in one part of the view.
const rowsOfPage = 100

// fields returns the fields of a query by their parameters in the address.
func (q *callQuery) fields() map[string]*string {
	return map[string]*string{
		"who":     &q.Who,
		"vault":   &q.Vault,
		"command": &q.Command,
		"outcome": &q.Outcome,
		"q":       &q.Text,
		"session": &q.Session,
		"period":  &q.Period,
		"hour":    &q.Hour,
		"hours":   &q.Hours,
		"changes": &q.Changes,
	}
}

// values returns the parameters of a query for an address.
func (q callQuery) values() url.Values {
	values := url.Values{}
	for name, field := range q.fields() {
		if *field != "" {
			values.Set(name, *field)
		}
	}
	return values
}

// chips returns the chips of the filters in effect.
func (q callQuery) chips() (chips []filterChip) {
	add := func(text string, names ...string) { chips = append(chips, chipOf(q.values(), text, names...)) }
	for _, filter := range []struct{ name, label, value string }{
		{"q", "search", q.Text},
		{"who", "agent", q.Who},
		{"vault", "vault", q.Vault},
		{"command", "command", q.Command},
		{"outcome", "outcome", q.Outcome},
		{"session", "session", q.Session},
	} {
		if filter.value != "" {
			add(filter.label+": "+filter.value, filter.name)
		}
	}
	if q.Changes != "" {
		add("changes only", "changes")
	}
	if from, until, ok := q.hour(); ok {
		add(from.Local().Format("2 Jan 15:04")+" to "+until.Local().Format("15:04"), "hour", "hours")
	} else if name := periods[q.Period]; name != "" {
		add(name, "period")
	}
	return chips
}

// hour returns the period of the part of a chart that a query selects. ok is false if it selects none.
func (q callQuery) hour() (from, until time.Time, ok bool) {
	at, err := strconv.ParseInt(q.Hour, 10, 64)
	if err != nil || at <= 0 || at > 1<<40 {
		return from, until, false
	}
	hours, _ := strconv.Atoi(q.Hours) // one without a number
	from = time.Unix(at, 0)
	return from, from.Add(time.Duration(min(max(hours, 1), 24*31)) * time.Hour), true
}

// activity shows the calls that match the filters of the query, and their figures.
func (p *Page) activity(r request) view {
	v := view{template: "activity", title: "Activity"}
	_, err := p.calls.Update()
	now := p.Now()
	values := r.URL.Query()
	before, _ := strconv.ParseUint(values.Get("before"), 10, 64) // 0 begins with the newest
	var q callQuery
	for name, field := range q.fields() {
		text := strings.TrimSpace(values.Get(name))
		*field = text[:min(len(text), 200)]
	}
	data := activityData{
		Query:    q,
		Chips:    q.chips(),
		Outcomes: outcomes,
		Before:   before > 0,
		Most:     1,
		Newest:   template.URL(q.values().Encode()),
	}
	// The default period is a day.
	filter := callFilter{
		Who:     q.Who,
		Vault:   q.Vault,
		Command: q.Command,
		Outcome: q.Outcome,
		Text:    q.Text,
		Notes:   p.names.matching(q.Text),
		Session: q.Session,
		Changes: q.Changes != "",
	}
	switch q.Period {
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
	data.Figures = p.calls.Figures(filter, now)
	data.Chart = chartOf(data.Figures.Hours, time.Local)
	for i := range data.Chart.Slots {
		slot := &data.Chart.Slots[i]
		link := q.values()
		link.Set("hour", strconv.FormatInt(slot.Start.Unix(), 10))
		link.Set("hours", strconv.Itoa(data.Chart.Each))
		slot.Query = template.URL(link.Encode())
	}
	if from, until, ok := q.hour(); ok { // the chart above also shows the hours around it
		filter.Since = from
		filter.Until = until
		data.Figures = p.calls.Figures(filter, now)
	}
	data.Page = p.calls.Page(filter, before, rowsOfPage)
	data.Rows = p.rowsOf(data.Page.Calls)
	_, hasCalls := p.calls.Last()
	data.First = !hasCalls
	data.Who, data.Vaults, data.Commands = p.calls.Names()
	for _, c := range data.Figures.Commands {
		data.Most = max(data.Most, c.Calls)
	}
	if data.Page.Older > 0 {
		next := q.values()
		next.Set("before", strconv.FormatUint(data.Page.Older, 10))
		data.Older = template.URL(next.Encode())
	}
	v.data = data
	return v.failed(err)
}

// callData is a call with its lines in the log. Why is the reason of a refusal, nil for none.
type callData struct {
	Call  callRow
	Lines []audit.Line
	Why   *reason
}

// oneCall shows a call with all its lines.
func (p *Page) oneCall(r request) view {
	_, _ = p.calls.Update() // known calls can be shown even after an error
	id, err := url.PathUnescape(r.rest)
	call, lines, ok := p.calls.One(id)
	if err != nil || !ok {
		return view{template: "missing", title: "Not found", status: http.StatusNotFound}
	}
	data := callData{
		Call:  callRow{loggedCall: call, Path: p.names.pathOf(call)},
		Lines: lines,
	}
	isDenied := call.Decision == "deny" || call.Outcome() == "denied"
	wasRefused := call.Kind == "" && isDenied
	if wasRefused || call.Kind == audit.KindLimited {
		why := p.reasonWithAdvice(call)
		data.Why = &why
	}
	return view{template: "call", title: "Call", data: data}
}

// chart is a bar chart, which the page draws as SVG of the size below, with a description. The page
// shows the numbers in a table next to it.
type chart struct {
	About  string
	Slots  []slot
	Labels []string // of the time axis, at equal distances
	Each   int      // hours per slot
}

// slot is a period of the chart. Query selects its calls.
type slot struct {
	Start time.Time
	Query template.URL
	Title string
	Bars  []bar
}

// bar is one segment of the bar of a slot. Class is allowed, failed, asked, skipped or denied.
type bar struct {
	X, Y, Width, Height int
	Class               string
}

const (
	width       = 720
	height      = 120
	labelHeight = 18 // below the bars
	maxLabels   = 8
	maxBars     = 168 // a week of hours; longer periods have several hours in a bar
)

// chartOf returns a chart of the calls of some hours, in the time zone in.
func chartOf(hours []hourFigures, in *time.Location) chart {
	each := max(1, (len(hours)+maxBars-1)/maxBars)
	if each > 1 {
		var fewer []hourFigures
		for i, h := range hours {
			if i%each == 0 {
				fewer = append(fewer, hourFigures{Start: h.Start})
			}
			sum := &fewer[len(fewer)-1]
			sum.Allowed += h.Allowed
			sum.Denied += h.Denied
			sum.Failed += h.Failed
			sum.Asked += h.Asked
			sum.Skipped += h.Skipped
		}
		hours = fewer
	}
	c := chart{Each: each}
	most := 1
	calls := 0
	denied := 0
	for _, h := range hours {
		total := h.Allowed + h.Denied + h.Failed + h.Asked + h.Skipped
		most = max(most, total)
		calls += total
		denied += h.Denied
	}
	switch {
	case calls == 0:
		c.About = "No calls"
	case each == 1:
		c.About = fmt.Sprintf("%s, %d denied; at most %d in an hour", sanitize.Counted(calls, "call"), denied, most)
	default:
		c.About = fmt.Sprintf(
			"%s, %d denied; at most %d in %d hours",
			sanitize.Counted(calls, "call"),
			denied,
			most,
			each,
		)
	}
	for i, h := range hours {
		x := i * width / len(hours)
		next := (i + 1) * width / len(hours)
		y := height - labelHeight
		current := slot{Start: h.Start}
		var parts []string
		for _, part := range []struct { // from the bottom
			calls int
			class string
		}{{h.Allowed, "allowed"}, {h.Failed, "failed"}, {h.Asked, "asked"}, {h.Skipped, "skipped"}, {h.Denied, "denied"}} {
			if part.calls == 0 {
				continue
			}
			segment := max(1, part.calls*(height-labelHeight-4)/most)
			y -= segment
			parts = append(parts, fmt.Sprintf("%d %s", part.calls, part.class))
			current.Bars = append(current.Bars, bar{x, max(0, y), max(1, next-x-1), segment, part.class})
		}
		if len(parts) > 0 {
			current.Title = h.Start.In(in).Format("Mon 2 Jan 15:04") + ": " + strings.Join(parts, ", ")
			c.Slots = append(c.Slots, current)
		}
	}
	layout := "15:04"
	if len(hours)*each > 48 {
		layout = "2 Jan"
	}
	every := max(1, (len(hours)+maxLabels-1)/maxLabels)
	for i := 0; i < len(hours); i += every {
		c.Labels = append(c.Labels, hours[i].Start.In(in).Format(layout))
	}
	return c
}
