package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestWhatIsWrittenIsListed(t *testing.T) {
	l := newLog(t, Limits{})
	before := time.Now()
	writeAll(t, l, 1, 20)
	wantWhole(t, l, 20)
	lines := listed(t, l, Filter{})
	require.Equal(t, len(lines), 20)
	for i, line := range lines {
		want := sample(i + 1)
		require.Equal(t, line.Seq, uint64(i+1))
		require.Equal(t, line.Call, want.Call)
		require.Equal(t, *line.Exit, *want.Exit)
		require.Equal(t, line.Params[0], want.Params[0])
		assert.Equal(t, line.Note, want.Note)
		assert.That(t, !line.Time.Before(before.Add(-time.Second)), "time %v", line.Time)
		assert.Equal(t, line.Time.Location(), time.UTC, "time %v", line.Time)
	}
	assert.Equal(t, lines[0].Prev, strings.Repeat("0", 64), "the first follows")
	for name, mode := range map[string]os.FileMode{"": 0o700, currentFile: 0o600, headFile: 0o600, keyFile: 0o600, lockFile: 0o600} {
		info := require.Value(os.Lstat(l.folder.file(name)))(t)
		assert.That(t, info.Mode().Perm() == mode || !ownerfiles.CanRenameOpen, "%q has mode %v", name, info.Mode())
	}
}

func TestNothingIsThereBeforeTheFirstLine(t *testing.T) {
	l := newLog(t, Limits{})
	_, err := os.Lstat(l.folder.dir)
	assert.That(t, os.IsNotExist(err), "%v", err)
	assert.Equal(t, verified(t, l), (Report{}))
	lines := listed(t, l, Filter{})
	assert.That(t, lines == nil, "%+v", lines)
	assert.That(t, len(l.Digest("text")) == digestLength, "no digest")
	assert.Equal(t, verified(t, l), (Report{}), "with a key alone")
	writeAll(t, l, 1, 1)
	wantWhole(t, l, 1)
}

func TestFilters(t *testing.T) {
	l := newLog(t, Limits{FileSize: 1000})
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for n := range 30 {
		line := Line{Kind: "decision", Time: start.Add(time.Duration(n) * time.Hour), Session: "s-" + string(rune('a'+n%3)), Decision: "allow"}
		if n%10 == 0 {
			line.Decision, line.Code, line.Command, line.Vault = "deny", "tier_closed", "delete", "Tëst\u202e"
		}
		require.NoError(t, l.Write(line, Buffered))
	}
	for _, test := range []struct {
		name        string
		filter      Filter
		count       int
		first, last uint64
	}{
		{"all", Filter{}, 30, 1, 30},
		{"since", Filter{Since: start.Add(28 * time.Hour)}, 2, 29, 30},
		{"until", Filter{Until: start.Add(2 * time.Hour)}, 2, 1, 2},
		{"the newest", Filter{Limit: 7}, 7, 24, 30},
		{"more than there are", Filter{Limit: 70}, 30, 1, 30},
		{"the newest of some", Filter{Limit: 2, Decision: "deny"}, 2, 11, 21},
		{"a code", Filter{Code: "tier_closed"}, 3, 1, 21},
		{"a command", Filter{Command: "delete"}, 3, 1, 21},
		{"a vault by its name", Filter{Vault: "Tëst\u202e"}, 3, 1, 21},
		{"a session", Filter{Session: "s-b"}, 10, 2, 29},
		{"a kind", Filter{Kind: "end"}, 0, 0, 0},
	} {
		lines := listed(t, l, test.filter)
		if len(lines) != test.count || test.count > 0 && (lines[0].Seq != test.first || lines[len(lines)-1].Seq != test.last) {
			t.Errorf("%s: %d lines", test.name, len(lines))
		}
	}
	for range List(t.Context(), l.folder.dir, Filter{}) {
		break // it may be left early
	}
}

func TestRotationCarriesTheChainOn(t *testing.T) {
	l := newLog(t, Limits{FileSize: 3000, Files: 4})
	for n := 1; n <= 200; n++ {
		require.NoError(t, l.Write(sample(n), n%7 == 0))
		if n%50 == 0 {
			l = again(t, l)
		}
		r := verified(t, l)
		require.That(t, r.Broken == nil, "after %d: %+v", n, r)
		require.Equal(t, r.Last, uint64(n), "after %d", n)
		require.That(t, r.Files <= 4, "after %d: %+v", n, r)
	}
	r := verified(t, l)
	assert.Equal(t, r.Files, 4)
	assert.That(t, r.First >= 150, "%+v", r)
	assert.Equal(t, r.Lines, int(r.Last-r.First)+1)
	there := require.Value(l.folder.list())(t)
	assert.That(t, len(there.rotated) == 3, "older files %v", there.rotated)
	// A lower limit applies from the next file on.
	l = Open(l.folder.dir, Limits{FileSize: 3000, Files: 1})
	writeAll(t, l, 201, 220)
	r = verified(t, l)
	require.That(t, r.Broken == nil, "%+v", r)
	require.Equal(t, r.Files, 1)
	assert.Equal(t, r.Last, 220)
}

func TestFilesThatDoNotStayOpen(t *testing.T) {
	l := newLog(t, Limits{FileSize: 3000, Files: 4})
	l.keepOpen = false
	writeAll(t, l, 1, 60)
	r := verified(t, l)
	require.That(t, r.Broken == nil, "%+v", r)
	require.Equal(t, r.Last, 60)
	assert.Equal(t, r.Files, 4)
	assert.That(t, l.tail == nil, "files are open")
}

func TestInvalidLinesAreRefused(t *testing.T) {
	l := newLog(t, Limits{})
	for name, spoil := range map[string]func(*Line){
		"no kind":              func(line *Line) { line.Kind = "" },
		"a text for a kind":    func(line *Line) { line.Kind = "Some text." },
		"a gap":                func(line *Line) { line.Kind = "gap" },
		"a break":              func(line *Line) { line.Kind = "break" },
		"a path for a digest":  func(line *Line) { line.Note = "daily/2026.md" },
		"a text for a hash":    func(line *Line) { line.Before = "some text of the note" },
		"a text for another":   func(line *Line) { line.After = "ABCDEF0011223344" },
		"a value for a digest": func(line *Line) { line.Params[1].Digest = "milk" },
		"a year out of range":  func(line *Line) { line.Time = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC) },
	} {
		line := sample(1)
		spoil(&line)
		var invalid *Invalid
		err := l.Write(line, Buffered)
		assert.That(t, errors.As(err, &invalid), "%s: %v", name, err)
	}
	_, err := os.Lstat(l.folder.dir)
	assert.That(t, os.IsNotExist(err), "something was written")
	var unusable *Unusable
	err = Open("relative", Limits{}).Write(sample(1), Buffered)
	assert.That(t, errors.As(err, &unusable), "%v", err)
}

func TestTheLongestLineFits(t *testing.T) {
	l := newLog(t, Limits{})
	long := strings.Repeat("\U000e0001\"", 5000)
	exit := -1 << 31
	line := Line{Kind: strings.Repeat("k", maxName), Exit: &exit, DurationMs: -1 << 63, Note: "0123456789abcdef",
		Before: strings.Repeat("a", 64), After: strings.Repeat("b", 64)}
	for _, name := range line.nameFields() {
		*name = long
	}
	for range 1000 {
		line.Params = append(line.Params, Param{long, -1 << 63, "0123456789abcdef"})
	}
	require.NoError(t, l.Write(line, Durable))
	size := len(readFile(t, l, currentFile))
	assert.That(t, size <= maxLine/2, "%d bytes", size)
	got := listed(t, l, Filter{})[0]
	if len(got.Params) != maxParams || got.MoreParams != 1000-maxParams || len(got.Client) > maxName {
		t.Errorf("%d parameters, %d more, %q", len(got.Params), got.MoreParams, got.Client)
	}
	assert.Equal(t, line.Params[0].Name, long, "the caller's line was changed")
	assert.Equal(t, line.Client, long, "the caller's line was changed")
}

func TestNamesArePrintable(t *testing.T) {
	for name, want := range map[string]string{
		"":                          "",
		"claude-desktop 1.2":        "claude-desktop 1.2",
		"Zoë 日本 🎉":                  "Zoë 日本 🎉",
		"a\nb\x1b[31m":              `a\x0ab\x1b[31m`,
		"a\u202eb\u200bc\u2066d":    `a\u202eb\u200bc\u2066d`,
		"\u3164\u115f\u2800\ufe0f":  `\u3164\u115f\u2800\ufe0f`,
		"\U000e0041\U000e0100":      `\U000e0041\U000e0100`,
		"\u00a0\u2028\ufeff\u00ad":  `\xa0\u2028\ufeff\xad`,
		"\xff\xc3(":                 `\xff\xc3(`,
		`a\nb`:                      `a\\nb`,
		strings.Repeat("x", 100):    strings.Repeat("x", 100),
		strings.Repeat("x", 101):    strings.Repeat("x", 97) + "…",
		strings.Repeat("é", 60):     strings.Repeat("é", 48) + "…",
		strings.Repeat("\u202e", 9): strings.Repeat(`\u202e`, 9),
		strings.Repeat("\n", 50):    strings.Repeat(`\x0a`, 24) + "…",
	} {
		got := clean(name)
		assert.Equal(t, got, want, "%q", name)
		assert.That(t, len(got) <= maxName, "%q: %q, want %q", name, got, want)
	}
}

func TestDigestsAreOfOneLog(t *testing.T) {
	a, b := newLog(t, Limits{}), newLog(t, Limits{})
	assert.That(t, a.Digest("text") != a.Digest("other"), "digests do not tell texts apart")
	assert.That(t, a.Digest("text") != b.Digest("text"), "two logs have one key")
	assert.That(t, again(t, a).Digest("text") == a.Digest("text"), "another process has another key")
	l := Open(filepath.Join(t.TempDir(), "\x00"), Limits{})
	assert.Equal(t, l.Digest("text"), "", "a digest without a key")
	assert.That(t, l.Write(sample(1), Buffered) != nil, "a digest without a key")
}

func TestErrorsAreForPeopleAndPrograms(t *testing.T) {
	for _, test := range []struct {
		err interface {
			error
			Code() string
		}
		code, text string
	}{
		{&Unusable{Store: store, Path: "/a", Reason: "is full"}, "audit_unusable", `audit log "/a": is full`},
		{&Busy{Store: store, Path: "/a/audit.lock"}, "audit_busy", `audit lock "/a/audit.lock": held by another process`},
		{&Invalid{"note", "x", "is not a digest"}, "audit_invalid", `audit log: note "x": is not a digest`},
		{&Damaged{"audit.jsonl", 3}, "audit_damaged", `audit log: "audit.jsonl", line 3: is not a line of this log`},
	} {
		assert.Equal(t, test.err.Code(), test.code)
		assert.Equal(t, test.err.Error(), test.text)
	}
}

// newLog returns a log in a folder that is not there yet.
func newLog(t testing.TB, limits Limits) *Log {
	t.Helper()
	l := Open(filepath.Join(t.TempDir(), "state", "audit"), limits)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// again returns the same log as another process would see it.
func again(t testing.TB, l *Log) *Log {
	next := Open(l.folder.dir, l.limits)
	t.Cleanup(func() { _ = next.Close() })
	return next
}

func sample(n int) Line {
	exit := n % 3
	return Line{
		Kind: "end", Call: fmt.Sprintf("call-%d", n), Session: "s-1", Client: "a client", Surface: "mcp", Vault: "Work",
		Command: "daily:append", Effect: "writes", Decision: "allow", Rule: "mutationsOpen", Backend: "obsidian",
		Note: "0123456789abcdef", Before: "00112233445566778899aabbccddeeff", Change: "20260102T030405.000000000Z-abcd",
		Exit: &exit, DurationMs: int64(n), Params: []Param{{"content", n, "fedcba9876543210"}, {"open", 4, ""}},
	}
}

func writeAll(t testing.TB, l *Log, from, to int) {
	t.Helper()
	for n := from; n <= to; n++ {
		require.NoError(t, l.Write(sample(n), n%5 == 0))
	}
}

func verified(t testing.TB, l *Log) Report {
	t.Helper()
	return require.Value(Verify(t.Context(), l.folder.dir))(t)
}

// wantWhole fails unless the log is whole and has so many lines.
func wantWhole(t testing.TB, l *Log, lines int) {
	t.Helper()
	r := verified(t, l)
	require.That(t, r.Broken == nil, "%d lines, want %d, broken: %v", r.Lines, lines, r.Broken)
	require.Equal(t, r.Lines, lines, "%d lines, want %d, broken: %v", r.Lines, lines, r.Broken)
}

func listed(t testing.TB, l *Log, f Filter) (lines []Line) {
	t.Helper()
	for line, err := range List(t.Context(), l.folder.dir, f) {
		require.NoError(t, err)
		lines = append(lines, line)
	}
	return lines
}

func readFile(t testing.TB, l *Log, name string) []byte {
	t.Helper()
	return require.Value(os.ReadFile(l.folder.file(name)))(t)
}

func writeFile(t testing.TB, l *Log, name string, data []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(l.folder.file(name), data, 0o600))
}

// linesOf returns the lines of a file, with their ends.
func linesOf(t testing.TB, l *Log, name string) [][]byte {
	t.Helper()
	return slices.Collect(bytes.Lines(readFile(t, l, name)))
}
