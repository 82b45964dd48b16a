package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// programName is the name of the page about the whole program, and the first part of the names
// of all others.
const programName = "vaultwicket"

// settingsPage is the name by which the page about the settings is asked for.
const settingsPage = "settings"

// manualSource is the data of the manual pages.
type manualSource struct {
	Date time.Time // of the release
	// Flags returns the flags of a subcommand.
	Flags    func(command string) flagLists
	Settings settingsTexts
	// Statuses are the exit statuses with what each means.
	Statuses []fact
}

// fact is a name with its description.
type fact struct{ Name, About string }

// manualPage is a manual page.
type manualPage struct {
	Name    string // such as "vaultwicket-run"
	Section int
	Text    string // mdoc
}

// File returns the name of the file of the page, such as "vaultwicket-run.1".
func (p manualPage) File() string { return fmt.Sprintf("%s.%d", p.Name, p.Section) }

// Pages returns all pages: the program, its commands, its settings.
func (s manualSource) Pages() []manualPage {
	pages := []manualPage{s.overview()}
	for _, c := range subcommands() {
		pages = append(pages, s.command(c.description))
	}
	return append(pages, s.settings())
}

// Page returns the page of a name: that of a command with or without the name of the
// program, "settings", or "vaultwicket"; ok is false for any other.
func (s manualSource) Page(name string) (page manualPage, ok bool) {
	pages := s.Pages()
	i := slices.IndexFunc(pages, func(p manualPage) bool { return p.Name == name || p.Name == programName+"-"+name || p.File() == name })
	if i < 0 {
		return manualPage{}, false
	}
	return pages[i], true
}

// manualNames returns the names that [manualSource.Page] takes, without the name of the program.
func manualNames() []string {
	names := []string{programName}
	for _, c := range subcommands() {
		names = append(names, c.Name)
	}
	return append(names, settingsPage)
}

func (s manualSource) overview() manualPage {
	var d mdoc
	d.head(s.Date, programName, 1, "policy-enforcing gateway for Obsidian vaults")
	d.section("Synopsis")
	d.macro("Nm")
	d.source(`command [flags] [arguments]`)
	d.section("Description")
	d.macro("Nm")
	d.prose("gives AI agents access to the notes of an Obsidian vault, as an MCP server. Every command is checked against a table of known commands and against your policy, and only then run, without a shell. " +
		"By default an agent can read daily and random notes and change nothing.")
	for _, group := range groups {
		d.subsection(group)
		// List the commands of a group.
		var tags, texts []string
		for _, c := range subcommands() {
			if c.Group == group {
				tags, texts = append(tags, fmt.Sprintf("Xr %s-%s 1", programName, c.Name)), append(texts, c.Summary)
			}
		}
		d.list(tags, func(i int) { d.prose(sentence(texts[i]) + ".") })
	}
	d.section("Environment")
	d.prose("Every setting is a variable, too: the flag --allow-mutations is VAULTWICKET_ALLOW_MUTATIONS.")
	d.facts("Ev", otherVariables)
	d.section("Files")
	d.facts("Pa", []fact{
		{"~/.config/vaultwicket/config.toml", "settings"},
		{"~/.local/state/vaultwicket", "journal, audit log, approvals and the token for HTTP; readable by you alone"},
		{"~/.cache/vaultwicket", "cache of the notes that were read; can be removed at any time"},
		{".vaultwicketignore", "in a vault: patterns of notes that are hidden, as in .gitignore"},
	})
	d.section("Exit status")
	d.facts("Li", s.Statuses)
	d.examples(overviewExamples)
	var pages []string
	for _, c := range subcommands() {
		pages = append(pages, programName+"-"+c.Name+" 1")
	}
	slices.Sort(pages)
	d.references(append(pages, programName+"-"+settingsPage+" 5"))
	return manualPage{Name: programName, Section: 1, Text: d.text.String()}
}

// otherVariables are the environment variables that are no settings.
var otherVariables = []fact{
	{"VAULTWICKET_CONFIG", "settings file, or \"none\""},
	{"VAULTWICKET_TOKEN", "bearer token for HTTP, in place of the token file"},
	{"NO_COLOR", "no colours, with any value"},
	{"CLICOLOR_FORCE", "colours even if standard output is not a terminal, unless 0"},
	{"XDG_CONFIG_HOME", "folder of settings"},
	{"XDG_STATE_HOME", "folder of state: journal, audit log, approvals, token"},
	{"XDG_CACHE_HOME", "folder of caches"},
}

// facts lists names in the style of a macro.
func (d *mdoc) facts(macro string, list []fact) {
	var tags []string
	for _, fact := range list {
		tags = append(tags, macro+" "+mdocEscape(fact.Name))
	}
	d.list(tags, func(i int) { d.prose(sentence(list[i].About) + ".") })
}

func (s manualSource) command(c description) manualPage {
	name := programName + "-" + c.Name
	var d mdoc
	d.head(s.Date, name, 1, c.Summary)
	d.section("Synopsis")
	d.macro("Nm " + programName)
	d.macro("Cm " + c.Name)
	d.source(mdocEscape(c.Usage))
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
		d.macro("Xr " + programName + "-" + settingsPage + " 5 .")
	}
	d.examples(c.Examples)
	d.references([]string{programName + " 1", programName + "-" + settingsPage + " 5"})
	return manualPage{Name: name, Section: 1, Text: d.text.String()}
}

// settingsTexts describe the settings file.
type settingsTexts struct {
	List   []settingText
	Vault  []fact // the keys of a table [[vaults]]
	Levels []fact // of access rules
}

// settingText is a setting.
type settingText struct{ Name, Variable, Default, Usage string }

// settingsExample is a settings file.
const settingsExample = `tier = "v1"
allow-mutations = true

[[vaults]]
name = "Notes"
folder = "/home/me/Notes"
[vaults.access]
"/" = "rw"
"Private" = "none"

[profiles.careful]
confirm = "writes"`

func (s manualSource) settings() manualPage {
	name := programName + "-" + settingsPage
	var d mdoc
	d.head(s.Date, name, 5, "settings of vaultwicket")
	d.section("Description")
	d.prose("Every setting has one name: a flag, an environment variable, and a key of the settings file, which is TOML. A flag beats the variable, the variable beats the profile that is chosen, " +
		"and the profile beats the rest of the file. An unknown, duplicate or invalid setting is an error, and so is a file that others can write.")
	d.paragraph()
	d.prose("A running server reads the file again when it changes. It takes what is stricter, and never what is looser.")
	d.subsection("Settings")
	var tags []string
	for _, one := range s.Settings.List {
		tags = append(tags, "Ic "+one.Name)
	}
	d.list(tags, func(i int) {
		one := s.Settings.List[i]
		d.prose(strings.TrimSuffix(sentence(one.Usage), ".") + ".")
		if one.Default != "" {
			d.prose("Default: " + one.Default + ".")
		}
		d.prose("Variable:")
		d.macro("Ev " + one.Variable + " .")
	})
	d.subsection("Vaults")
	d.prose("One table [[vaults]] for each vault; the first one is the default. Each needs a name, an id or a folder.")
	d.facts("Ic", s.Settings.Vault)
	d.paragraph()
	d.prose("The table [vaults.access] has paths of folders and notes with the access to each:")
	d.facts("Ic", s.Settings.Levels)
	d.subsection("Profiles")
	d.prose("A table [profiles.NAME] has settings that replace those of the file while the profile is chosen.")
	d.section("Files")
	d.facts("Pa", []fact{{"~/.config/vaultwicket/config.toml", "the settings file on Linux; \"vaultwicket config path\" prints where it is"}})
	d.examples([]example{
		{"agents read and change notes; Private is hidden", settingsExample},
		{"write a file with every setting as a comment", "vaultwicket config init"},
	})
	d.references([]string{programName + " 1", programName + "-config 1"})
	return manualPage{Name: name, Section: 5, Text: d.text.String()}
}
