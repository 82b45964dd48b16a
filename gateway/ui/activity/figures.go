package activity

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Figures are statistics of the calls of agents in a period.
type Figures struct {
	// Hours are the hours of the time, the oldest first, without gaps.
	Hours []Hour
	// Commands are those that were called most, the most frequent first, at most ten.
	Commands []Count
	// Agents are those that called, the busiest first. Refused are their calls that were denied,
	// by what was denied and why, the most frequent first.
	Agents  []Agent
	Refused []Refused
	// P50, P90 and P99 are percentiles of how long allowed calls took, without the time
	// that users thought; Slowest is the longest. They are zero without such calls.
	P50, P90, P99, Slowest time.Duration
}

// Hour counts the calls of one hour.
type Hour struct {
	Start                                   time.Time
	Allowed, Denied, Failed, Asked, Skipped int
}

// Count is how often something happened.
type Count struct {
	Name  string
	Calls int
}

// Agent is what one agent did, by [Call.Who]. Read is how many different notes it was shown, Last its
// newest call. Hours are as in [Figures].
type Agent struct {
	Name                string
	Calls, Read, Denied int
	Last                Call
	Hours               []Hour
	notes               map[Note]bool
	hours               map[int64]*Hour
}

// Refused is how often one agent was refused one thing. Last is the newest of the calls.
type Refused struct {
	Calls int
	Last  Call
}

const (
	mostCounted = 10
	maxHours    = 24 * 31
)

// TextDay is what a rule about texts did on a day, in local time: an outcome of
// [audit.Line.TextOutcomes], or how often it had each, such as "2 asked, 1 blocked".
type TextDay struct{ Day, Rule, Did string }

// TextDays returns what the rules about texts did since a time, the newest day first.
func (c *Calls) TextDays(since time.Time) (days []TextDay) {
	c.mu.Lock()
	defer c.mu.Unlock()
	outcomes := slices.SortedFunc(maps.Keys(c.texts), func(a, b TextDay) int {
		return cmp.Or(cmp.Compare(b.Day, a.Day), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Did, b.Did))
	})
	for _, o := range outcomes {
		did := fmt.Sprintf("%d %s", c.texts[o], o.Did)
		if n := len(days); n > 0 && days[n-1].Day == o.Day && days[n-1].Rule == o.Rule {
			days[n-1].Did += ", " + did
		} else if o.Day >= since.Local().Format(time.DateOnly) {
			days = append(days, TextDay{o.Day, o.Rule, did})
		}
	}
	return days
}

// Figures returns the figures of the calls that a filter wants. The hours are those from
// the filter's Since, or the first call, until now, at most a month.
func (c *Calls) Figures(f Filter, now time.Time) (figures Figures) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &tally{
		hours:    map[int64]*Hour{},
		commands: map[string]int{},
		agents:   map[string]*Agent{},
		refused:  map[[5]string]*Refused{},
	}
	oldest := now
	for r := range c.wanted(f) {
		t.add(r.Call)
		oldest = r.Time
	}
	if !f.Since.IsZero() {
		oldest = f.Since
	}
	if !f.Until.IsZero() && f.Until.Before(now) {
		now = f.Until
	}
	for name, calls := range t.commands {
		figures.Commands = append(figures.Commands, Count{name, calls})
	}
	slices.SortFunc(figures.Commands, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	figures.Commands = figures.Commands[:min(len(figures.Commands), mostCounted)]
	if earliest := now.Add(-maxHours * time.Hour); oldest.Truncate(time.Hour).Before(earliest) {
		oldest = earliest
	}
	hoursOf := func(counted map[int64]*Hour) (hours []Hour) {
		for at := oldest.Truncate(time.Hour); !at.After(now); at = at.Add(time.Hour) {
			hour := Hour{Start: at}
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
	slices.SortFunc(
		figures.Agents,
		func(a, b Agent) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name)) },
	)
	for _, r := range t.refused {
		figures.Refused = append(figures.Refused, *r)
	}
	slices.SortFunc(figures.Refused, func(a, b Refused) int {
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
	hours     map[int64]*Hour
	commands  map[string]int
	agents    map[string]*Agent
	refused   map[[5]string]*Refused
	durations []time.Duration
}

func (t *tally) add(one Call) {
	calls := one.Calls()
	if one.Own() || calls == 0 {
		return
	}
	agent := t.agents[one.Who()]
	if agent == nil {
		agent = &Agent{Name: one.Who(), Last: one, notes: map[Note]bool{}, hours: map[int64]*Hour{}}
		t.agents[agent.Name] = agent
	}
	agent.Calls += calls
	outcome := one.Outcome()
	for _, hours := range []map[int64]*Hour{t.hours, agent.hours} {
		start := one.Time.Truncate(time.Hour)
		hour := hours[start.Unix()]
		if hour == nil {
			hour = &Hour{Start: start}
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
		key := [5]string{one.Who(), one.Vault, one.Command, one.Code, one.Rule}
		if t.refused[key] == nil {
			t.refused[key] = &Refused{Last: one} // the newest come first
		}
		t.refused[key].Calls += calls
	case "allowed":
		if one.reads() && !agent.notes[one.Note] {
			agent.notes[one.Note] = true
			agent.Read++
		}
	}
	if one.Command != "" {
		t.commands[one.Command] += calls
	}
	if one.Ended && !one.Approved && one.Decision == "allow" {
		t.durations = append(t.durations, one.Duration)
	}
}
