package main

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/cmd/internal/clients"
	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// printed runs the program with nothing in its environment and returns its status and
// what it printed on standard output and standard error.
func printed(args ...string) (status int, out, complaint string) {
	var stdout, stderr bytes.Buffer
	status = run(args, terminal.Streams{
		In: strings.NewReader(""), Out: &stdout, Err: &stderr,
		Lookup: func(string) (string, bool) { return "", false }, Environ: func() []string { return nil },
	})
	return status, stdout.String(), stderr.String()
}

func TestEverySubcommandHasHelpAndVersion(t *testing.T) {
	_, version, _ := printed("version")
	_, overview, _ := printed("help")
	for _, flag := range []string{"-h", "--help"} {
		status, out, _ := printed(flag)
		assert.Equal(t, status, terminal.ExitDone, "%s prints, with status %d\n%s", flag, status, out)
		assert.Equal(t, out, overview, "%s prints, with status %d\n%s", flag, status, out)
	}
	for _, c := range subcommands() {
		_, want, _ := printed("help", c.Name)
		for _, flag := range []string{"-h", "--help"} {
			if status, out, complaint := printed(c.Name, flag); status != terminal.ExitDone || out != want ||
				complaint != "" || !strings.Contains(out,
				"\nExamples\n  # "+c.Examples[0].What+"\n  "+c.Examples[0].Line+"\n") {
				t.Errorf("%s %s: status %d\n%s\n%s", c.Name, flag, status, out, complaint)
			}
		}
		for _, flag := range []string{"-V", "--version"} {
			if status, out, complaint := printed(c.Name, flag); status != terminal.ExitDone || out != version || complaint != "" {
				t.Errorf("%s %s: status %d\n%s\n%s", c.Name, flag, status, out, complaint)
			}
		}
	}
}

func TestExamplesAreRight(t *testing.T) {
	all := slices.Clone(overviewExamples)
	for _, c := range subcommands() {
		all = append(all, c.Examples...)
	}
	for _, e := range all {
		_, line, _ := strings.Cut(e.Line, "vaultwicket ")
		line, _, _ = strings.Cut(line, " | ")
		words := shellWords(t, strings.TrimSuffix(line, ")"))
		c, found := subcommandNamed(words[0])
		if !found {
			t.Errorf("%q: unknown command", e.Line)
			continue
		}
		checkExample(t, e, c, words[1:])
	}
}

func checkExample(t *testing.T, e example, c subcommand, words []string) {
	t.Helper()
	known := map[string]bool{}
	for _, f := range append(flagsOf(c.Name), verbosityFlags...) {
		known["--"+f.Name] = f.Value != ""
	}
	var plain []string
	for i := 0; i < len(words); i++ {
		takesValue, isFlag := known[words[i]]
		switch {
		case isFlag && takesValue && words[i] != "--session": // its value is optional
			i++
		case !isFlag && strings.HasPrefix(words[i], "--"):
			t.Errorf("%q: unknown flag %s", e.Line, words[i])
		case !isFlag:
			plain = append(plain, words[i])
		}
	}
	switch c.Name {
	case "run", "dry-run", "explain":
		_, err := allowlist.Describe(plain[0])
		assert.NoError(t, err, "%q", e.Line)
		_, err = allowlist.ParseWords(plain[0], plain[1:])
		assert.That(t, err == nil || c.Name == "explain", "%q: %v", e.Line, err)
	case "install", "uninstall":
		assert.That(t, len(plain) != 1 || slices.Contains(clients.IDs(), plain[0]), "%q: unknown client", e.Line)
	}
}

func TestSettingsAreToldFromOtherFlags(t *testing.T) {
	f := ownAndSettings(flagsOf("run"))
	assert.Equal(t, len(f.Settings), len(settings.Names())+1, "%d settings, other flags %+v", len(f.Settings), f.Own)
	assert.Equal(t, len(f.Own), 5, "%d settings, other flags %+v", len(f.Settings), f.Own)
	if f := ownAndSettings(flagsOf("audit")); len(f.Settings) > 0 { // its --vault is a filter
		t.Errorf("settings %+v", f.Settings)
	}
}

func TestManualPages(t *testing.T) {
	status, list, _ := printed("man", "--list")
	if status != terminal.ExitDone || !strings.Contains(list, "vaultwicket.1\n") ||
		!strings.Contains(list, "vaultwicket-dry-run.1\n") || !strings.Contains(list, "vaultwicket-settings.5\n") {
		t.Errorf("status %d\n%s", status, list)
	}
	folder := t.TempDir()
	status, _, complaint := printed("man", "--write", folder)
	require.Equal(t, status, terminal.ExitDone, "%v", complaint)
	for name := range strings.FieldsSeq(list) {
		_, page, _ := printed("man", name)
		require.Contains(t, page, ".Sh NAME\n", "%s is not the page that is printed", name)
		assert.Equal(t, fileText(t, folder+"/man"+name[len(name)-1:]+"/"+name), page, "%s is not the page that is printed", name)
	}
	_, settingsPage, _ := printed("man", "settings")
	for _, name := range settings.Names() {
		assert.That(t, strings.Contains(settingsPage, "\n.It Ic "+name+"\n"), "the setting %q is missing", name)
	}
	for _, args := range [][]string{{"runn"}, {"run", "serve"}, {"--list", "run"}, {"--list", "--write", "x"}} {
		if status, out, complaint := printed(append([]string{"man"}, args...)...); status != terminal.ExitInvalid ||
			out != "" || !strings.Contains(complaint, "hint: ") {
			t.Errorf("man %q: status %d, %s%s", args, status, out, complaint)
		}
	}
}

func fileText(t *testing.T, name string) string {
	t.Helper()
	return string(require.Value(os.ReadFile(name))(t))
}

func plainHelp(env ...string) terminal.Screen {
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
	text := overviewText(plainHelp(), "vault")
	at := -1
	for _, group := range groups {
		found := strings.Index(text, "\n\n"+group+"\n  ")
		assert.That(t, found > at, "the group %q is missing or not in its place", group)
		at = found
	}
	for _, want := range []string{"\n  run         run a command through the gateway\n",
		"\nExamples\n  # let Claude Code read a folder of notes\n  vaultwicket install claude-code"} {
		assert.That(t, strings.Contains(text, want), "%q is missing in\n%s", want, text)
	}
	assert.That(t, !strings.Contains(text, "\n  vault "), "a hidden command or an escape is in\n%s", text)
	assert.That(t, !strings.Contains(text, "\x1b"), "a hidden command or an escape is in\n%s", text)
	assert.That(t, strings.Contains(overviewText(plainHelp("CLICOLOR_FORCE=1")), "\x1b[1mExamples\x1b[0m"), "colours cannot be asked for")
}

func TestHelpOfACommand(t *testing.T) {
	c := description{Name: "do", Usage: "[flags] THING", Summary: "do a thing", About: []string{"It does it once."},
		Examples: []example{{"a thing", "vaultwicket do it"}}}
	f := flagLists{
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
	assert.Equal(t, c.Text(plainHelp(), f), want)
	got := (description{Name: "x", Summary: "y"}).Text(plainHelp(), flagLists{})
	assert.That(t, !strings.Contains(got, "Flags"), "got\n%s", got)
	assert.That(t, !strings.Contains(got, "Settings"), "got\n%s", got)
}

func TestHelpOnNarrowScreens(t *testing.T) {
	p := helpWriter{screen: plainHelp(), width: 40}
	p.pairs([][2]string{{"--a-long-flag VALUE", "what it does, in words"}, {"--b", "more"}}, 19)
	want := "  --a-long-flag VALUE\n      what it does, in words\n  --b\n      more\n"
	assert.That(t, p.text.String() == want, "got\n%s\nwant\n%s", p.text.String(), want)
}

func TestServeExplainsItself(t *testing.T) {
	for vault, want := range map[string]string{
		"":                "  vaultwicket run daily:read\n",
		"/home/me/Notes":  "  vaultwicket run --vault /home/me/Notes daily:read\n",
		"My notes; rm -r": "  vaultwicket run daily:read\n", // not for a shell
	} {
		text := serveText(plainHelp(), vault)
		for _, want := range []string{want, "waits for messages of an MCP client", "vaultwicket install --list\n",
			"vaultwicket demo\n", "\nPress Ctrl-C to stop.\n"} {
			assert.That(t, strings.Contains(text, want), "%q: %q is missing in\n%s", vault, want, text)
		}
	}
}
