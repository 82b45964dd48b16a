package ui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// callFigures are statistics of the calls of agents in a period.
type callFigures struct {
	// Hours are the hours of the period, oldest first, without gaps.
	Hours []hourFigures
	// Commands are the most frequent commands, most frequent first, at most ten.
	Commands []callCount
	// Agents are the agents that called, busiest first. Refused are their denied calls, grouped by
	// what was denied and why, most frequent first.
	Agents  []agentFigures
	Refused []refusedCount
	// P50, P90 and P99 are percentiles of the durations of allowed calls that did not wait for
	// the user; Slowest is the longest. They are zero without such calls.
	P50, P90, P99, Slowest time.Duration
}

// hourFigures counts the calls of one hour.
type hourFigures struct {
	Start                                   time.Time
	Allowed, Denied, Failed, Asked, Skipped int
}

// callCount is how often something happened.
type callCount struct {
	Name  string
	Calls int
}

// agentFigures are the figures of one agent, see [loggedCall.Who]. Read is how many different notes it read, Last its
// newest call. Hours are as in [callFigures].
type agentFigures struct {
	Name                string
	Calls, Read, Denied int
	Last                loggedCall
	Hours               []hourFigures
	notes               map[noteKey]bool
	hours               map[int64]*hourFigures
}

// refusedCount counts the refusals of the same call of one agent for the same reason. Last is the newest of these calls.
type refusedCount struct {
	Calls int
	Last  loggedCall
}

const (
	maxCommands = 10
	maxHours    = 24 * 31
)

// textDay has the outcomes of a text rule on a day, in local time: one of [audit.Line.TextOutcomes],
// or how often each occurred, such as "2 asked, 1 blocked".
type textDay struct{ Day, Rule, Did string }

// TextDays returns the outcomes of the text rules since a time, newest day first.
func (c *CallLog) TextDays(since time.Time) (days []textDay) {
	c.mu.Lock()
	defer c.mu.Unlock()
	outcomes := slices.SortedFunc(maps.Keys(c.texts), func(a, b textDay) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Did, b.Did))
	})
	for _, o := range outcomes {
		did := fmt.Sprintf("%d %s", c.texts[o], o.Did)
		if n := len(days); n > 0 && days[n-1].Day == o.Day && days[n-1].Rule == o.Rule {
			days[n-1].Did += ", " + did
		} else if o.Day >= since.Local().Format(time.DateOnly) {
			days = append(days, textDay{o.Day, o.Rule, did})
		}
	}
	return days
}

// Figures returns the figures of the calls that match a filter. The hours begin with the
// filter's Since or the first call, and end now or at its Until; there is at most a month of them.
func (c *CallLog) Figures(f callFilter, now time.Time) (figures callFigures) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &tally{
		hours:    map[int64]*hourFigures{},
		commands: map[string]int{},
		agents:   map[string]*agentFigures{},
		refused:  map[[5]string]*refusedCount{},
	}
	oldest := now
	for r := range c.matching(f) {
		t.add(r.loggedCall)
		oldest = r.Time
	}
	if !f.Since.IsZero() {
		oldest = f.Since
	}
	if !f.Until.IsZero() && f.Until.Before(now) {
		now = f.Until
	}
	for name, calls := range t.commands {
		figures.Commands = append(figures.Commands, callCount{name, calls})
	}
	slices.SortFunc(figures.Commands, func(a, b callCount) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	figures.Commands = figures.Commands[:min(len(figures.Commands), maxCommands)]
	earliest := now.Add(-maxHours * time.Hour)
	if oldest.Truncate(time.Hour).Before(earliest) {
		oldest = earliest
	}
	hoursOf := func(counted map[int64]*hourFigures) (hours []hourFigures) {
		for at := oldest.Truncate(time.Hour); !at.After(now); at = at.Add(time.Hour) {
			hour := hourFigures{Start: at}
			if some := counted[at.Unix()]; some != nil {
				hour = *some
			}
			hours = append(hours, hour)
		}
		return hours
	}
	figures.Hours = hoursOf(t.hours)
	for _, a := range t.agents {
		a.Hours = hoursOf(a.hours)
		figures.Agents = append(figures.Agents, *a)
	}
	slices.SortFunc(figures.Agents, func(a, b agentFigures) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	for _, r := range t.refused {
		figures.Refused = append(figures.Refused, *r)
	}
	slices.SortFunc(figures.Refused, func(a, b refusedCount) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(b.Last.Number, a.Last.Number))
	})
	if n := len(t.durations); n > 0 {
		slices.Sort(t.durations)
		at := func(percent int) time.Duration { return t.durations[(n-1)*percent/100] }
		figures.P50 = at(50)
		figures.P90 = at(90)
		figures.P99 = at(99)
		figures.Slowest = at(100)
	}
	return figures
}

// tally counts calls.
type tally struct {
	hours     map[int64]*hourFigures
	commands  map[string]int
	agents    map[string]*agentFigures
	refused   map[[5]string]*refusedCount
	durations []time.Duration
}

// add counts a call. Calls must be added newest first.
func (t *tally) add(call loggedCall) {
	calls := call.Calls()
	if call.Own() || calls == 0 {
		return
	}
	agent := t.agents[call.Who()]
	if agent == nil {
		agent = &agentFigures{Name: call.Who(), Last: call, notes: map[noteKey]bool{}, hours: map[int64]*hourFigures{}}
		t.agents[agent.Name] = agent
	}
	agent.Calls += calls
	outcome := call.Outcome()
	for _, hours := range []map[int64]*hourFigures{t.hours, agent.hours} {
		start := call.Time.Truncate(time.Hour)
		hour := hours[start.Unix()]
		if hour == nil {
			hour = &hourFigures{Start: start}
			hours[start.Unix()] = hour
		}
		switch outcome {
		case "denied":
			hour.Denied += calls
		case "failed":
			hour.Failed += calls
		case "asked":
			hour.Asked += calls
		case "skipped":
			hour.Skipped += calls
		default:
			hour.Allowed += calls
		}
	}
	switch outcome {
	case "denied":
		agent.Denied += calls
		key := [5]string{call.Who(), call.Vault, call.Command, call.Code, call.Rule}
		if t.refused[key] == nil {
			t.refused[key] = &refusedCount{Last: call} // the newest come first
		}
		t.refused[key].Calls += calls
	case "allowed":
		if call.reads() && !agent.notes[call.Note] {
			agent.notes[call.Note] = true
			agent.Read++
		}
	}
	if call.Command != "" {
		t.commands[call.Command] += calls
	}
	if call.Ended && !call.Approved && call.Decision == "allow" {
		t.durations = append(t.durations, call.Duration)
	}
}
