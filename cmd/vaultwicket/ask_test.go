package main

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"vaultwicket/gateway"
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
		if got := saysYes(t.Context(), streams{in: strings.NewReader(test.typed), err: &shown}); got != test.want {
			t.Errorf("%.40q is taken for a yes: %v, want %v", test.typed, got, test.want)
		}
		if shown.String() != "Type yes to allow it: " {
			t.Errorf("%.40q: the prompt is %q", test.typed, shown.String())
		}
	}
}

// What stands behind the answer was typed for the shell; what stands on its line
// was not.
func TestAnAnswerIsOneLineAndAllOfIt(t *testing.T) {
	for typed, rest := range map[string]string{
		"yes\nls\n": "ls\n",
		"yes" + strings.Repeat(" ", 2*maxAnswer) + "rm notes\nls\n": "ls\n",
	} {
		in := strings.NewReader(typed)
		readAnswer(in)
		if left, _ := io.ReadAll(in); string(left) != rest {
			t.Errorf("behind the answer %.20q is left %q, want %q", typed, left, rest)
		}
	}
}

func TestAnEndOfTheContextIsANo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, typing := io.Pipe()
	answered := make(chan bool)
	go func() { answered <- saysYes(ctx, streams{in: in, err: io.Discard}) }()
	cancel()
	if <-answered {
		t.Error("nobody said yes")
	}
	typing.Close() // ends what reads the line
	if saysYes(ctx, streams{in: strings.NewReader("yes\n"), err: io.Discard}) {
		t.Error("a yes that comes too late is taken")
	}
}

func TestNobodyIsAskedOffATerminal(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, stream := range map[string]any{"the null device": null, "a file": file, "a reader": strings.NewReader("yes\n"), "nothing": nil} {
		if isTerminal(stream) {
			t.Errorf("%s is taken for a terminal", name)
		}
	}
	if req := typed(streams{in: null, err: null}, gateway.Request{}); req.Ask != nil {
		t.Error("somebody would be asked")
	}
}

func TestWhatIsTypedHasOneCaller(t *testing.T) {
	first := typed(streams{}, gateway.Request{Command: "read"})
	second := typed(streams{}, gateway.Request{Command: "delete"})
	if first.Caller == "" || first.Caller != second.Caller {
		t.Errorf("callers %q and %q", first.Caller, second.Caller)
	}
	if first.Surface != "terminal" || first.Client != "terminal" || first.Command != "read" {
		t.Errorf("got %+v", first)
	}
}
