package activity

import (
	"cmp"
	"slices"
	"time"
)

// Figures are statistics of the calls of agents in a period.
type Figures struct {
	Calls, Denied, Failed, Asked, Changes int
	// Hours are the hours of the time, the oldest first, without gaps.
	Hours []Hour
	// Commands are those that were called most, Denials the reasons of denials, each the
	// most frequent first, at most ten.
	Commands []Count
	Denials  []Count
	// P50, P90 and P99 are percentiles of how long allowed calls took, without the time
	// that users thought; Slowest is the longest. They are zero without such calls.
	P50, P90, P99, Slowest time.Duration
}

// Hour counts the calls of one hour.
type Hour struct {
	Start                          time.Time
	Allowed, Denied, Failed, Asked int
}

// Count is how often something happened. Detail says more of it, such as the rule.
type Count struct {
	Name, Detail string
	Calls        int
}

const (
	mostCounted = 10
	maxHours    = 24 * 31
)

// Figures returns the figures of the calls that a filter wants. The hours are those from
// the filter's Since, or the first call, until now, at most a month.
func (c *Calls) Figures(f Filter, now time.Time) (figures Figures) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &tally{calls: c, hours: map[int64]*Hour{}, commands: map[Count]int{}, denials: map[Count]int{}}
	wants := c.wanted(f)
	oldest := now
	for number, r := range c.backward(0) {
		if wants(number, r) {
			t.add(number, r)
			oldest = time.UnixMilli(r.at)
		}
	}
	if !f.Since.IsZero() {
		oldest = f.Since
	}
	if !f.Until.IsZero() && f.Until.Before(now) {
		now = f.Until
	}
	return t.figures(oldest, now)
}

// tally counts calls.
type tally struct {
	calls     *Calls
	sum       Figures
	hours     map[int64]*Hour
	commands  map[Count]int
	denials   map[Count]int
	durations []uint32
}

func (t *tally) add(number uint64, r *row) {
	one := t.calls.call(number, r)
	if one.Own() || one.Kind != "" && one.Kind != "limited" {
		return
	}
	calls := max(1, one.Count)
	start := one.Time.Truncate(time.Hour)
	hour := t.hours[start.Unix()]
	if hour == nil {
		hour = &Hour{Start: start}
		t.hours[start.Unix()] = hour
	}
	t.sum.Calls += calls
	switch one.Outcome() {
	case "denied":
		t.sum.Denied += calls
		hour.Denied += calls
		t.denials[Count{Name: one.Code, Detail: cmp.Or(one.Rule, one.Command)}] += calls
	case "failed":
		t.sum.Failed += calls
		hour.Failed += calls
	case "asked":
		t.sum.Asked += calls
		hour.Asked += calls
	default:
		hour.Allowed += calls
	}
	if one.Change != "" {
		t.sum.Changes++
	}
	if one.Command != "" {
		t.commands[Count{Name: one.Command}] += calls
	}
	if one.Ended && !one.Approved && one.Decision == "allow" {
		t.durations = append(t.durations, r.ms)
	}
}

func (t *tally) figures(from, to time.Time) Figures {
	f := t.sum
	f.Commands, f.Denials = most(t.commands), most(t.denials)
	from = from.Truncate(time.Hour)
	if earliest := to.Add(-maxHours * time.Hour); from.Before(earliest) {
		from = earliest.Truncate(time.Hour)
	}
	for at := from; !at.After(to); at = at.Add(time.Hour) {
		hour := Hour{Start: at}
		if counted := t.hours[at.Unix()]; counted != nil {
			hour = *counted
		}
		f.Hours = append(f.Hours, hour)
	}
	slices.Sort(t.durations)
	at := func(percent int) time.Duration {
		if len(t.durations) == 0 {
			return 0
		}
		return time.Duration(t.durations[(len(t.durations)-1)*percent/100]) * time.Millisecond
	}
	f.P50, f.P90, f.P99, f.Slowest = at(50), at(90), at(99), at(100)
	return f
}

// most returns the counts, the highest first.
func most(counts map[Count]int) []Count {
	var list []Count
	for c, calls := range counts {
		c.Calls = calls
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Detail, b.Detail))
	})
	return list[:min(len(list), mostCounted)]
}
