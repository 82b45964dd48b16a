package ui

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/admission"
	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

var begun = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

func hours(n int, h hourFigures) (all []hourFigures) {
	for i := range n {
		h.Start = begun.Add(time.Duration(i) * time.Hour)
		all = append(all, h)
	}
	return all
}

// Whatever the numbers are, nothing is drawn outside, and no calls are lost from sight.
func TestBarsStayInside(t *testing.T) {
	for _, n := range []int{0, 1, 7, 24, 168, 169, 744} {
		for _, h := range []hourFigures{{}, {Allowed: 1}, {Denied: 1}, {Allowed: 1_000_000, Denied: 1, Failed: 1},
			{Allowed: 5, Denied: 5, Failed: 5, Asked: 5}} {
			c := chartOf(hours(n, h), time.UTC)
			drawn := map[string]bool{}
			for _, one := range c.Slots {
				for _, b := range one.Bars {
					drawn[b.Class] = true
					require.That(t, b.X >= 0, "%d hours of %+v: %+v", n, h, b)
					require.That(t, b.Y >= 0, "%d hours of %+v: %+v", n, h, b)
					require.That(t, b.Width >= 1, "%d hours of %+v: %+v", n, h, b)
					require.That(t, b.Height >= 1, "%d hours of %+v: %+v", n, h, b)
					require.That(t, b.X+b.Width <= width, "%d hours of %+v: %+v", n, h, b)
					require.That(t, b.Y+b.Height <= height-labelHeight, "%d hours of %+v: %+v", n, h, b)
				}
			}
			if n > 0 && (drawn["allowed"] != (h.Allowed > 0) || drawn["denied"] != (h.Denied > 0) ||
				drawn["failed"] != (h.Failed > 0) || drawn["asked"] != (h.Asked > 0)) {
				t.Errorf("%d hours of %+v: %v", n, h, drawn)
			}
			assert.That(t, len(c.Labels) <= maxLabels, "%d hours: %d labels, %d bars", n, len(c.Labels), len(c.Slots))
			assert.That(t, len(c.Slots) <= maxBars, "%d hours: %d labels, %d bars", n, len(c.Labels), len(c.Slots))
		}
	}
}

func TestAChartSaysWhatItShows(t *testing.T) {
	c := chartOf(hours(2, hourFigures{Allowed: 3, Denied: 1}), time.FixedZone("", 3600))
	require.Equal(t, c.About, "8 calls, 2 denied; at most 4 in an hour")
	require.Equal(t, c.Slots[0].Title, "Wed 4 Mar 11:00: 3 allowed, 1 denied")
	assert.Equal(t, c.Labels[0], "11:00")
	assert.Equal(t, chartOf(hours(3, hourFigures{}), time.UTC).About, "No calls")
}

// Clients choose their names and what they call, so the first view shows only so many of them.
func TestTheOverviewIsBounded(t *testing.T) {
	v := openPage(t, filepath.Join(t.TempDir(), "state"))
	logs := audit.OpenLogs(v.page.State)
	for i := range 60 {
		line := audit.Line{Kind: "decision", Decision: "deny", Code: "unknown_command",
			Call: fmt.Sprintf("1-a-%d", i+1), Session: "1-a", Client: fmt.Sprintf("client %d", i), Surface: "stdio",
			Command: fmt.Sprintf("c%d", i)}
		require.NoError(t, logs.Write(line, audit.Buffered))
	}
	view := v.see("")
	refused, agents := strings.Count(view, `<a id="r-`), strings.Count(view, `<a id="a-`)
	if refused != refusedOfDay || agents != agentsOfDay ||
		!strings.Contains(view, fmt.Sprintf(">%d more kinds of calls were refused<", 60-refusedOfDay)) ||
		!strings.Contains(view, "56 more agents called") {
		t.Errorf("%d refusals, %d agents: %s", refused, agents, view)
	}
}

// What a view has read first is told of all the same, once.
func TestEventsTellWhatAViewHasSeen(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	p := openPage(t, state).page
	begun, _ := p.events.check()
	told := p.events.subscribe(fmt.Sprint(begun))
	t.Cleanup(func() { p.events.unsubscribe(told) })
	logs := audit.OpenLogs(state)
	for i, code := range []string{"", "bad_value"} {
		decision := []string{"allow", "deny"}[i]
		require.NoError(t, logs.Write(audit.Line{Kind: "decision", Decision: decision, Code: code,
			Call: []string{"1-a-1", "1-a-2"}[i], Session: "1-a"}, audit.Buffered))
		if _, err := p.calls.Update(); err != nil { // as a view does
			t.Fatal(err)
		}
		one := <-told
		want := []string{"allowed", "denied"}[i]
		assert.Equal(t, one.Gate, want)
		assert.Equal(t, one.Calls, 1)
		assert.EqualSlices(t, one.Parts, []string{"calls"})
	}
	require.NoError(t, admission.Pause(state, "", p.Now()))
	one := <-told
	assert.That(t, one.Paused, "%+v of a pause", one)
	assert.EqualSlices(t, one.Parts, []string{"state"}, "%+v of a pause", one)
	version, _ := p.events.check()
	for since, want := range map[string]int{fmt.Sprint(version): 0, fmt.Sprint(version - 1): 1, "": 1} {
		late := p.events.subscribe(since)
		assert.That(t, len(late) == want, "a page that has seen %q is told %d times", since, len(late))
		p.events.unsubscribe(late)
	}
	if len(told) > 0 {
		t.Errorf("%+v is told twice", <-told)
	}
}
