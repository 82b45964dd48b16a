package page

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/testenv"
)

// dayOfAgent is what one agent did, counted from the lines of the log and of the journal alone.
type dayOfAgent struct {
	calls, refused int
	read, changed  map[string]bool
	undoable       int
}

// countDay counts what each client did, without the program that the page uses for it.
func countDay(r *harness.Program) map[string]*dayOfAgent {
	r.T.Helper()
	agents := map[string]*dayOfAgent{}
	of := func(client string) *dayOfAgent {
		if agents[client] == nil {
			agents[client] = &dayOfAgent{read: map[string]bool{}, changed: map[string]bool{}}
		}
		return agents[client]
	}
	var lines []audit.Line
	require.NoError(r.T, json.Unmarshal([]byte(r.Must("audit", "list", "--json", "--limit", "0")), &lines))
	byCall := map[string][]audit.Line{}
	for _, line := range lines {
		isOwn := line.Surface == "page" || line.Surface == "terminal" || line.Surface == ""
		if line.Call != "" && !isOwn {
			byCall[line.Call] = append(byCall[line.Call], line)
		}
	}
	for _, all := range byCall {
		agent := of(all[0].Client)
		agent.calls++
		has := func(wanted func(audit.Line) bool) bool { return slices.ContainsFunc(all, wanted) }
		isDenied := outcomeOf(all) == "denied"
		hasFailed := has(func(l audit.Line) bool { return l.Kind == "end" && l.Code != "" })
		if isDenied {
			agent.refused++
			continue
		}
		for _, l := range all {
			if l.Decision == "allow" && l.Effect == "read" && l.Note != "" && !hasFailed {
				agent.read[l.Note] = true
			}
		}
	}
	var changes []struct {
		Client, Undoes, State string
		Files                 []struct{ Path string }
	}
	require.NoError(r.T, json.Unmarshal([]byte(r.Must("journal", "list", "--json", "--limit", "100000")), &changes))
	for _, change := range changes {
		if change.Undoes != "" || change.State != "done" {
			continue
		}
		agent := of(change.Client)
		agent.undoable++
		for _, file := range change.Files {
			agent.changed[file.Path] = true
		}
	}
	return agents
}

// All figures of a busy day are those of the log and of the journal, before and after an undo of many.
func TestABusyDayIsTold(t *testing.T) {
	t.Parallel()
	r := harness.New(t, harness.BusyNotes())
	r.Zone = harness.ZoneAtNoon()
	v := open(r)
	r.BusyDay(testenv.Count(8, 80), testenv.Count(2, 30))
	compareDay(t, r, v)
	for range harness.BusyClients {
		view := v.See("")
		button := regexp.MustCompile(`>Undo all \d+<`).FindString(view)
		require.That(t, button != "", "no undo of all in %s", mainOf(view))
		v.undo(view, button)
		compareDay(t, r, v)
	}
}

// compareDay compares the views of the page with what was counted.
func compareDay(t *testing.T, r *harness.Program, v *visitor) {
	t.Helper()
	compareLists(t, r, v)
	counted := countDay(r)
	overview, agents := v.See(""), v.See("agents")
	calls := 0
	for name, day := range counted {
		if name == "page" || name == "terminal" {
			continue
		}
		calls += day.calls
		card := cardOf(t, agents, name)
		for what, want := range map[string]int{"Notes read": len(day.read), "Notes changed": len(day.changed), "Refused": day.refused} {
			assert.Equal(t, shownCount(t, card, `<dt>`+what+`</dt><dd>(\d+)</dd>`), strconv.Itoa(want), "%s of %s", what, name)
		}
		assert.Equal(t, shownCount(t, card, `Calls today</dt><dd><a [^>]*>(\d+)</a>`), strconv.Itoa(day.calls), "calls of %s", name)
		if day.undoable > 1 {
			has(t, overview, fmt.Sprintf("Undo all %d<", day.undoable))
		}
		if n := len(day.changed); n > 0 {
			assert.That(t, regexp.MustCompile(fmt.Sprintf(`changed %d\b`, n)).MatchString(overview), "the sentence has no %d notes that %s changed", n, name)
		}
	}
	shown := v.See("activity")
	assert.Equal(t, shownCount(t, shown, `<figcaption>(\d+) calls`), strconv.Itoa(calls), "calls in the chart")
	total, own := shownCount(t, shown, `<p class="faint">(\d+) calls`), "0"
	if found := regexp.MustCompile(`, (\d+) of them yours`).FindStringSubmatch(shown); found != nil {
		own = found[1]
	}
	all, yours := require.Value(strconv.Atoi(total))(t), require.Value(strconv.Atoi(own))(t)
	assert.Equal(t, all-yours, calls, "calls of agents in the list")
}

// cardOf returns the card of an agent in the view of agents.
func cardOf(t *testing.T, view, name string) string {
	t.Helper()
	for _, card := range strings.Split(view, `<article class="agent"`)[1:] {
		heading, _, _ := strings.Cut(card, "</h2>")
		if strings.HasSuffix(strings.TrimSpace(html.UnescapeString(heading)), name) {
			return card
		}
	}
	t.Fatalf("no card of %q in %s", name, mainOf(view))
	return ""
}
