package vault

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/tests/require"
)

func TestNotesOfOtherDays(t *testing.T) {
	h := build(t, map[string]string{
		".obsidian/daily-notes.json": `{"folder":"D"}`,
		"D/2026-11-20.md":            "yesterday", "D/2024-02-29.md": "leap",
	})
	h.expect(command.ExitDone, "yesterday\n", "daily:read", "offset=-1")
	h.expect(command.ExitDone, "yesterday\n", "daily:read", "date=2026-11-20")
	h.expect(command.ExitDone, "leap\n", "daily:read", "date=2024-02-29")
	h.expect(command.ExitDone, "D/2026-11-22.md\n", "daily:path", "offset=1")
	h.expect(command.ExitDone, "D/2026-11-21.md\n", "daily:path", "offset=0")
	h.expect(command.ExitFailed, "Error: File \"D/2026-11-19.md\" not found.\n", "daily:read", "offset=-2")
	h.expect(command.ExitMisuse, noDay("2026-02-30"), "daily:read", "date=2026-02-30")
	h.expect(command.ExitMisuse, noDay("someday"), "daily:read", "date=someday")
	for _, words := range []string{"yesterday", "Yesterday", "-1d", "1d", "friday", "2026-W47-5", "1 day ago"} {
		h.expect(command.ExitDone, "yesterday\n", "daily:read", "date="+words)
	}
	h.expect(command.ExitDone, "D/2026-11-22.md\n", "daily:path", "date=tomorrow")
	h.expect(command.ExitDone, "D/2026-11-16.md\n", "daily:path", "date=2026-W47")
	h.expect(command.ExitMisuse, "Error: Invalid number: x\n", "daily:path", "offset=x")
	h.expect(command.ExitMisuse, "Error: Invalid number: 99999999\n", "daily:path", "offset=99999999")
	h.expect(command.ExitMisuse, "Error: Use date=<date> or offset=<days>, not both.\n", "daily:path", "offset=1", "date=2026-11-20")
}

// noDay is the answer to what is not a day.
func noDay(text string) string {
	return "Error: Invalid date \"" + text + "\": want a day such as 2026-11-21, today, yesterday, -3d, -2w, monday, or a week such as 2026-W47\n"
}

func TestDailyRange(t *testing.T) {
	h := build(t, map[string]string{"2026-11-19.md": "one\n", "2026-11-21.md": "three", "2026-11-20.md/x.md": "a folder has the name"})
	h.expect(command.ExitDone, "==> 2026-11-19.md <==\none\n==> 2026-11-20.md (missing) <==\n==> 2026-11-21.md <==\nthree\n", "daily:range", "from=2026-11-19")
	h.expect(command.ExitDone, "==> 2026-11-19.md <==\none\n", "daily:range", "from=2026-11-19", "to=2026-11-19")
	h.expect(command.ExitMisuse, "Error: Invalid range: 2026-11-22 is after 2026-11-21.\n", "daily:range", "from=2026-11-22")
	h.expect(command.ExitMisuse, "Error: Invalid range: more than 367 days.\n", "daily:range", "from=2024-01-01")
	h.expect(command.ExitMisuse, noDay("1st"), "daily:range", "from=1st")
	h.expect(command.ExitMisuse, noDay("x"), "daily:range", "from=2026-11-19", "to=x")

	h.expect(command.ExitDone, "==> 2026-11-19.md <==\none\n==> 2026-11-20.md (missing) <==\n", "daily:range", "from=-2d", "to=yesterday")
	_, week, _ := h.run("daily:range", "from=2026-W47", "to=2026-W47")
	if strings.Count(week, "==> ") != 7 || !strings.HasPrefix(week, "==> 2026-11-16.md") {
		t.Errorf("the week is %q", week)
	}
	_, now, _ := h.run("daily:range", "from=this week")
	if strings.Count(now, "==> ") != 6 {
		t.Errorf("the week until today is %q", now)
	}

	months := build(t, map[string]string{".obsidian/daily-notes.json": `{"format":"YYYY-MM"}`, "2026-11.md": "november"})
	months.expect(command.ExitDone, "==> 2026-10.md (missing) <==\n==> 2026-11.md <==\nnovember\n", "daily:range", "from=2026-10-20")
}

func TestALongRangeIsBounded(t *testing.T) {
	h := build(t, map[string]string{"2026-11-20.md": strings.Repeat("x", 4<<20), "2026-11-21.md": "small"})
	h.expect(command.ExitDone, "==> 2026-11-19.md (missing) <==\n==> 2026-11-20.md (4194304 bytes, not shown) <==\n==> 2026-11-21.md <==\nsmall\n", "daily:range", "from=2026-11-19")
}

func TestSeveralRandomNotes(t *testing.T) {
	h := build(t, map[string]string{"a.md": "A", "b.md": "B", "f/c.md": "C", "d.txt": "no"})
	for _, count := range []string{"count=3", "count=20"} {
		_, out, _ := h.run("random:read", count)
		for _, want := range []string{"==> a.md <==\nA\n", "==> b.md <==\nB\n", "==> f/c.md <==\nC\n"} {
			if strings.Count(out, want) != 1 {
				t.Errorf("%s: %q does not hold %q once", count, out, want)
			}
		}
	}
	_, first, _ := h.run("random:read", "count=2", "seed=7")
	for range 5 {
		if _, again, _ := h.run("random:read", "count=2", "seed=7"); again != first {
			t.Errorf("the same seed gave %q and %q", first, again)
		}
	}
	h.expect(command.ExitDone, "==> f/c.md <==\nC\n", "random:read", "count=2", "folder=f")
	h.expect(command.ExitMisuse, "Error: Invalid number: 21. Use count from 1 to 20.\n", "random:read", "count=21")
	h.expect(command.ExitMisuse, "Error: Invalid number: x. Use seed from 0 to 9007199254740992.\n", "random:read", "seed=x")
	h.expect(command.ExitMisuse, "Error: Invalid date \"-1\": want a day such as 2026-11-21, today, yesterday, -3d, -2w, monday, or a week such as 2026-W47; did you mean \"yesterday\"?\n", "random:read", "min-age=-1")
	h.expect(command.ExitMisuse, "Error: Invalid number: 36526. Use a number of days up to 36525.\n", "random:read", "min-age=36526")
	h.expect(command.ExitMisuse, "Error: Invalid age \"tomorrow\": 2026-11-22 is in the future.\n", "random:read", "min-age=tomorrow")
	build(t, nil).expect(command.ExitDone, "No markdown files found.\n", "random:read", "count=2")
}

// touch sets when a file was changed, counted from the clock of the tests.
func (h *testVault) touch(t *testing.T, path string, ago time.Duration) {
	t.Helper()
	now, err := time.Parse(time.RFC3339, "2026-11-21T09:05:00+02:00")
	if err == nil {
		err = os.Chtimes(h.file(path), time.Time{}, now.Add(-ago))
	}
	require.NoError(t, err)
}

func TestRandomNotesOfAnAge(t *testing.T) {
	h := build(t, map[string]string{"old.md": "O", "new.md": "N"})
	h.touch(t, "old.md", 31*24*time.Hour)
	h.touch(t, "new.md", 29*24*time.Hour)
	for _, age := range []string{"30", "-30d", "30d", "-1mo", "2026-10-22", "30 days ago"} {
		h.expect(command.ExitDone, "old.md\nO\n", "random:read", "min-age="+age)
	}
	h.expect(command.ExitDone, "No markdown files found.\n", "random:read", "min-age=32")
}

// The notes of a day are all listed: an answer without some of them would mislead.
func TestRecentSinceIsNotCut(t *testing.T) {
	files := map[string]string{}
	for i := range 1100 {
		files[fmt.Sprintf("%d.md", i)] = "x"
	}
	h := build(t, files)
	for args, want := range map[string]int{"recent": 20, "recent since=2000-01-01": 1100, "recent since=2000-01-01 limit=7": 7} {
		if _, said, _ := h.run(strings.Fields(args)...); strings.Count(said, "\n") != want {
			t.Errorf("%s: %d notes, want %d", args, strings.Count(said, "\n"), want)
		}
	}
}

func TestRecent(t *testing.T) {
	h := build(t, map[string]string{"a.md": "a", "f/b.md": "b", "c.md": "c", "pic.png": "x"})
	h.touch(t, "a.md", time.Hour)
	h.touch(t, "f/b.md", 30*time.Hour)
	h.touch(t, "c.md", 30*time.Hour)
	const a, b, c = "a.md\t2026-11-21T08:05:00+02:00\n", "f/b.md\t2026-11-20T03:05:00+02:00\n", "c.md\t2026-11-20T03:05:00+02:00\n"
	h.expect(command.ExitDone, a+c+b, "recent")
	h.expect(command.ExitDone, a+c, "recent", "limit=2")
	h.expect(command.ExitDone, a, "recent", "since=2026-11-21")
	h.expect(command.ExitDone, "", "recent", "since=2026-11-22")
	h.expect(command.ExitDone, a, "recent", "since=today")
	h.expect(command.ExitDone, a+c+b, "recent", "since=yesterday")
	h.expect(command.ExitDone, a+c+b, "recent", "since=-1w")
	h.expect(command.ExitDone, a, "recent", "since=saturday")
	h.expect(command.ExitDone, a, "recent", "since=now")
	h.expect(command.ExitMisuse, noDay("soon"), "recent", "since=soon")
	h.expect(command.ExitMisuse, "Error: Invalid number: 0. Use limit from 1 to 1000.\n", "recent", "limit=0")
}
