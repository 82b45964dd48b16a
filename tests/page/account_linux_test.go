package page

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// account is what the lines of the log and the journal say of a day, counted without the program that the page uses
// for it. A call is known by its id.
type account struct {
	outcomes map[string]string // of the calls of agents
	who      map[string]string
	commands map[string]string
	others   map[string]string // outcomes of what the owner did, by call
	limited  int               // calls that are counted in a line of their own
	changes  map[string]bool   // ids in the journal
}

// accountOf counts a day.
func accountOf(r *harness.Program) account {
	r.T.Helper()
	counted := account{map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}, 0, map[string]bool{}}
	var lines []audit.Line
	require.NoError(r.T, json.Unmarshal([]byte(r.Must("audit", "list", "--json", "--limit", "0")), &lines))
	byCall := map[string][]audit.Line{}
	for _, line := range lines {
		switch {
		case line.Call != "":
			byCall[line.Call] = append(byCall[line.Call], line)
		case line.Kind == audit.KindLimited:
			counted.limited += int(line.Count)
		}
	}
	for id, all := range byCall {
		outcome := outcomeOf(all)
		if all[0].Surface == "page" || all[0].Surface == "terminal" || all[0].Surface == "" {
			counted.others[id] = outcome
			continue
		}
		counted.outcomes[id] = outcome
		counted.who[id] = all[0].Client
		counted.commands[id] = all[len(all)-1].Command
	}
	var changes []struct{ ID string }
	require.NoError(r.T, json.Unmarshal([]byte(r.Must("journal", "list", "--json", "--limit", "100000")), &changes))
	for _, change := range changes {
		counted.changes[change.ID] = true
	}
	return counted
}

// refusals are the codes of calls that were let through, and refused for what the note says.
var refusals = []string{"access_denied", "secret_found"}

// outcomeOf is what became of a call, from its lines.
func outcomeOf(lines []audit.Line) string {
	has := func(is func(audit.Line) bool) bool { return slices.ContainsFunc(lines, is) }
	decided := func(decision string) bool {
		return has(func(l audit.Line) bool { return l.Kind == "decision" && l.Decision == decision })
	}
	switch {
	case decided("skip"):
		return "skipped"
	case has(func(l audit.Line) bool { return l.Decision == "deny" && (l.Code != "unconfirmed" || l.Declined) }):
		return "denied"
	case has(func(l audit.Line) bool { return l.Kind == "end" && slices.Contains(refusals, l.Code) }):
		return "denied"
	case decided("deny"):
		return "asked"
	case has(func(l audit.Line) bool { return l.Kind == "end" && l.Code != "" }):
		return "failed"
	case decided("allow"):
		return "allowed"
	case decided("plan"):
		return "planned"
	}
	return "asked"
}

var (
	rowOfCall   = regexp.MustCompile(`(?s)<tr role="row" id="call-\d+"(.*?)</tr>`)
	linkOfCall  = regexp.MustCompile(`activity/call/([^"]+)"`)
	wordOfCall  = regexp.MustCompile(`<span class="outcome [^"]*">([^<]*)</span>`)
	nextPage    = regexp.MustCompile(`href="/[^/]+/([^"]*)" rel="next"`)
	linkOfGroup = regexp.MustCompile(`id="g-([^"]+)"`)
)

// pages returns a view with all that follow it.
func (v *visitor) pages(path string) (views []string) {
	v.T.Helper()
	for {
		view := v.See(path)
		views = append(views, view)
		next := nextPage.FindStringSubmatch(view)
		if next == nil {
			return views
		}
		path = html.UnescapeString(next[1])
	}
}

// compareLists compares the lists and the tables of the page with an account of the day.
func compareLists(t *testing.T, r *harness.Program, v *visitor) {
	t.Helper()
	counted := accountOf(r)
	shown := map[string]string{}
	for _, view := range v.pages("activity?period=all") {
		for _, row := range rowOfCall.FindAllStringSubmatch(view, -1) {
			outcome := wordOfCall.FindStringSubmatch(row[1])
			require.That(t, outcome != nil, "no outcome in %s", row[1])
			for _, link := range linkOfCall.FindAllStringSubmatch(row[1], -1) {
				shown[link[1]] = outcome[1]
			}
		}
	}
	maps.DeleteFunc(shown, func(id, _ string) bool { return strings.HasPrefix(id, "line") || counted.others[id] != "" })
	for id, outcome := range counted.outcomes {
		assert.Equal(t, shown[id], outcome, "the row of %s, %s of %s", id, counted.commands[id], counted.who[id])
	}
	assert.Equal(t, len(shown), len(counted.outcomes), "calls of agents in the list")

	outcomes := map[string]int{"denied": counted.limited}
	clients := map[string]int{}
	commands := map[string]int{}
	for id, outcome := range counted.outcomes {
		outcomes[outcome]++
		clients[counted.who[id]]++
		commands[counted.commands[id]]++
	}
	for filter, counts := range map[string]map[string]int{"outcome": outcomes, "who": clients, "command": commands} {
		for value, want := range counts {
			assert.Equal(t, v.callsOfAgents(filter, value), want, "calls with %s=%q", filter, value)
		}
	}
	t.Logf("%d calls: %v; %d commands, %d changes", len(counted.outcomes), outcomes, len(commands), len(counted.changes))
	hours := v.See("activity?period=all")
	_, table, _ := strings.Cut(hours, `id="hours-title"`)
	sums := make([]int, 5)
	for _, row := range regexp.MustCompile(`<tr><th scope="row">[^<]*</th>((?:<td>\d+</td>){5})`).FindAllStringSubmatch(table, -1) {
		for i, cell := range regexp.MustCompile(`\d+`).FindAllString(row[1], -1) {
			sums[i] += require.Value(strconv.Atoi(cell))(t)
		}
	}
	want := []int{outcomes["allowed"] + outcomes["planned"], outcomes["failed"], outcomes["asked"], outcomes["skipped"], outcomes["denied"]}
	assert.Equal(t, fmt.Sprint(sums), fmt.Sprint(want), "allowed, failed, asked, skipped and denied in the hours")
	for _, row := range regexp.MustCompile(`<tr><th scope="row">([a-z:-]+)</th><td>(\d+)</td><td><svg`).FindAllStringSubmatch(hours, -1) {
		if row[1] != "read" { // those that are counted in lines of their own are of it, too
			assert.Equal(t, row[2], strconv.Itoa(commands[row[1]]), "calls of %s in the table", row[1])
		}
	}

	listed := map[string]bool{}
	for _, view := range v.pages("changes") {
		for _, link := range linkOfGroup.FindAllStringSubmatch(view, -1) {
			listed[link[1]] = true
		}
	}
	assert.Equal(t, fmt.Sprint(slices.Sorted(maps.Keys(listed))), fmt.Sprint(slices.Sorted(maps.Keys(counted.changes))), "changes in the list")

	refused := 0
	_, table, _ = strings.Cut(hours, `id="denials-title"`)
	table, _, _ = strings.Cut(table, "</table>")
	for _, row := range regexp.MustCompile(`<td>(\d+)</td></tr>`).FindAllStringSubmatch(table, -1) {
		refused += require.Value(strconv.Atoi(row[1]))(t)
	}
	assert.Equal(t, refused, outcomes["denied"], "calls in the table of what was refused")
}

// callsOfAgents returns how many calls of agents the view of activity has with a filter.
func (v *visitor) callsOfAgents(filter, value string) int {
	v.T.Helper()
	view := v.See("activity?period=all&" + filter + "=" + url.QueryEscape(value))
	found := regexp.MustCompile(`<p class="faint">(\d+) calls?(?:, (\d+) of them yours)?`).FindStringSubmatch(view)
	require.That(v.T, found != nil, "no count in %s", mainOf(view))
	all := require.Value(strconv.Atoi(found[1]))(v.T)
	own, _ := strconv.Atoi(found[2]) // "" is none
	return all - own
}
