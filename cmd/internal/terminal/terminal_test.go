package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestOnlyALineThatSaysYesIsAYes(t *testing.T) {
	for _, test := range []struct {
		typed string
		want  bool
	}{
		{"yes\n", true},
		{"y\n", true},
		{"  yes \r\n", true},
		{"yes\nno\n", true},
		{"", false},
		{"\n", false},
		{"yes", false},
		{"no\nyes\n", false},
		{"Yes\n", false},
		{"yess\n", false},
		{"yes please\n", false},
		{"folder\n", false},
		{"\x1b[Ayes\n", false},
		{strings.Repeat(" ", maxAnswer) + "yes\n", false},
		{strings.Repeat(" ", maxTyped) + "\nyes\n", false},
		{strings.Repeat("y", maxTyped*2), false},
	} {
		var shown strings.Builder
		got := Confirm(t.Context(), strings.NewReader(test.typed), &shown, "Allow this?")
		assert.That(t, got == test.want, "%.40q is taken for a yes: %v, want %v", test.typed, got, test.want)
		assert.Equal(t, shown.String(), "Allow this? [y/N] ", "%.40q: the prompt", test.typed)
	}
}

// What comes after the answer was typed for the shell; what is on its line
// was not.
func TestAnAnswerIsOneLineAndAllOfIt(t *testing.T) {
	for typed, rest := range map[string]string{
		"yes\nls\n": "ls\n",
		"yes" + strings.Repeat(" ", 2*maxAnswer) + "rm notes\nls\n": "ls\n",
	} {
		in := strings.NewReader(typed)
		readAnswer(in, maxAnswer)
		left, _ := io.ReadAll(in)
		assert.Equal(t, string(left), rest, "after the answer %.20q is left %q, want", typed, left)
	}
}

func TestAnEndOfTheContextIsANo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, typing := io.Pipe()
	answered := make(chan bool)
	go func() { answered <- Confirm(ctx, in, io.Discard, "Allow this?") }()
	cancel()
	if <-answered {
		t.Error("no one said yes")
	}
	typing.Close() // ends what reads the line
	assert.That(t, !Confirm(ctx, strings.NewReader("yes\n"), io.Discard, "Allow this?"), "a yes that comes too late is taken")
}

func TestOnlyACharacterDeviceIsATerminal(t *testing.T) {
	null := require.Value(os.OpenFile(os.DevNull, os.O_RDWR, 0))(t)
	defer null.Close()
	file := require.Value(os.Create(t.TempDir() + "/file"))(t)
	defer file.Close()
	for name, stream := range map[string]any{"the null device": null, "a file": file, "a reader": strings.NewReader("yes\n"), "nothing": nil} {
		assert.That(t, !IsTerminal(stream), "%s is taken for a terminal", name)
	}
}

func TestMessagesShowWhatATerminalWouldObey(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 日本\n\t": "plain é 日本\n\t", "a\x1b[31mb": `a\u{1b}[31mb`, "a\u202eb": `a\u{202e}b`, "\r": `\u{d}`, "\x9b": "\uFFFD", "\u009b": `\u{9b}`,
	} {
		assert.Equal(t, Visible(in), want, "%q is shown as", in)
	}
}

func TestEveryClassHasAStatusOfTheTable(t *testing.T) {
	for code, want := range map[string]int{
		"not_found": 1, "unknown_command": 2, "tier_closed": 3, "cli_not_found": 4, "timeout": 5, "internal": 70, "no such code": 70,
	} {
		assert.Equal(t, StatusOfCode(code), want, "%s ends with", code)
	}
}

func TestErrorsArePrintedWithTheirHints(t *testing.T) {
	denied := Fail(ExitDenied, "denied", "")
	for _, tt := range []struct {
		err    error
		status int
		want   string
	}{
		{nil, 0, ""},
		{Silent(5), 5, ""},
		{&UsageError{Reason: "no command given", Advice: "try help"}, 2, "vaultwicket: error: no command given\nvaultwicket: hint: try help\n"},
		{denied, 3, "vaultwicket: error: denied\n"},
		{Several{denied, &UsageError{Reason: "a\x1bb"}}, 3, "vaultwicket: error: denied\nvaultwicket: error: a\\u{1b}b\n"},
		{fmt.Errorf("write the output: %w", io.ErrShortWrite), 70, "vaultwicket: error: write the output: short write\n"},
	} {
		var out strings.Builder
		got := PrintError(&out, tt.err)
		assert.Equal(t, got, tt.status, "%v: status %d and %q", tt.err, got, out.String())
		assert.Equal(t, out.String(), tt.want, "%v: status %d and %q", tt.err, got, out.String())
	}
}

func TestMoments(t *testing.T) {
	here := time.FixedZone("", 3600)
	now := time.Date(2026, 11, 21, 9, 30, 0, 0, here)
	for _, test := range []struct {
		text  string
		edge  Edge
		want  time.Time
		wrong bool
	}{
		{text: ""},
		{text: "24h", want: now.Add(-24 * time.Hour)},
		{text: "1h30m", edge: EndOfDate, want: now.Add(-90 * time.Minute)},
		{text: "0s", want: now},
		{text: "2026-11-20", want: time.Date(2026, 11, 20, 0, 0, 0, 0, here)},
		{text: "2026-11-20", edge: EndOfDate, want: time.Date(2026, 11, 21, 0, 0, 0, 0, here)},
		{text: "2026-11-20T08:00:00Z", want: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)},
		{text: "2026-11-20T08:00:00.5+02:00", edge: EndOfDate, want: time.Date(2026, 11, 20, 6, 0, 0, 5e8, time.UTC)},
		{text: "24", wrong: true},
		{text: "someday", wrong: true},
		{text: "30m", want: now.Add(-30 * time.Minute)}, // minutes, and no months
		{text: "-24h", want: now.Add(-24 * time.Hour)},
		{text: "yesterday", edge: EndOfDate, want: time.Date(2026, 11, 21, 0, 0, 0, 0, here)},
		{text: "2026-W47", edge: EndOfDate, want: time.Date(2026, 11, 23, 0, 0, 0, 0, here)},
		{text: "2026-13-01", wrong: true},
		{text: "2026-11-20 08:00", wrong: true},
	} {
		got, err := ParseMoment("since", test.text, now, test.edge)
		assert.Equal(t, err != nil, test.wrong, "%q (edge %v) is %v", test.text, test.edge, got)
		assert.That(t, got.Equal(test.want), "%q (edge %v) is %v, %v, want %v", test.text, test.edge, got, err, test.want)
	}
}
