package terminal

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"vaultwicket/tests/require"
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
		if got := Confirm(t.Context(), strings.NewReader(test.typed), &shown, "Allow this?"); got != test.want {
			t.Errorf("%.40q is taken for a yes: %v, want %v", test.typed, got, test.want)
		}
		if shown.String() != "Allow this? [y/N] " {
			t.Errorf("%.40q: the prompt is %q", test.typed, shown.String())
		}
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
		readAnswer(in)
		if left, _ := io.ReadAll(in); string(left) != rest {
			t.Errorf("after the answer %.20q is left %q, want %q", typed, left, rest)
		}
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
	if Confirm(ctx, strings.NewReader("yes\n"), io.Discard, "Allow this?") {
		t.Error("a yes that comes too late is taken")
	}
}

func TestOnlyACharacterDeviceIsATerminal(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	require.NoError(t, err)
	defer null.Close()
	file, err := os.Create(t.TempDir() + "/file")
	require.NoError(t, err)
	defer file.Close()
	for name, stream := range map[string]any{"the null device": null, "a file": file, "a reader": strings.NewReader("yes\n"), "nothing": nil} {
		if IsTerminal(stream) {
			t.Errorf("%s is taken for a terminal", name)
		}
	}
}

func TestMessagesShowWhatATerminalWouldObey(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 日本\n\t": "plain é 日本\n\t", "a\x1b[31mb": `a\u{1b}[31mb`, "a\u202eb": `a\u{202e}b`, "\r": `\u{d}`, "\x9b": "\uFFFD", "\u009b": `\u{9b}`,
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}
