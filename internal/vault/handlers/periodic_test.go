package handlers_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/embedded"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

const periodicFile = ".obsidian/plugins/periodic-notes/data.json"

func TestPathsOfPeriodicNotes(t *testing.T) {
	for _, test := range []struct {
		name       string
		settings   map[string]string
		args, want string
	}{
		{"the defaults", nil, "period=week", "2026-W47.md"},
		{"a month", nil, "period=month", "2026-11.md"},
		{"a quarter", nil, "period=quarter", "2026-Q4.md"},
		{"a year", nil, "period=year", "2026.md"},
		{"a day is that of the app", map[string]string{".obsidian/daily-notes.json": `{"folder":"D"}`}, "period=day", "D/2026-11-21.md"},
		{"a day of the plugin", map[string]string{".obsidian/daily-notes.json": `{"folder":"D"}`,
			periodicFile: `{"daily":{"enabled":true,"folder":"P"}}`}, "period=day", "P/2026-11-21.md"},
		{"one that is not enabled in the plugin", map[string]string{periodicFile: `{"weekly":{"enabled":false,"folder":"P"}}`}, "period=week", "2026-W47.md"},
		{"settings of the plugin",
			map[string]string{periodicFile: `{"weekly":{"enabled":true,"folder":"W","format":"GGGG/[Week] WW"}}`},
			"period=week", "W/2026/Week 47.md"},
		{"sets of settings",
			map[string]string{periodicFile: `{"activeCalendarSet":"b","calendarSets":[{"id":"a","month":{"enabled":true,"folder":"A"}},{"id":"b","month":{"enabled":true,"folder":"B"}}]}`},
			"period=month", "B/2026-11.md"},
		{"weeks of the Calendar plugin",
			map[string]string{".obsidian/plugins/calendar/data.json": `{"weeklyNoteFolder":"C","weeklyNoteFormat":"[w]w"}`},
			"period=week", "C/w47.md"},
		{"the first day of a week names it",
			map[string]string{periodicFile: `{"weekly":{"enabled":true,"format":"YYYY-MM-DD"}}`}, "period=week",
			"2026-11-15.md"},
		{"of an ISO week it is Monday",
			map[string]string{periodicFile: `{"weekly":{"enabled":true,"format":"[E] GGGG-MM-DD"}}`}, "period=week",
			"E 2026-11-16.md"},
		{"another week", nil, "period=week date=2026-W01", "2026-W01.md"},
		{"last month", nil, "period=month date=2026-10", "2026-10.md"},
		{"another quarter", nil, "period=quarter date=2026-08-31", "2026-Q3.md"},
		{"a week that spans two years", nil, "period=week date=2026-12-31", "2027-W01.md"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := embedded.New(t, test.settings)
			h.Expect(answer.ExitDone, test.want+"\n", append([]string{"periodic:path"}, strings.Fields(test.args)...)...)
			assert.That(t, h.Get(test.want) == "(missing)", "asking for the path made the note")
		})
	}
}

func TestPeriodicNotes(t *testing.T) {
	h := embedded.New(t, map[string]string{
		periodicFile:         `{"weekly":{"enabled":true,"folder":"W","template":"T/week"},"monthly":{"enabled":true,"template":"T/month.md"}}`,
		"T/week.md":          "# {{title}} {{date}}\n{{monday:YYYY-MM-DD}} to {{Sunday: MM-DD}}, {{date:gggg [Week] ww}}, {{date+1w:[W]ww}}\n## Log\n",
		"T/month.md":         "{{date:MMMM}} {{date-1M:MMM}}\n",
		"W/2026-W46.md":      "# W46\n## Log\nforty-six\n## Else\n",
		"W/2026-W45.md":      "no log\n",
		"2026-Q4.md":         "quarter",
		".obsidian/app.json": `{}`,
	})
	h.Expect(answer.ExitFailed, "Error: File \"W/2026-W47.md\" not found.\n", "periodic:read", "period=week")
	h.Expect(answer.ExitDone, "Added to: W/2026-W47.md\n", "periodic:append", "period=week", "heading=Log", "content=done")
	h.Expect(answer.ExitDone, "# 2026-W47 2026-W47\n2026-11-16 to 11-15, 2026 Week 47, W48\n## Log\ndone\n", "periodic:read", "period=week")
	h.Expect(answer.ExitDone, "## Log\ndone\n", "periodic:read", "period=week", "heading=Log")
	h.Expect(answer.ExitDone, "Added to: 2026-10.md\n", "periodic:append", "period=month", "date=2026-10", "heading=New", "create-heading", "content=x")
	h.Expect(answer.ExitDone, "October Sep\n\n## New\nx\n", "periodic:read", "period=month", "date=2026-10-31")
	h.Expect(answer.ExitDone, "quarter\n", "periodic:read", "period=quarter")
	h.Put(".obsidian/daily-notes.json", `{"format":"[D]/YYYYMMDD","template":"T/day"}`)
	h.Put("T/day.md", "{{date}}\n")
	h.Expect(answer.ExitDone, "Added to: D/20261121.md\n", "periodic:append", "period=day", "content=x")
	h.Expect(answer.ExitDone, "D/20261121\nx\n", "periodic:read", "period=day")
	h.Expect(answer.ExitDone,
		"==> W/2026-W44.md (missing) <==\n==> W/2026-W45.md (has no such heading) <==\n==> W/2026-W46.md <==\n## Log\nforty-six\n==> W/2026-W47.md <==\n## Log\ndone\n",
		"periodic:read", "period=week", "from=2026-10-31", "heading=Log")
	h.Expect(answer.ExitDone,
		"==> 2026-Q2.md (missing) <==\n==> 2026-Q3.md (missing) <==\n==> 2026-Q4.md <==\nquarter\n", "periodic:read",
		"period=quarter", "from=2026-06-30", "to=2026-12-31")
	for range 3 {
		h.Does("undo")
	}
	assert.Equal(t, h.Get("W/2026-W47.md"), "(missing)", "undo left a note")
	assert.Equal(t, h.Get("2026-10.md"), "(missing)", "undo left a note")
	h.Steps([]embedded.Turn{
		{"no period", "periodic:path", answer.ExitMisuse,
			"Error: Missing required parameter: period=day|week|month|quarter|year\nUsage: periodic:path period=day|week|month|quarter|year [date=<date>]\n"},
		{"another period", "periodic:path period=decade", answer.ExitMisuse, "Error: Invalid value for period: decade. Use day, week, month, quarter, year.\n"},
		{"a day and a range", "periodic:read period=week date=today from=today", answer.ExitMisuse, "Error: Use date=<date> or from=<date>, not both.\n"},
		{"a range without a start", "periodic:read period=week to=today", answer.ExitMisuse, "Error: to=<date> ends a range: give from=<date> too.\n"},
		{"a range that is too long", "periodic:read period=day from=2024-01-01", answer.ExitMisuse, "Error: Invalid range: more than 367 notes.\n"},
		{"no day", "periodic:path period=week date=someday", answer.ExitMisuse, noDay("someday")},
	})
	h.Put(periodicFile, `{"weekly":[]}`)
	h.Expect(answer.ExitFailed, "Error: Cannot use the settings in "+periodicFile+".\n", "periodic:path", "period=week")
	h.Put(periodicFile, `{"yearly":{"enabled":true,"folder":"../x"}}`)
	h.ExpectPrefix(answer.ExitFailed, "Error: The settings of notes for a year lead to no note of the vault: ", "periodic:path", "period=year")
}

func TestDailyEnsure(t *testing.T) {
	h := embedded.New(t, map[string]string{".obsidian/daily-notes.json": `{"folder":"D","template":"T"}`,
		"T.md": "# {{title}}\n<% tp.date.now() %> {{cursor}} {{VALUE:x}}\n"})
	h.Expect(answer.ExitDone, "Created: D/2026-11-22.md\n", "daily:ensure", "date=tomorrow")
	h.Expect(answer.ExitDone, "Exists: D/2026-11-22.md\n", "daily:ensure", "date=tomorrow")
	assert.Equal(t, h.Get("D/2026-11-22.md"), "# 2026-11-22\n<% tp.date.now() %> {{cursor}} {{VALUE:x}}\n", "the note became")
	n := len(h.Changes())
	assert.That(t, n == 1, "%d changes in the journal", n)
	h.Run("undo")
	assert.That(t, h.Get("D/2026-11-22.md") == "(missing)", "undo left the note")
	const left = "the template has parts that were left as they are, because no plugin runs here: Templater commands (<% %>): 1; placeholders: {{cursor}}, {{VALUE:x}}"
	for _, want := range []string{left, ""} { // at the second time the note is there
		_, _, stderr := h.Run("--facts", "daily:ensure")
		_, facts, _ := embedded.CutReport(stderr)
		assert.Equal(t, facts.Notice, want, "the notice")
	}
}

func TestSectionsOfDailyNotes(t *testing.T) {
	h := embedded.New(t, map[string]string{"2026-11-19.md": "## Log\none\n## Else\n", "2026-11-20.md": "text", "2026-11-21.md": "## Log\n## Log\n"})
	h.Expect(answer.ExitDone,
		"==> 2026-11-18.md (missing) <==\n==> 2026-11-19.md <==\n## Log\none\n==> 2026-11-20.md (has no such heading) <==\n==> 2026-11-21.md (has 2 headings of that name) <==\n",
		"daily:range", "from=-3d", "heading=log")
}

func TestCreateFromATemplateWithText(t *testing.T) {
	h := embedded.New(t, map[string]string{".obsidian/templates.json": `{"folder":"T"}`, "T/Meeting.md": "# {{title}}\n<% tp.file.cursor() %>\n"})
	status, out, stderr := h.Run("--facts", "create", "path=M/Ada.md", "template=Meeting", `content=- agenda\n`)
	_, facts, _ := embedded.CutReport(stderr)
	if status != answer.ExitDone || out != "Created: M/Ada.md\n" || !strings.HasSuffix(facts.Notice, "Templater commands (<% %>): 1") {
		t.Errorf("status %d, %q, %q", status, out, stderr)
	}
	assert.Equal(t, h.Get("M/Ada.md"), "# Ada\n<% tp.file.cursor() %>\n- agenda\n", "the note became")
	h.Expect(answer.ExitFailed, "Error: Template \"None\" not found.\n", "create", "path=N.md", "template=None", "content=x")
}

func TestBriefing(t *testing.T) {
	h := embedded.New(t, map[string]string{
		"2026-11-21.md": "# Today\n- [ ] now 📅 2026-11-21\n", "2026-11-20.md": "- [ ] left\n- [x] done\n- [/] half\n",
		"Home.md": "- [ ] late 📅 2026-11-01\n- [ ] later 📅 2026-11-02\n- [-] gone 📅 2026-11-01\n- [ ] broken 📅 2026-02-30\n", "Old.md": "old\n",
	})
	for _, name := range []string{"2026-11-21.md", "2026-11-20.md", "Home.md"} {
		touch(h, t, name, time.Hour)
	}
	touch(h, t, "Old.md", 100*24*time.Hour)
	_, changed, _ := h.Run("recent")
	parts := []string{
		"Briefing for Saturday, 2026-11-21\n",
		"==> Today: 2026-11-21.md <==\n# Today\n- [ ] now 📅 2026-11-21\n",
		"==> Open tasks of 2026-11-20.md <==\n2026-11-20.md:1: - [ ] left\n2026-11-20.md:3: - [/] half\n",
		"==> Overdue tasks <==\nHome.md:1: - [ ] late 📅 2026-11-01\nHome.md:2: - [ ] later 📅 2026-11-02\n",
		"==> Tasks due today <==\n2026-11-21.md:2: - [ ] now 📅 2026-11-21\n",
		"==> Recently changed notes <==\n" + changed,
	}
	h.Expect(answer.ExitDone, strings.Join(parts, "\n"), "briefing")
	h.Expect(answer.ExitDone, strings.Join(append(parts, "==> Old note: Old.md <==\nold\n"), "\n"), "briefing", "old-note")
	_, few, _ := h.Run("briefing", "limit=1")
	assert.Contains(t, few, "Home.md:1: - [ ] late 📅 2026-11-01\n… and 1 more\n")
	assert.That(t, !strings.Contains(few, "later"), "got %q", few)
	h.Expect(answer.ExitMisuse, "Error: Invalid number: 0. Use limit from 1 to 100.\n", "briefing", "limit=0")

	empty := embedded.New(t, nil)
	empty.Expect(answer.ExitDone,
		"Briefing for Saturday, 2026-11-21\n\n==> Today: 2026-11-21.md (missing) <==\n\n==> Open tasks of 2026-11-20.md: none <==\n\n==> Overdue tasks: none <==\n\n"+
			"==> Tasks due today: none <==\n\n==> Recently changed notes: none <==\n\n==> Old note: none is unchanged for 90 days <==\n", "briefing", "old-note")
	empty.Put("2026-11-21.md", strings.Repeat("a line of text\n", 1000))
	if _, out, _ := empty.Run("briefing"); len(out) > 9<<10 || !strings.Contains(out, "… 6810 more bytes\n") {
		t.Errorf("%d bytes: %q", len(out), out[len(out)-300:])
	}
}

func TestNotesOfOtherDays(t *testing.T) {
	h := embedded.New(t, map[string]string{
		".obsidian/daily-notes.json": `{"folder":"D"}`,
		"D/2026-11-20.md":            "yesterday", "D/2024-02-29.md": "leap",
	})
	h.Expect(answer.ExitDone, "yesterday\n", "daily:read", "offset=-1")
	h.Expect(answer.ExitDone, "yesterday\n", "daily:read", "date=2026-11-20")
	h.Expect(answer.ExitDone, "leap\n", "daily:read", "date=2024-02-29")
	h.Expect(answer.ExitDone, "D/2026-11-22.md\n", "daily:path", "offset=1")
	h.Expect(answer.ExitDone, "D/2026-11-21.md\n", "daily:path", "offset=0")
	h.Expect(answer.ExitFailed, "Error: File \"D/2026-11-19.md\" not found.\n", "daily:read", "offset=-2")
	h.Expect(answer.ExitMisuse, noDay("2026-02-30"), "daily:read", "date=2026-02-30")
	h.Expect(answer.ExitMisuse, noDay("someday"), "daily:read", "date=someday")
	for _, words := range []string{"yesterday", "Yesterday", "-1d", "1d", "friday", "2026-W47-5", "1 day ago"} {
		h.Expect(answer.ExitDone, "yesterday\n", "daily:read", "date="+words)
	}
	h.Expect(answer.ExitDone, "D/2026-11-22.md\n", "daily:path", "date=tomorrow")
	h.Expect(answer.ExitDone, "D/2026-11-16.md\n", "daily:path", "date=2026-W47")
	h.Expect(answer.ExitMisuse, "Error: Invalid number: x\n", "daily:path", "offset=x")
	h.Expect(answer.ExitMisuse, "Error: Invalid number: 99999999\n", "daily:path", "offset=99999999")
	h.Expect(answer.ExitMisuse, "Error: Use date=<date> or offset=<days>, not both.\n", "daily:path", "offset=1", "date=2026-11-20")
}

// noDay is the answer to what is not a day.
func noDay(text string) string {
	return "Error: Invalid date \"" + text + "\": want a day such as 2026-11-21, today, yesterday, -3d, -2w, monday, or a week such as 2026-W47\n"
}

func TestDailyRange(t *testing.T) {
	h := embedded.New(t, map[string]string{"2026-11-19.md": "one\n", "2026-11-21.md": "three", "2026-11-20.md/x.md": "a folder has the name"})
	h.Expect(answer.ExitDone, "==> 2026-11-19.md <==\none\n==> 2026-11-20.md (missing) <==\n==> 2026-11-21.md <==\nthree\n", "daily:range", "from=2026-11-19")
	h.Expect(answer.ExitDone, "==> 2026-11-19.md <==\none\n", "daily:range", "from=2026-11-19", "to=2026-11-19")
	h.Expect(answer.ExitMisuse, "Error: Invalid range: 2026-11-22 is after 2026-11-21.\n", "daily:range", "from=2026-11-22")
	h.Expect(answer.ExitMisuse, "Error: Invalid range: more than 367 days.\n", "daily:range", "from=2024-01-01")
	h.Expect(answer.ExitMisuse, noDay("1st"), "daily:range", "from=1st")
	h.Expect(answer.ExitMisuse, noDay("x"), "daily:range", "from=2026-11-19", "to=x")

	h.Expect(answer.ExitDone, "==> 2026-11-19.md <==\none\n==> 2026-11-20.md (missing) <==\n", "daily:range", "from=-2d", "to=yesterday")
	_, week, _ := h.Run("daily:range", "from=2026-W47", "to=2026-W47")
	assert.Equal(t, strings.Count(week, "==> "), 7, "the week is %q", week)
	assert.That(t, strings.HasPrefix(week, "==> 2026-11-16.md"), "the week is %q", week)
	_, now, _ := h.Run("daily:range", "from=this week")
	assert.That(t, strings.Count(now, "==> ") == 6, "the week until today is %q", now)

	months := embedded.New(t, map[string]string{".obsidian/daily-notes.json": `{"format":"YYYY-MM"}`, "2026-11.md": "november"})
	months.Expect(answer.ExitDone, "==> 2026-10.md (missing) <==\n==> 2026-11.md <==\nnovember\n", "daily:range", "from=2026-10-20")
}

func TestALongRangeIsBounded(t *testing.T) {
	h := embedded.New(t, map[string]string{"2026-11-20.md": strings.Repeat("x", 4<<20), "2026-11-21.md": "small"})
	h.Expect(answer.ExitDone,
		"==> 2026-11-19.md (missing) <==\n==> 2026-11-20.md (4194304 bytes, not shown) <==\n==> 2026-11-21.md <==\nsmall\n",
		"daily:range", "from=2026-11-19")
}

func TestSeveralRandomNotes(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "A", "b.md": "B", "f/c.md": "C", "d.txt": "no"})
	for _, count := range []string{"count=3", "count=20"} {
		_, out, _ := h.Run("random:read", count)
		for _, want := range []string{"==> a.md <==\nA\n", "==> b.md <==\nB\n", "==> f/c.md <==\nC\n"} {
			assert.That(t, strings.Count(out, want) == 1, "%s: %q does not hold %q once", count, out, want)
		}
	}
	_, first, _ := h.Run("random:read", "count=2", "seed=7")
	for range 5 {
		_, again, _ := h.Run("random:read", "count=2", "seed=7")
		assert.That(t, again == first, "the same seed gave %q and %q", first, again)
	}
	h.Expect(answer.ExitDone, "==> f/c.md <==\nC\n", "random:read", "count=2", "folder=f")
	h.Expect(answer.ExitMisuse, "Error: Invalid number: 21. Use count from 1 to 20.\n", "random:read", "count=21")
	h.Expect(answer.ExitMisuse, "Error: Invalid number: x. Use seed from 0 to 9007199254740992.\n", "random:read", "seed=x")
	h.Expect(answer.ExitMisuse,
		"Error: Invalid date \"-1\": want a day such as 2026-11-21, today, yesterday, -3d, -2w, monday, or a week such as 2026-W47; did you mean \"yesterday\"?\n",
		"random:read", "min-age=-1")
	h.Expect(answer.ExitMisuse, "Error: Invalid number: 36526. Use a number of days up to 36525.\n", "random:read", "min-age=36526")
	h.Expect(answer.ExitMisuse, "Error: Invalid age \"tomorrow\": 2026-11-22 is in the future.\n", "random:read", "min-age=tomorrow")
	embedded.New(t, nil).Expect(answer.ExitDone, "No markdown files found.\n", "random:read", "count=2")
}

// touch sets when a file was changed, counted from the clock of the tests.
func touch(h *embedded.Vault, t *testing.T, path string, ago time.Duration) {
	t.Helper()
	now, err := time.Parse(time.RFC3339, "2026-11-21T09:05:00+02:00")
	if err == nil {
		err = os.Chtimes(h.File(path), time.Time{}, now.Add(-ago))
	}
	require.NoError(t, err)
}

func TestRandomNotesOfAnAge(t *testing.T) {
	h := embedded.New(t, map[string]string{"old.md": "O", "new.md": "N"})
	touch(h, t, "old.md", 31*24*time.Hour)
	touch(h, t, "new.md", 29*24*time.Hour)
	for _, age := range []string{"30", "-30d", "30d", "-1mo", "2026-10-22", "30 days ago"} {
		h.Expect(answer.ExitDone, "old.md\nO\n", "random:read", "min-age="+age)
	}
	h.Expect(answer.ExitDone, "No markdown files found.\n", "random:read", "min-age=32")
}

// The notes of a day are all listed: an answer without some of them would mislead.
func TestRecentSinceIsNotCut(t *testing.T) {
	files := map[string]string{}
	for i := range 1100 {
		files[fmt.Sprintf("%d.md", i)] = "x"
	}
	h := embedded.New(t, files)
	for args, want := range map[string]int{"recent": 20, "recent since=2000-01-01": 1100, "recent since=2000-01-01 limit=7": 7} {
		_, said, _ := h.Run(strings.Fields(args)...)
		assert.That(t, strings.Count(said, "\n") == want, "%s: %d notes, want %d", args, strings.Count(said, "\n"), want)
	}
}

func TestRecent(t *testing.T) {
	h := embedded.New(t, map[string]string{"a.md": "a", "f/b.md": "b", "c.md": "c", "pic.png": "x"})
	touch(h, t, "a.md", time.Hour)
	touch(h, t, "f/b.md", 30*time.Hour)
	touch(h, t, "c.md", 30*time.Hour)
	const a, b, c = "a.md\t2026-11-21T08:05:00+02:00\n", "f/b.md\t2026-11-20T03:05:00+02:00\n", "c.md\t2026-11-20T03:05:00+02:00\n"
	h.Expect(answer.ExitDone, a+c+b, "recent")
	h.Expect(answer.ExitDone, a+c, "recent", "limit=2")
	h.Expect(answer.ExitDone, a, "recent", "since=2026-11-21")
	h.Expect(answer.ExitDone, "", "recent", "since=2026-11-22")
	h.Expect(answer.ExitDone, a, "recent", "since=today")
	h.Expect(answer.ExitDone, a+c+b, "recent", "since=yesterday")
	h.Expect(answer.ExitDone, a+c+b, "recent", "since=-1w")
	h.Expect(answer.ExitDone, a, "recent", "since=saturday")
	h.Expect(answer.ExitDone, a, "recent", "since=now")
	h.Expect(answer.ExitMisuse, noDay("soon"), "recent", "since=soon")
	h.Expect(answer.ExitMisuse, "Error: Invalid number: 0. Use limit from 1 to 1000.\n", "recent", "limit=0")
}
