package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"vaultwicket/allowlist"
	"vaultwicket/cmd/internal/clients"
	"vaultwicket/cmd/internal/manual"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
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

// TestEverySubcommandHasHelpAndVersion, by the four flags that other programs have, too.
func TestEverySubcommandHasHelpAndVersion(t *testing.T) {
	_, version, _ := printed("version")
	_, overview, _ := printed("help")
	for _, flag := range []string{"-h", "--help"} {
		if status, out, _ := printed(flag); status != terminal.ExitDone || out != overview {
			t.Errorf("%s prints, with status %d\n%s", flag, status, out)
		}
	}
	for _, c := range manual.Commands() {
		_, want, _ := printed("help", c.Name)
		for _, flag := range []string{"-h", "--help"} {
			if status, out, complaint := printed(c.Name, flag); status != terminal.ExitDone || out != want || complaint != "" || !strings.Contains(out, "\nExamples\n  # "+c.Examples[0].What+"\n  "+c.Examples[0].Line+"\n") {
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

// TestEverySubcommandIsInTheManual, and nothing else is.
func TestEverySubcommandIsInTheManual(t *testing.T) {
	all := runners()
	for _, c := range manual.Commands() {
		if all[c.Name] == nil {
			t.Errorf("%q is described and does not exist", c.Name)
		}
		delete(all, c.Name)
	}
	for name := range all {
		t.Errorf("%q is not described", name)
	}
}

// TestExamplesAreRight: every example is a line that the program takes.
func TestExamplesAreRight(t *testing.T) {
	all := slices.Clone(manual.Overview)
	for _, c := range manual.Commands() {
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

func checkExample(t *testing.T, e manual.Example, c subcommand, words []string) {
	t.Helper()
	known := map[string]bool{}
	for _, f := range flagsOf(c.Name) {
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
		if _, err := allowlist.Describe(plain[0]); err != nil {
			t.Errorf("%q: %v", e.Line, err)
		}
		if _, err := allowlist.ParseWords(plain[0], plain[1:]); err != nil && c.Name != "explain" {
			t.Errorf("%q: %v", e.Line, err)
		}
	case "install", "uninstall":
		if len(plain) == 1 && !slices.Contains(clients.IDs(), plain[0]) {
			t.Errorf("%q: unknown client", e.Line)
		}
	}
}

func TestSettingsAreToldFromOtherFlags(t *testing.T) {
	f := ownAndSettings(flagsOf("run"))
	if len(f.Settings) != len(settings.Names())+1 || len(f.Own) != 4 {
		t.Errorf("%d settings, other flags %+v", len(f.Settings), f.Own)
	}
	if f := ownAndSettings(flagsOf("audit")); len(f.Settings) > 0 { // its --vault is a filter
		t.Errorf("settings %+v", f.Settings)
	}
}

func TestManualPages(t *testing.T) {
	status, list, _ := printed("man", "--list")
	if status != terminal.ExitDone || !strings.Contains(list, "vaultwicket.1\n") || !strings.Contains(list, "vaultwicket-dry-run.1\n") || !strings.Contains(list, "vaultwicket-settings.5\n") {
		t.Errorf("status %d\n%s", status, list)
	}
	folder := t.TempDir()
	if status, _, complaint := printed("man", "--write", folder); status != terminal.ExitDone {
		t.Fatal(complaint)
	}
	for name := range strings.FieldsSeq(list) {
		_, page, _ := printed("man", name)
		if !strings.Contains(page, ".Sh NAME\n") || fileText(t, folder+"/man"+name[len(name)-1:]+"/"+name) != page {
			t.Errorf("%s is not the page that is printed", name)
		}
	}
	_, settingsPage, _ := printed("man", "settings")
	for _, name := range settings.Names() {
		if !strings.Contains(settingsPage, "\n.It Ic "+name+"\n") {
			t.Errorf("the setting %q is missing", name)
		}
	}
	for _, args := range [][]string{{"runn"}, {"run", "serve"}, {"--list", "run"}, {"--list", "--write", "x"}} {
		if status, out, complaint := printed(append([]string{"man"}, args...)...); status != terminal.ExitInvalid || out != "" || !strings.Contains(complaint, "hint: ") {
			t.Errorf("man %q: status %d, %s%s", args, status, out, complaint)
		}
	}
}

func fileText(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
