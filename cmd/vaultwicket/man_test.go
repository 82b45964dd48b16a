package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// sectionOrder is the order that mdoc(7) prescribes.
var sectionOrder = []string{"NAME", "SYNOPSIS", "DESCRIPTION", "ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES", "SEE ALSO"}

var knownMacros = strings.Fields("Dd Dt Os Sh Ss Nm Nd Pp Bl It El Bd Ed Xr Fl Ar Cm Ic Ev Pa Li")

func TestPagesAreMdoc(t *testing.T) {
	pages := manualPages()
	var names []string
	for _, p := range pages {
		names = append(names, p.Name+" "+strconv.Itoa(p.Section))
	}
	assert.That(t, len(pages) == len(subcommands())+2, "%d pages", len(pages))
	for _, p := range pages {
		checkPage(t, p, names)
	}
}

func checkPage(t *testing.T, p manualPage, names []string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(p.Text, "\n"), "\n")
	if want := []string{".Dd November 22, 2026", ".Dt " + strings.ToUpper(p.Name) + " " + strconv.Itoa(p.Section),
		".Os", ".Sh NAME", ".Nm " + p.Name}; !slices.Equal(lines[:5], want) {
		t.Errorf("%s begins with %q", p.File(), lines[:5])
	}
	section, open := -1, []string{}
	for i, line := range lines {
		isLiteral := slices.Contains(open, "Ed")
		if !isLiteral && (len(line) > 80 || line == "") || strings.TrimRight(line, " ") != line ||
			strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%s, line %d: %q", p.File(), i+1, line)
		}
		macro, rest, _ := strings.Cut(strings.TrimPrefix(line, "."), " ")
		switch {
		case !strings.HasPrefix(line, "."):
			continue
		case !slices.Contains(knownMacros, macro):
			t.Errorf("%s, line %d: unknown macro %q", p.File(), i+1, macro)
		case macro == "Sh":
			at := slices.Index(sectionOrder, rest)
			if at <= section {
				t.Errorf("%s: section %q is unknown or not in its place", p.File(), rest)
			}
			section = at
		case macro == "Bl" || macro == "Bd":
			open = append(open, "E"+macro[1:])
		case macro == "El" || macro == "Ed":
			if len(open) == 0 || open[len(open)-1] != macro {
				t.Fatalf("%s, line %d: %s ends nothing", p.File(), i+1, macro)
			}
			open = open[:len(open)-1]
		case macro == "Xr" && !slices.Contains(names, strings.TrimSpace(strings.TrimRight(rest, " ,."))):
			t.Errorf("%s refers to %q, which is no page", p.File(), rest)
		}
	}
	if len(open) > 0 {
		t.Errorf("%s: %v is missing", p.File(), open)
	}
}

// TestMandocHasNoComplaint asks mandoc, where there is one. It may say that other pages
// are not installed here.
func TestMandocHasNoComplaint(t *testing.T) {
	mandoc, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("no mandoc here; TestPagesAreMdoc checks the structure")
	}
	folder, command := t.TempDir(), exec.Command(mandoc, "-Tlint", "-Wall")
	command.Dir = folder
	for _, p := range manualPages() {
		require.NoError(t, os.WriteFile(filepath.Join(folder, p.File()), []byte(p.Text), 0o600))
		command.Args = append(command.Args, p.File())
	}
	out, _ := command.CombinedOutput() // its status tells of complaints, too
	var complaints []string
	for line := range strings.Lines(string(out)) {
		if !strings.Contains(line, "referenced manual not found") {
			complaints = append(complaints, line)
		}
	}
	assert.That(t, len(complaints) == 0, "mandoc says\n%s", strings.Join(complaints, ""))
}

func TestPagesTellTheirFlagsAndSettings(t *testing.T) {
	odd := commandPage(description{Name: "odd", Summary: "odd"}, flagLists{
		Own: []terminal.Flag{{Name: "one", Value: "VALUE", Usage: `a \path "quoted", 'so' – with ~ and ^`},
			{Name: "two", Usage: ".Sh at the start. A second sentence"}},
	})
	if want := ".It Fl \\-one Ar VALUE\nA \\epath \\(dqquoted\\(dq, \\(aqso\\(aq \\[u2013] with \\(ti and \\(ha.\n.It Fl \\-two\n\\&.Sh at the start.\nA second sentence.\n"; !strings.Contains(odd.Text,
		want) {
		t.Errorf("%q is missing in\n%s", want, odd.Text)
	}
	for name, wants := range map[string][]string{
		"run":             {".Xr vaultwicket-settings 5 .", ".Nm vaultwicket\n.Cm run\n[flags] COMMAND [key=value | flag \\[u2026]]\n"},
		"vaultwicket-run": {".Nm vaultwicket-run\n"},
		"vaultwicket-settings.5": {"Default: v0.\nVariable:\n.Ev VAULTWICKET_TIER .\n", ".It Ic vault\nVault name",
			".It Ic r\nIt can be read, listed and found.\n", ".It Ic name\nWhat agents say.\n"},
		"settings": {"[profiles.careful]"},
		"vaultwicket": {".Ss Connect an agent\n",
			".It Xr vaultwicket-serve 1\nServe MCP over stdio or HTTP.\n", ".It Li 3\nDenied by the policy.\n",
			".Ev NO_COLOR"},
	} {
		page, found := manualPageNamed(name)
		assert.That(t, found, "there is no page %q", name)
		for _, want := range wants {
			if want == ".Ev NO_COLOR" {
				want = ".It Ev NO_COLOR"
			}
			assert.That(t, strings.Contains(page.Text, want), "%s: %q is missing in\n%s", name, want, page.Text)
		}
	}
	for _, name := range []string{"", "runn", "../run", "vaultwicket.5"} {
		_, found := manualPageNamed(name)
		assert.That(t, !found, "%q is a page", name)
	}
	for _, name := range manualNames() {
		_, found := manualPageNamed(name)
		assert.That(t, found, "%q is no page", name)
	}
}

func TestEveryCommandIsDescribed(t *testing.T) {
	grouped := 0
	for _, c := range subcommands() {
		assert.That(t, c.Summary != "", "%q lacks a summary, a group or an example", c.Name)
		assert.That(t, len(c.Examples) != 0, "%q lacks a summary, a group or an example", c.Name)
		assert.That(t, slices.Contains(groups, c.Group), "%q lacks a summary, a group or an example", c.Name)
		for _, e := range c.Examples {
			if e.What == "" || strings.HasSuffix(e.What, ".") || !regexp.MustCompile(`\bvaultwicket `+c.Name+`\b`).MatchString(e.Line) {
				t.Errorf("%q has the example %+v", c.Name, e)
			}
		}
		for _, paragraph := range c.About {
			assert.That(t, strings.HasSuffix(paragraph, "."), "%q: %q is no sentence", c.Name, paragraph)
		}
		grouped++
	}
	assert.That(t, grouped >= 25, "only %d commands", grouped)
}
