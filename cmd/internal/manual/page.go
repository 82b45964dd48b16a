package manual

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// program is the name of the page about the whole program, and the first part of the names
// of all others.
const program = "vaultwicket"

// SettingsPage is the name by which the page about the settings is asked for.
const SettingsPage = "settings"

// Source is what the pages are made from.
type Source struct {
	Date time.Time // of the release
	// Flags returns the flags of a subcommand.
	Flags    func(command string) Flags
	Settings Settings
	// Statuses are the exit statuses with what each means.
	Statuses []Fact
}

// Fact is a name with what is told of it.
type Fact struct{ Name, About string }

// Page is a manual page.
type Page struct {
	Name    string // such as "vaultwicket-run"
	Section int
	Text    string // mdoc
}

// File returns the name of the file of the page, such as "vaultwicket-run.1".
func (p Page) File() string { return fmt.Sprintf("%s.%d", p.Name, p.Section) }

// Pages returns all pages: the program, its commands, its settings.
func (s Source) Pages() []Page {
	pages := []Page{s.overview()}
	for _, c := range Commands() {
		pages = append(pages, s.command(c))
	}
	return append(pages, s.settings())
}

// Page returns the page of a name: that of a command with or without the name of the
// program, "settings", or "vaultwicket"; ok is false for any other.
func (s Source) Page(name string) (page Page, ok bool) {
	pages := s.Pages()
	i := slices.IndexFunc(pages, func(p Page) bool { return p.Name == name || p.Name == program+"-"+name || p.File() == name })
	if i < 0 {
		return Page{}, false
	}
	return pages[i], true
}

// Names returns the names that [Source.Page] takes, without the name of the program.
func Names() []string {
	names := []string{program}
	for _, c := range Commands() {
		names = append(names, c.Name)
	}
	return append(names, SettingsPage)
}

func (s Source) overview() Page {
	var d document
	d.head(s.Date, program, 1, "policy-enforcing gateway for Obsidian vaults")
	d.section("Synopsis")
	d.macro("Nm")
	d.source(`command [flags] [arguments]`)
	d.section("Description")
	d.macro("Nm")
	d.prose("gives AI agents access to the notes of an Obsidian vault, as an MCP server. Every command is checked against a table of known commands and against your policy, and only then run, without a shell. " +
		"By default an agent can read daily and random notes and change nothing.")
	for _, group := range groups {
		d.subsection(group)
		d.commands(group)
	}
	d.environment()
	d.files()
	d.statuses(s.Statuses)
	d.examples(Overview)
	d.references(seeAlso())
	return Page{Name: program, Section: 1, Text: d.text.String()}
}

// commands lists the commands of a group.
func (d *document) commands(group string) {
	var tags, texts []string
	for _, c := range Commands() {
		if c.Group == group {
			tags, texts = append(tags, fmt.Sprintf("Xr %s-%s 1", program, c.Name)), append(texts, c.Summary)
		}
	}
	d.list(tags, func(i int) { d.prose(sentence(texts[i]) + ".") })
}

func seeAlso() []string {
	var pages []string
	for _, c := range Commands() {
		pages = append(pages, program+"-"+c.Name+" 1")
	}
	slices.Sort(pages)
	return append(pages, program+"-"+SettingsPage+" 5")
}

// variables are the environment variables that are no settings.
var variables = []Fact{
	{"VAULTWICKET_CONFIG", "settings file, or \"none\""},
	{"VAULTWICKET_TOKEN", "bearer token for HTTP, in place of the token file"},
	{"NO_COLOR", "no colours, with any value"},
	{"CLICOLOR_FORCE", "colours even if standard output is not a terminal, unless 0"},
	{"XDG_CONFIG_HOME", "folder of settings"},
	{"XDG_STATE_HOME", "folder of state: journal, audit log, approvals, token"},
	{"XDG_CACHE_HOME", "folder of caches"},
}

func (d *document) environment() {
	d.section("Environment")
	d.prose("Every setting is a variable, too: the flag --allow-mutations is VAULTWICKET_ALLOW_MUTATIONS.")
	d.facts("Ev", variables)
}

func (d *document) files() {
	d.section("Files")
	d.facts("Pa", []Fact{
		{"~/.config/vaultwicket/config.toml", "settings"},
		{"~/.local/state/vaultwicket", "journal, audit log, approvals and the token for HTTP; readable by you alone"},
		{"~/.cache/vaultwicket", "cache of the notes that were read; can be removed at any time"},
		{".vaultwicketignore", "in a vault: patterns of notes that are hidden, as in .gitignore"},
	})
}

func (d *document) statuses(list []Fact) {
	d.section("Exit status")
	d.facts("Li", list)
}

// facts lists names in the style of a macro.
func (d *document) facts(macro string, list []Fact) {
	var tags []string
	for _, fact := range list {
		tags = append(tags, macro+" "+escape(fact.Name))
	}
	d.list(tags, func(i int) { d.prose(sentence(list[i].About) + ".") })
}

func (s Source) command(c Command) Page {
	name := program + "-" + c.Name
	var d document
	d.head(s.Date, name, 1, c.Summary)
	d.section("Synopsis")
	d.macro("Nm " + program)
	d.macro("Cm " + c.Name)
	d.source(escape(c.Usage))
	d.section("Description")
	d.prose(sentence(c.Summary) + ".")
	for _, paragraph := range c.About {
		d.paragraph()
		d.prose(paragraph)
	}
	f := s.Flags(c.Name)
	if len(f.Own) > 0 {
		d.paragraph()
		d.prose("The flags are:")
		var tags []string
		for _, flag := range f.Own {
			tags = append(tags, strings.TrimSuffix("Fl \\-"+flag.Name+" Ar "+flag.Value, " Ar "))
		}
		d.list(tags, func(i int) { d.prose(sentence(f.Own[i].Usage) + ".") })
	}
	if len(f.Settings) > 0 {
		d.paragraph()
		d.prose("Every setting is a flag, too; see")
		d.macro("Xr " + program + "-" + SettingsPage + " 5 .")
	}
	d.examples(c.Examples)
	d.references([]string{program + " 1", program + "-" + SettingsPage + " 5"})
	return Page{Name: name, Section: 1, Text: d.text.String()}
}
