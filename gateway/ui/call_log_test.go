package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/audit"
	"github.com/vaultwicket/vaultwicket/policy"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

var begunCall = time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)

// writer writes lines as the gateway does.
type writer struct {
	t     testing.TB
	state string
	logs  audit.Logs
	calls int
}

func newWriter(t testing.TB) *writer {
	state := t.TempDir()
	return &writer{t: t, state: state, logs: audit.OpenLogs(state)}
}

func (w *writer) write(line audit.Line, mutates bool) {
	w.t.Helper()
	write := w.logs.Write
	if mutates {
		write = w.logs.WriteLasting
	}
	require.NoError(w.t, write(line, audit.Buffered))
}

// call writes the lines of one call that took ms, with a code if it was refused or failed.
func (w *writer) call(command, client string, at time.Duration, ms int64, decision, code string) {
	w.t.Helper()
	w.calls++
	line := audit.Line{Time: begunCall.Add(at), Call: fmt.Sprintf("1-abc-%d", w.calls), Session: "1-abc",
		Client: client, Surface: "mcp", Vault: "Notes", Command: command, Effect: "read"}
	first := line
	first.Kind, first.Decision = "decision", decision
	if decision == "deny" {
		first.Code, first.Rule, first.DurationMs = code, "tier", ms
		w.write(first, command == "append")
		return
	}
	w.write(first, command == "append")
	exit := 0
	line.Kind, line.Time, line.DurationMs, line.Code, line.Exit, line.Backend = "end",
		line.Time.Add(time.Duration(ms)*time.Millisecond), ms, code, &exit, "embedded"
	w.write(line, command == "append")
}

// update reads what is new and returns how many lines were read in all.
func update(t testing.TB, c *CallLog) uint64 {
	t.Helper()
	return require.Value(c.Update())(t)
}

func TestLinesBecomeCalls(t *testing.T) {
	w := newWriter(t)
	c := OpenCallLog(w.state)
	assert.That(t, update(t, c) == 0, "calls of no log")
	w.call("read", "agent", 0, 5, "allow", "")
	w.call("delete", "agent", time.Minute, 1, "deny", "tier_closed") // of the other part of the log
	w.call("search", "other", 2*time.Minute, 900, "allow", "not_found")
	w.write(audit.Line{Kind: audit.KindLimited, Time: begunCall.Add(3 * time.Minute), Session: "1-abc", Client: "agent", Code: "rate_limited", Count: 7}, false)
	assert.Equal(t, update(t, c), 6)
	assert.That(t, update(t, c) == 6, "lines are read twice")
	want := []string{" denied 7", "search failed 0", "delete denied 0", "read allowed 0"}
	var got []string
	for _, call := range c.Page(callFilter{}, 0, 100).Calls {
		got = append(got, fmt.Sprintf("%s %s %d", call.Command, call.Outcome(), call.Count))
	}
	assert.That(t, slices.Equal(got, want), "%q, want %q", got, want)
	call, lines, ok := c.One("1-abc-3")
	if !ok || len(lines) != 2 || lines[0].Decision != "allow" || lines[1].Kind != "end" ||
		call.Duration != 900*time.Millisecond || call.Backend != "embedded" ||
		!call.Time.Equal(begunCall.Add(2*time.Minute)) {
		t.Errorf("%+v, %+v, %v", call, lines, ok)
	}
	for _, id := range []string{"", "x", "1-abc-99", "2-abc-3", "line1-99"} {
		_, _, ok := c.One(id)
		assert.That(t, !ok, "%q is a call", id)
	}
	// Another program that reads less of the log, or reads it later, has the same ids.
	var ids []string
	for i, other := range []*CallLog{c, OpenCallLog(w.state)} {
		update(t, other)
		w.call("read", "agent", -time.Hour, 5, "allow", "")
		for j, call := range c.Page(callFilter{}, 0, 4).Calls {
			if i == 0 {
				ids = append(ids, call.ID)
			}
			if same, lines, ok := other.One(ids[j]); !ok || len(lines) == 0 || same.Command != call.Command {
				t.Errorf("%q is %+v", ids[j], same)
			}
		}
	}
}

func TestACallThatWaitsThenEnds(t *testing.T) {
	w := newWriter(t)
	c := OpenCallLog(w.state)
	line := audit.Line{Kind: "decision", Call: "1-abc-1", Session: "1-abc", Surface: "mcp", Command: "delete",
		Effect: "destructive", Time: begunCall, Decision: "ask", Rule: "confirm", Code: "unconfirmed"}
	w.write(line, true)
	update(t, c)
	call := c.Page(callFilter{}, 0, 1).Calls[0]
	assert.Equal(t, call.Outcome(), "asked")
	assert.That(t, !call.Ended, "%+v", call)
	line.Decision, line.Code, line.By, line.Time = "reply", "", "page", begunCall.Add(time.Second)
	w.write(line, true)
	line.Decision, line.By, line.Rule = "allow", "", ""
	w.write(line, true)
	line.Kind, line.Decision, line.Change, line.DurationMs = "end", "", "c1", 4000
	w.write(line, true)
	update(t, c)
	p := c.Page(callFilter{Changes: true}, 0, 10)
	require.Equal(t, p.Total, 1)
	require.Equal(t, p.Calls[0].Outcome(), "allowed")
	require.That(t, p.Calls[0].Approved, "%+v", p)
	require.Equal(t, p.Calls[0].By, "page")
	require.Equal(t, p.Calls[0].Code, "")
	assert.That(t, p.Calls[0].Ended, "%+v", p)
	f := c.Figures(callFilter{}, begunCall.Add(time.Hour))
	require.Equal(t, f.P99, 0, "figures %+v: a user's time to think is not how long a call takes", f)
	assert.Equal(t, f.Agents[0].Calls, 1, "figures %+v: a user's time to think is not how long a call takes", f)
}

func TestTheOwnersCallsAreNotAnAgents(t *testing.T) {
	w := newWriter(t)
	w.call("read", "agent", 0, 5, "allow", "")
	for i, surface := range []string{"page", "terminal", ""} { // a completion names none
		w.write(audit.Line{Kind: "decision", Time: begunCall, Call: fmt.Sprintf("2-own-%d", i+1), Session: "2-own",
			Surface: surface, Command: "delete", Decision: "deny", Code: "unconfirmed"}, true)
	}
	w.write(audit.Line{Kind: audit.KindLimited, Time: begunCall, Session: "1-abc", Code: "rate_limited", Count: 7}, false) // of too many clients to name
	c := OpenCallLog(w.state)
	update(t, c)
	p := c.Page(callFilter{}, 0, 10)
	assert.Equal(t, p.Total, 5, "%d calls, %d of them of the owner", p.Total, p.Own)
	assert.Equal(t, p.Own, 3, "%d calls, %d of them of the owner", p.Total, p.Own)
	f := c.Figures(callFilter{}, begunCall)
	assert.Equal(t, f.Hours[0], hourFigures{Start: begunCall, Allowed: 1, Denied: 7})
	assert.Equal(t, len(f.Commands), 1)
}

func TestFiltersAndPages(t *testing.T) {
	w := newWriter(t)
	for i := range 250 {
		w.call([]string{"read", "search"}[i%2], []string{"one", "two", "three"}[i%3], time.Duration(i)*time.Minute, int64(i), "allow", "")
	}
	c := OpenCallLog(w.state)
	update(t, c)
	for name, test := range map[string]struct {
		filter callFilter
		want   int
	}{
		"all": {callFilter{}, 250}, "a command": {callFilter{Command: "read"}, 125}, "a client": {callFilter{Who: "two"}, 83},
		"both": {callFilter{Command: "read", Who: "one"}, 42}, "unknown": {callFilter{Who: "nobody"}, 0}, "text": {callFilter{Text: "SEAR"}, 125},
		"since": {callFilter{Since: begunCall.Add(200 * time.Minute)}, 50}, "until": {callFilter{Until: begunCall.Add(10 * time.Minute)}, 10},
		"outcome": {callFilter{Outcome: "denied"}, 0}, "session": {callFilter{Session: "1-abc"}, 250}, "changes": {callFilter{Changes: true}, 0},
	} {
		seen, before := 0, uint64(0)
		for range 20 {
			p := c.Page(test.filter, before, 40)
			require.That(t, p.Total == test.want, "%s: %d in all, want %d", name, p.Total, test.want)
			seen += len(p.Calls)
			if before = p.Older; before == 0 {
				break
			}
		}
		assert.That(t, seen == test.want, "%s: %d on all pages, want %d", name, seen, test.want)
	}
	f := c.Figures(callFilter{Since: begunCall}, begunCall.Add(5*time.Hour))
	sum := 0
	for _, hour := range f.Hours {
		sum += hour.Allowed
	}
	if sum != 250 || len(f.Hours) != 6 || f.P50 != 124*time.Millisecond || f.Slowest != 249*time.Millisecond ||
		len(f.Commands) != 2 || f.Commands[0].Calls != 125 {
		t.Errorf("%+v", f)
	}
	clients, vaults, commands := c.Names()
	if !slices.Equal(clients, []string{"one", "three", "two"}) || !slices.Equal(vaults, []string{"Notes"}) ||
		!slices.Equal(commands, []string{"read", "search"}) {
		t.Errorf("%q %q %q", clients, vaults, commands)
	}
	call, ok := c.Latest(callFilter{Session: "1-abc"})
	require.That(t, ok, "latest %+v", call)
	assert.Equal(t, call.Time, begunCall.Add(249*time.Minute), "latest %+v", call)
}

func TestTheOldestCallsMakeWay(t *testing.T) {
	const most = 1000
	w := newWriter(t)
	for i := range most + 10 {
		w.call("read", fmt.Sprint("client ", i), time.Duration(i)*time.Second, 1, "deny", policy.CodeAccess)
	}
	c := OpenCallLog(w.state)
	c.max = most
	update(t, c)
	p := c.Page(callFilter{}, 0, 1)
	if kept := most + 10 - (most+10)/4; p.Total != kept || len(c.rows) != kept || len(c.names) > kept+10 {
		t.Errorf("%d calls, %d rows, %d names, want %d", p.Total, len(c.rows), len(c.names), kept)
	}
	newest := fmt.Sprint("client ", most+9)
	assert.Equal(t, p.Calls[0].Client, newest)
	_, lines, _ := c.One(p.Calls[0].ID)
	require.Equal(t, len(lines), 1, "the lines of the newest call are %+v", lines)
	assert.Equal(t, lines[0].Client, newest, "the lines of the newest call are %+v", lines)
	assert.That(t, p.Dropped, "nothing says that older calls are missing")
}

// Reads and changes come from two parts of the log, and what is read of them together is in
// the order of its times.
func TestLaterCallsAreInTheirOrder(t *testing.T) {
	w := newWriter(t)
	c := OpenCallLog(w.state)
	w.call("read", "a", 0, 1, "allow", "")
	update(t, c)
	for i, command := range []string{"append", "read", "eval", "search", "append", "read"} {
		decision, code := "allow", ""
		if command == "eval" {
			decision, code = "deny", "restricted_command"
		}
		w.call(command, "a", time.Duration(i+1)*time.Minute, 1, decision, code)
	}
	update(t, c)
	var got []string
	for _, call := range c.Page(callFilter{}, 0, 10).Calls {
		got = append(got, call.Command)
	}
	want := "read append search eval read append read"
	assert.That(t, strings.Join(got, " ") == want, "newest first %q, want %q", got, want)
}

// A call that takes long is written after later ones, and is listed where it began. What was listed
// keeps its number, and a page goes on where the one before ended.
func TestACallThatIsWrittenLateIsListedWhereItBegan(t *testing.T) {
	w := newWriter(t)
	c := OpenCallLog(w.state)
	for i := range 6 {
		w.call("read", "a", time.Duration(i)*time.Minute, 1, "allow", "")
	}
	update(t, c)
	first := c.Page(callFilter{}, 0, 3)
	w.call("search", "a", 90*time.Second, 1, "allow", "")
	w.call("tasks", "a", 270*time.Second, 1, "allow", "")
	update(t, c)
	var got []string
	for _, call := range append(c.Page(callFilter{}, 0, 3).Calls, c.Page(callFilter{}, first.Older, 10).Calls...) {
		got = append(got, fmt.Sprintf("%s %d", call.Command, call.Time.Sub(begunCall)/time.Second))
	}
	want := "[read 300 tasks 270 read 240 read 120 search 90 read 60 read 0]"
	assert.That(t, fmt.Sprint(got) == want, "%v, want %s", got, want)
	last, ok := c.Last()
	require.That(t, ok, "the last is %+v", last)
	assert.Equal(t, last.Command, "tasks", "the last is %+v", last)
}

// What each agent did: notes are counted once, and refusals by what was refused and why.
func TestFiguresOfAgents(t *testing.T) {
	w := newWriter(t)
	read := func(client, note string) {
		w.calls++
		line := audit.Line{Kind: "decision", Decision: "allow",
			Time: begunCall.Add(time.Duration(w.calls) * time.Minute), Call: fmt.Sprintf("1-abc-%d", w.calls),
			Session: "1-abc", Client: client, Surface: "mcp", Command: "read", Note: note}
		w.write(line, false)
	}
	read("one", "00000000000000a1")
	read("one", "00000000000000a1")
	read("one", "00000000000000a2")
	read("two", "00000000000000a1")
	for range 2 {
		w.call("eval", "two", 70*time.Minute, 1, "deny", "restricted_command")
	}
	w.call("append", "one", 80*time.Minute, 1, "deny", "access_denied")
	c := OpenCallLog(w.state)
	update(t, c)
	f := c.Figures(callFilter{Since: begunCall}, begunCall.Add(2*time.Hour))
	var got []string
	for _, a := range f.Agents {
		got = append(got, fmt.Sprintf("%s %d %d %d %d %d", a.Name, a.Calls, a.Read, a.Denied, len(a.Hours), a.Hours[1].Denied))
	}
	for _, r := range f.Refused {
		got = append(got, fmt.Sprintf("%d %s %s %s", r.Calls, r.Last.Who(), r.Last.Command, r.Last.Code))
	}
	want := "[one 4 2 1 3 1 two 3 1 2 3 2 2 two eval restricted_command 1 one append access_denied]"
	assert.That(t, fmt.Sprint(got) == want, "%v, want %s", got, want)
	note := noteKeyOf("00000000000000a2")
	p := c.Page(callFilter{Text: "plan", Notes: map[noteKey]bool{note: true}}, 0, 10)
	require.Equal(t, p.Total, 1, "the calls about a note are %+v", p)
	assert.Equal(t, p.Calls[0].Note, note, "the calls about a note are %+v", p)
}

// TestWhatRulesAboutTextsDid has lines of calls of two days, each with what a rule did.
func TestWhatRulesAboutTextsDid(t *testing.T) {
	w := newWriter(t)
	c := OpenCallLog(w.state)
	for i, line := range []audit.Line{
		{Kind: "end", Found: []string{"secrets github-pat", "secrets slack-bot-token", "suspicious not-searched"}},
		{Kind: "end", Found: []string{"secrets github-pat"}, Code: "secret_found"},
		{Kind: "end", Found: []string{"secrets github-pat", "suspicious order"}, Shadow: []string{"secrets"}},
		{Kind: "decision", Decision: "ask", Rule: "confirm", Found: []string{"remote-links text"}},
		{Kind: "decision", Decision: "deny", Rule: "confirm", Code: "unconfirmed", Found: []string{"remote-links text"}},
		{Kind: "decision", Decision: "ask", Rule: "remote-links", Found: []string{"remote-links text"}},
		{Kind: "decision", Decision: "allow", Found: []string{"flow refuse"}, Shadow: []string{"flow"}},
		{Kind: "end", Found: []string{"flow refuse"}, Shadow: []string{"flow"}},
		{Kind: "decision", Decision: "deny", Rule: "flow", Code: "access_denied"},
		{Kind: "end", Rule: "private", Code: "access_denied"},
		{Kind: "decision", Decision: "deny", Rule: "tier", Code: "tier_closed"},
	} {
		line.Call, line.Session, line.Time = fmt.Sprintf("1-abc-%d", i), "1-abc", begunCall
		w.write(line, true)
	}
	w.write(audit.Line{Kind: "end", Call: "1-abc-20", Session: "1-abc", Time: begunCall.AddDate(0, 0, 2), Found: []string{"suspicious order"}}, true)
	w.write(audit.Line{Kind: "end", Call: "1-abc-21", Session: "1-abc", Time: begunCall.AddDate(0, 0, -2), Found: []string{"suspicious order"}}, true)
	update(t, c)
	day := func(days int) string { return begunCall.AddDate(0, 0, days).Local().Format(time.DateOnly) }
	want := []textDay{{day(2), "suspicious", "1 noticed"}, {day(0), "flow", "1 blocked, 1 shadow"},
		{day(0), "private", "1 blocked"}, {day(0), "remote-links", "2 asked"},
		{day(0), "secrets", "1 blocked, 1 redacted, 1 shadow"}, {day(0), "suspicious", "1 noticed"}}
	assert.EqualSlices(t, c.TextDays(begunCall), want)
}

// A long log is read from its end: the first answer has the newest calls and says that there are more, and the older
// ones come in parts, each call once with all its lines, under numbers that stay.
func TestALongLogIsReadFromItsEnd(t *testing.T) {
	const count = 12_000
	w := newWriter(t)
	var lines []audit.Line
	exit := 0
	for i := range count {
		at := begunCall.Add(time.Duration(i) * time.Second)
		line := audit.Line{Kind: "decision", Decision: "allow", Time: at, Call: fmt.Sprintf("2-abc-%d", i),
			Session: "2-abc", Client: "agent", Surface: "mcp", Vault: "Notes", Command: "read", Effect: "read"}
		ended := audit.Line{Kind: "end", Time: at.Add(time.Millisecond), Call: line.Call, Session: "1-abc",
			Client: "agent", Surface: "mcp", Vault: "Notes", Command: "read", DurationMs: 1, Exit: &exit,
			Backend: "embedded"}
		lines = append(lines, line, ended)
	}
	for part := range slices.Chunk(lines, 1000) {
		require.NoError(t, audit.Open(audit.CallsFolder(w.state), audit.Limits{}).WriteAll(audit.Buffered, part...))
	}
	w.call("append", "agent", time.Minute, 1, "allow", "") // of the other part of the log
	c := OpenCallLog(w.state)
	update(t, c)
	first := c.Page(callFilter{}, 0, 50)
	assert.That(t, first.Partial, "%d calls at first", first.Total)
	assert.That(t, first.Total > 50, "%d calls at first", first.Total)
	assert.That(t, first.Total < count/2, "%d calls at first", first.Total)
	for more := true; more; {
		var err error
		more, err = c.ReadOlder(t.Context())
		require.NoError(t, err)
	}
	w.call("search", "agent", count*time.Second, 1, "allow", "")
	update(t, c)
	all := c.Page(callFilter{}, 0, 1)
	assert.Equal(t, all.Total, count+2, "%d calls in the end: %+v", all.Total, all)
	assert.That(t, !all.Partial, "%d calls in the end: %+v", all.Total, all)
	assert.That(t, !all.Dropped, "%d calls in the end: %+v", all.Total, all)
	assert.Equal(t, all.Calls[0].Command, "search")
	seen := map[string]bool{}
	for before := first.Older; ; {
		p := c.Page(callFilter{}, before, 500)
		for _, call := range p.Calls {
			seen[call.ID] = true
			if call.Decision != "allow" || !call.Ended {
				t.Fatalf("%+v", call)
			}
		}
		if before = p.Older; before == 0 {
			break
		}
	}
	assert.That(t, len(seen) == count+1-len(first.Calls), "%d calls behind the first page of %d", len(seen), len(first.Calls))
	_, of, ok := c.One("2-abc-17")
	require.That(t, ok, "%+v", of)
	require.Equal(t, len(of), 2)
	require.Equal(t, of[0].Kind, "decision")
	assert.Equal(t, of[1].Kind, "end")
	f := c.Figures(callFilter{Command: "read"}, begunCall.Add(count*time.Second))
	sum := 0
	for _, hour := range f.Hours {
		sum += hour.Allowed
	}
	assert.Equal(t, sum, count)
}
