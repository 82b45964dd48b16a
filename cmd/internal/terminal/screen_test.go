package terminal

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestWhoDecidesOnColours(t *testing.T) {
	for _, tt := range []struct {
		color          Color
		env            string
		terminal, want bool
	}{
		{"", "", true, true},
		{"", "", false, false},
		{"auto", "", true, true},
		{"auto", "", false, false},
		{"always", "", false, true},
		{"always", "NO_COLOR=1", false, true},
		{"never", "", true, false},
		{"never", "CLICOLOR_FORCE=1", true, false},
		{"", "NO_COLOR=1", true, false},
		{"", "NO_COLOR=", true, true}, // by its convention, empty is not set
		{"", "NO_COLOR=1 CLICOLOR_FORCE=1", true, false},
		{"", "CLICOLOR_FORCE=1", false, true},
		{"", "CLICOLOR_FORCE=0", false, false},
		{"", "CLICOLOR=0", true, false},
		{"", "CLICOLOR=1", false, false},
		{"", "TERM=dumb", true, false},
		{"", "TERM=xterm", false, false},
	} {
		env := map[string]string{}
		for _, entry := range strings.Fields(tt.env) {
			name, value, _ := strings.Cut(entry, "=")
			env[name] = value
		}
		lookup := func(name string) (string, bool) { value, ok := env[name]; return value, ok }
		got := tt.color.on(lookup, tt.terminal)
		assert.That(t, got == tt.want, "--color %q, %s, terminal %v: colours %v", tt.color, tt.env, tt.terminal, got)
	}
}

func TestAStreamIsNoTerminal(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	s := NewScreen(Streams{Out: io.Discard, Lookup: none}, ScreenOptions{}, time.Time{})
	assert.That(t, !s.IsTerminal(), "%+v", s)
	assert.Equal(t, s.Width(70), 70)
	assert.Equal(t, s.Paint(Bad, "x"), "x")
	s = NewScreen(Streams{Out: io.Discard, Lookup: none}, ScreenOptions{Color: "always"}, time.Time{})
	assert.Equal(t, s.Paint(Bad, "x"), "\x1b[31mx\x1b[0m")
	assert.Equal(t, s.Paint(Bad, ""), "")
}

func TestTimes(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 30, 0, 0, time.FixedZone("", 3600))
	for _, tt := range []struct {
		ago  time.Duration
		want string
	}{
		{-time.Hour, "2026-11-21T09:30:00Z"},
		{-time.Second, "just now"},
		{0, "just now"},
		{4 * time.Second, "just now"},
		{5 * time.Second, "5 s ago"},
		{59 * time.Second, "59 s ago"},
		{time.Minute, "1 min ago"},
		{3*time.Minute + 59*time.Second, "3 min ago"},
		{time.Hour, "1 h ago"},
		{47 * time.Hour, "47 h ago"},
		{48 * time.Hour, "2 d ago"},
		{30 * 24 * time.Hour, "30 d ago"},
		{31 * 24 * time.Hour, "2026-10-21"},
	} {
		assert.Equal(t, (Screen{width: 80, now: now}).Time(now.Add(-tt.ago)), tt.want, "%v ago", tt.ago)
	}
	for _, s := range []Screen{{now: now}, {width: 80, exact: true, now: now}} {
		assert.Equal(t, s.Time(now.Add(-time.Minute)), "2026-11-21T08:29:00Z", "in full")
	}
	assert.Equal(t, Span(-time.Hour), "0 s", "a span is below zero")
	assert.Equal(t, Span(500*time.Millisecond), "0 s", "a span is below zero")
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  string // lines between bars
	}{
		{"", 10, ""},
		{"one two three", 7, "one two|three"},
		{"one  two", 20, "one  two"},
		{"a\nb", 5, "a|b"},
		{"abcdefghij", 4, "abcd|efgh|ij"},
		{"日本語", 4, "日本|語"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301e\u0301|e\u0301"},
		{"👩‍👩‍👧👩‍👩‍👧", 1, "👩‍👩‍👧|👩‍👩‍👧"}, // wider than the line, and still not broken
		{"x y", 0, "x|y"},
	} {
		got := Wrap(tt.text, tt.width)
		assert.That(t, slices.Equal(got, strings.Split(tt.want, "|")), "%q in %d: %q, want %q", tt.text, tt.width, got, tt.want)
	}
}

func TestDifferencesHaveColours(t *testing.T) {
	for sign, want := range map[string]string{"-": "\x1b[31mrow\x1b[0m", "+": "\x1b[32mrow\x1b[0m", " ": "row", "": "row"} {
		assert.Equal(t, (Screen{colour: true}).Signed(sign, "row"), want, "%q", sign)
		assert.Equal(t, (Screen{}).Signed(sign, "row"), "row", "without colours")
	}
}

// A word that has no room below its column begins at the edge of the terminal, where it is whole.
func TestAPathThatFitsTheTerminalIsNotBroken(t *testing.T) {
	const path = "~/.config/vaultwicket/config.toml"
	got := fitted("allowed  no: requires tier v1; set tier = \"v1\" in "+path+" (not set)\n", 40)
	assert.Equal(t, got, "allowed  no: requires tier v1; set tier\n         = \"v1\" in\n"+path+" (not\n         set)\n", "the lines")
}
