package manual

import (
	"io"
	"strings"
	"testing"
	"time"

	"vaultwicket/cmd/internal/terminal"
)

func plain(env ...string) terminal.Screen {
	lookup := func(name string) (string, bool) {
		for _, entry := range env {
			if key, value, _ := strings.Cut(entry, "="); key == name {
				return value, true
			}
		}
		return "", false
	}
	return terminal.NewScreen(terminal.Streams{Out: io.Discard, Lookup: lookup}, terminal.ScreenOptions{}, time.Time{})
}

func TestHelpHasGroupsAndExamples(t *testing.T) {
	text := OverviewText(plain(), "vault")
	at := -1
	for _, group := range groups {
		found := strings.Index(text, "\n\n"+group+"\n  ")
		if found <= at {
			t.Errorf("the group %q is missing or not in its place", group)
		}
		at = found
	}
	for _, want := range []string{"\n  run         run a command through the gateway\n", "\nExamples\n  # let Claude Code read a folder of notes\n  vaultwicket install claude-code"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\n  vault ") || strings.Contains(text, "\x1b") {
		t.Errorf("a hidden command or an escape is in\n%s", text)
	}
	if !strings.Contains(OverviewText(plain("CLICOLOR_FORCE=1")), "\x1b[1mExamples\x1b[0m") {
		t.Error("colours cannot be asked for")
	}
}

func TestHelpOfACommand(t *testing.T) {
	c := Command{Name: "do", Usage: "[flags] THING", Summary: "do a thing", About: []string{"It does it once."}, Examples: []Example{{"a thing", "vaultwicket do it"}}}
	f := Flags{
		Own:      []terminal.Flag{{Name: "json", Usage: "print JSON"}, {Name: "limit", Value: "N", Usage: strings.Repeat("many words ", 12) + "end"}},
		Settings: []terminal.Flag{{Name: "tier", Value: "VALUE", Usage: "highest tier"}, {Name: "max-sessions", Value: "VALUE", Usage: "of serve"}},
	}
	want := `vaultwicket do [flags] THING
  do a thing

It does it once.

Flags
  --json     print JSON
  --limit N  many words many words many words many words many words many words many words many words
             many words many words many words many words end

Settings
  --tier VALUE  highest tier

All other settings have flags, too: "vaultwicket help serve" lists them.

Examples
  # a thing
  vaultwicket do it
`
	if got := c.Text(plain(), f); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := (Command{Name: "x", Summary: "y"}).Text(plain(), Flags{}); strings.Contains(got, "Flags") || strings.Contains(got, "Settings") {
		t.Errorf("got\n%s", got)
	}
}

func TestHelpOnNarrowScreens(t *testing.T) {
	p := page{screen: plain(), width: 40}
	p.pairs([][2]string{{"--a-long-flag VALUE", "what it does, in words"}, {"--b", "more"}}, 19)
	if want := "  --a-long-flag VALUE\n      what it does, in words\n  --b\n      more\n"; p.text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", p.text.String(), want)
	}
}
