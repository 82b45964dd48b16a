package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/release"
	"vaultwicket/cmd/internal/settings"
	"vaultwicket/cmd/internal/terminal"
)

var helpOfMan = description{
	Name: "man", Usage: "[--list | --write FOLDER | PAGE]", Group: groupOther, Summary: "print a manual page, or write all of them",
	About: []string{"Pages are mdoc source. There is one for the program, one for each command, and \"settings\"."},
	Examples: []example{
		{"read a page", "vaultwicket man run | man -l -"},
		{"install all pages for this user", "vaultwicket man --write ~/.local/share/man"},
	},
}

// printManual is "vaultwicket man": a manual page in mdoc, or the files of all of them.
func printManual(_ context.Context, std terminal.Streams, args []string) error {
	var list bool
	var folder string
	rest, err := terminal.ParseFlags("man", args, func(f terminal.FlagSet) {
		f.BoolVar(&list, "list", false, "list the files of the pages")
		f.StringVar(&folder, "write", "", "write all pages below this folder, in man1 and man5")
	})
	switch {
	case err != nil:
		return err
	case len(rest) > 1 || len(rest) > 0 && (list || folder != "") || list && folder != "":
		return &terminal.UsageError{Reason: "man takes one page, --list or --write", Advice: `"vaultwicket man run" prints the page of run`}
	case list:
		for _, page := range manualPages() {
			fmt.Fprintln(std.Out, page.File())
		}
		return nil
	case folder != "":
		// Write the files of all pages, as a folder of MANPATH has them.
		for _, page := range manualPages() {
			place := filepath.Join(folder, "man"+strconv.Itoa(page.Section))
			err := os.MkdirAll(place, 0o755)
			if err == nil {
				err = os.WriteFile(filepath.Join(place, page.File()), []byte(page.Text), 0o644)
			}
			if err != nil {
				return &terminal.UsageError{Reason: fmt.Sprintf("write the manual pages: %v", err), Advice: "choose a folder that you can write to"}
			}
		}
		return nil
	}
	name := "vaultwicket"
	if len(rest) == 1 {
		name = rest[0]
	}
	page, found := manualPageNamed(name)
	if !found {
		return &terminal.UsageError{Reason: fmt.Sprintf("unknown manual page %q%s", quote.Short(name), quote.DidYouMean(name, manualNames())), Advice: `"vaultwicket man --list" lists the pages`}
	}
	if terminal.IsTerminal(std.Out) {
		terminal.Notef(std.Err, "this is the source of the page; read it with: vaultwicket man %s | man -l -", name)
	}
	_, err = io.WriteString(std.Out, page.Text)
	return err
}

// mdoc writes a manual page in mdoc(7), the macros that mandoc and groff read.
type mdoc struct{ text strings.Builder }

// maxMdocLine is how long a line of source may be: mandoc has an opinion on longer ones.
const maxMdocLine = 78

func (d *mdoc) macro(line string) { d.text.WriteString("." + line + "\n") }

func (d *mdoc) head(name string, section int, summary string) {
	d.macro("Dd " + release.Date.Format("January 2, 2006"))
	d.macro(fmt.Sprintf("Dt %s %d", strings.ToUpper(name), section))
	d.macro("Os")
	d.macro("Sh NAME")
	d.macro("Nm " + name)
	d.macro("Nd " + mdocEscape(summary))
}

// section begins a section, and subsection a part of one.
func (d *mdoc) section(title string)    { d.macro("Sh " + strings.ToUpper(title)) }
func (d *mdoc) subsection(title string) { d.macro("Ss " + mdocEscape(title)) }

// sentenceEnd is where mdoc wants a new line.
var sentenceEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([.!?][)"]?) `) })

// prose writes text: a sentence begins on a new line, and no line is too long.
func (d *mdoc) prose(text string) {
	for sentence := range strings.SplitSeq(sentenceEnd().ReplaceAllString(text, "$1\n"), "\n") {
		line := ""
		for word := range strings.FieldsSeq(mdocEscape(sentence)) {
			if line != "" && len(line)+1+len(word) > maxMdocLine {
				d.source(line)
				line = ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		d.source(line)
	}
}

// source writes a line of text, and escapes a first character that would make it a macro.
func (d *mdoc) source(line string) {
	if line == "" {
		return
	}
	if line[0] == '.' || line[0] == '\'' {
		line = `\&` + line
	}
	d.text.WriteString(line + "\n")
}

func (d *mdoc) paragraph() { d.macro("Pp") }

// list writes items with a tag each, by a function that writes the text of one.
func (d *mdoc) list(tags []string, item func(i int)) {
	d.macro("Bl -tag -width Ds")
	for i, tag := range tags {
		d.macro("It " + tag)
		item(i)
	}
	d.macro("El")
}

func (d *mdoc) examples(list []example) {
	if len(list) == 0 {
		return
	}
	d.section("Examples")
	for i, e := range list {
		if i > 0 {
			d.paragraph()
		}
		d.prose(sentence(e.What) + ":")
		// Write lines as they are.
		d.macro("Bd -literal -offset indent")
		for line := range strings.SplitSeq(e.Line, "\n") {
			d.source(mdocEscape(line))
		}
		d.macro("Ed")
	}
}

// references writes the section SEE ALSO. Pages are "name section".
func (d *mdoc) references(pages []string) {
	d.section("See also")
	for i, page := range pages {
		if i < len(pages)-1 {
			page += " ,"
		}
		d.macro("Xr " + page)
	}
}

// mdocEscape returns text in which roff sees no escapes, hyphens are the characters that a user
// types, and everything beyond ASCII is named.
func mdocEscape(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			out.WriteString(`\e`)
		case r == '-':
			out.WriteString(`\-`)
		case r == '"':
			out.WriteString(`\(dq`)
		case r == '~':
			out.WriteString(`\(ti`)
		case r == '\'':
			out.WriteString(`\(aq`)
		case r == '^':
			out.WriteString(`\(ha`)
		case r == '`':
			out.WriteString(`\(ga`)
		case r > 0x7e:
			fmt.Fprintf(&out, `\[u%04X]`, r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// sentence returns text with a capital letter at its start.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// programName is the name of the page about the whole program, and begins the names of all others.
const programName = "vaultwicket"

const settingsPage = "settings"

type manualPage struct {
	Name    string // such as "vaultwicket-run"
	Section int
	Text    string // mdoc
}

// File returns the name of the file of the page, such as "vaultwicket-run.1".
func (p manualPage) File() string { return fmt.Sprintf("%s.%d", p.Name, p.Section) }

func manualPages() []manualPage {
	pages := []manualPage{overviewPage()}
	for _, c := range subcommands() {
		pages = append(pages, commandPage(c.description, ownAndSettings(flagsOf(c.Name))))
	}
	return append(pages, settingsManual())
}

// manualPageNamed returns the page of a name: that of a command with or without the name of the
// program, "settings", or "vaultwicket"; ok is false for any other.
func manualPageNamed(name string) (page manualPage, ok bool) {
	pages := manualPages()
	i := slices.IndexFunc(pages, func(p manualPage) bool { return p.Name == name || p.Name == programName+"-"+name || p.File() == name })
	if i < 0 {
		return manualPage{}, false
	}
	return pages[i], true
}

// manualNames returns the names that [manualPageNamed] takes, without the name of the program.
func manualNames() []string {
	names := []string{programName}
	for _, c := range subcommands() {
		names = append(names, c.Name)
	}
	return append(names, settingsPage)
}

func overviewPage() manualPage {
	var d mdoc
	d.head(programName, 1, "policy-enforcing gateway for Obsidian vaults")
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
	d.facts("Pa", [][2]string{
		{"~/.config/vaultwicket/config.toml", "settings"},
		{"~/.local/state/vaultwicket", "journal, audit log, approvals and the token for HTTP; readable by you alone"},
		{"~/.cache/vaultwicket", "cache of the notes that were read; can be removed at any time"},
		{".vaultwicketignore", "in a vault: patterns of notes that are hidden, as in .gitignore"},
	})
	d.section("Exit status")
	var statuses [][2]string
	for _, one := range terminal.ExitMeanings {
		statuses = append(statuses, [2]string{strconv.Itoa(one.Status), one.Meaning})
	}
	d.facts("Li", statuses)
	d.examples(overviewExamples)
	var pages []string
	for _, c := range subcommands() {
		pages = append(pages, programName+"-"+c.Name+" 1")
	}
	slices.Sort(pages)
	d.references(append(pages, programName+"-"+settingsPage+" 5"))
	return manualPage{Name: programName, Section: 1, Text: d.text.String()}
}

var otherVariables = [][2]string{
	{"VAULTWICKET_CONFIG", "settings file, or \"none\""},
	{"VAULTWICKET_TOKEN", "bearer token for HTTP, in place of the token file"},
	{"NO_COLOR", "no colours, with any value"},
	{"CLICOLOR_FORCE", "colours even if standard output is not a terminal, unless 0"},
	{"XDG_CONFIG_HOME", "folder of settings"},
	{"XDG_STATE_HOME", "folder of state: journal, audit log, approvals, token"},
	{"XDG_CACHE_HOME", "folder of caches"},
}

func (d *mdoc) facts(macro string, list [][2]string) {
	var tags []string
	for _, fact := range list {
		tags = append(tags, macro+" "+mdocEscape(fact[0]))
	}
	d.list(tags, func(i int) { d.prose(sentence(list[i][1]) + ".") })
}

func commandPage(c description, f flagLists) manualPage {
	name := programName + "-" + c.Name
	var d mdoc
	d.head(name, 1, c.Summary)
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

func settingsManual() manualPage {
	name := programName + "-" + settingsPage
	var d mdoc
	d.head(name, 5, "settings of vaultwicket")
	d.section("Description")
	d.prose("Every setting has one name: a flag, an environment variable, and a key of the settings file, which is TOML. A flag beats the variable, the variable beats the profile that is chosen, " +
		"and the profile beats the rest of the file. An unknown, duplicate or invalid setting is an error, and so is a file that others can write.")
	d.paragraph()
	d.prose("A running server reads the file again when it changes. It takes what is stricter, and never what is looser.")
	d.subsection("Settings")
	var tags []string
	list := settings.Describe()
	for _, one := range list {
		tags = append(tags, "Ic "+one.Name)
	}
	d.list(tags, func(i int) {
		one := list[i]
		d.prose(strings.TrimSuffix(sentence(one.Usage), ".") + ".")
		if one.Default != "" {
			d.prose("Default: " + one.Default + ".")
		}
		d.prose("Variable:")
		d.macro("Ev " + one.Variable + " .")
	})
	d.subsection("Vaults")
	d.prose("One table [[vaults]] for each vault; the first one is the default. Each needs a name, an id or a folder.")
	d.facts("Ic", settings.DescribeVault())
	d.paragraph()
	d.prose("The table [vaults.access] has paths of folders and notes with the access to each:")
	d.facts("Ic", settings.DescribeLevels())
	d.subsection("Profiles")
	d.prose("A table [profiles.NAME] has settings that replace those of the file while the profile is chosen.")
	d.section("Files")
	d.facts("Pa", [][2]string{{"~/.config/vaultwicket/config.toml", "the settings file on Linux; \"vaultwicket config path\" prints where it is"}})
	d.examples([]example{
		{"agents read and change notes; Private is hidden", settingsExample},
		{"write a file with every setting as a comment", "vaultwicket config init"},
	})
	d.references([]string{programName + " 1", programName + "-config 1"})
	return manualPage{Name: name, Section: 5, Text: d.text.String()}
}
