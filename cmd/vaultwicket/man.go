package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"github.com/vaultwicket/vaultwicket/cmd/internal/settings"
	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/release"
)

var helpOfMan = description{
	Name: "man", Usage: "[--list | --write FOLDER | PAGE]", Group: groupOther, Summary: "print a manual page, or write all of them",
	About: []string{"The pages are mdoc source: one for the program, one for each command, and \"settings\"."},
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
	wanted := len(rest)
	if list {
		wanted++
	}
	if folder != "" {
		wanted++
	}
	switch {
	case err != nil:
		return err
	case wanted > 1:
		return &terminal.UsageError{
			Reason: "man takes one page, --list or --write",
			Advice: `"vaultwicket man run" prints the page of run`,
		}
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
				return &terminal.UsageError{
					Reason: fmt.Sprintf("write the manual pages: %v", err),
					Advice: "choose a folder that you can write to",
				}
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
		return &terminal.UsageError{
			Reason: fmt.Sprintf(
				"unknown manual page %q%s",
				excerpt.Short(name),
				excerpt.DidYouMean(name, manualNames()),
			),
			Advice: `"vaultwicket man --list" lists the pages`,
		}
	}
	if terminal.IsTerminal(std.Out) {
		terminal.Notef(std.Err, "this is the source of the page; read it with: vaultwicket man %s | man -l -", name)
	}
	_, err = io.WriteString(std.Out, page.Text)
	return err
}

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

// manualNames returns the names that [manualPageNamed] takes, without the name of the program.
func manualNames() []string {
	names := []string{programName}
	for _, c := range subcommands() {
		names = append(names, c.Name)
	}
	return append(names, settingsPage)
}

func manualPages() []manualPage {
	commands := subcommands()
	sorted := slices.SortedFunc(
		slices.Values(commands),
		func(a, b subcommand) int { return strings.Compare(a.Name, b.Name) },
	)
	pages := []manualPage{{programName, 1, manualText("overview", map[string]any{
		"Groups": groups, "Commands": commands, "Sorted": sorted, "Statuses": terminal.ExitMeanings, "Examples": overviewExamples,
	})}}
	for _, c := range commands {
		pages = append(pages, commandPage(c.description, ownAndSettings(flagsOf(c.Name))))
	}
	return append(pages, manualPage{programName + "-" + settingsPage, 5, manualText(settingsPage, map[string]any{
		"Settings": settings.Describe(), "Vault": settings.DescribeVault(), "Levels": settings.DescribeLevels(),
	})})
}

func commandPage(c description, f flagLists) manualPage {
	return manualPage{programName + "-" + c.Name, 1, manualText("command", struct {
		description
		flagLists
	}{c, f})}
}

// manualPageNamed returns the page of a name: that of a command with or without the name of the
// program, "settings", or "vaultwicket"; ok is false for any other.
func manualPageNamed(name string) (page manualPage, ok bool) {
	pages := manualPages()
	i := slices.IndexFunc(
		pages,
		func(p manualPage) bool { return p.Name == name || p.Name == programName+"-"+name || p.File() == name },
	)
	if i < 0 {
		return manualPage{}, false
	}
	return pages[i], true
}

//go:embed man
var manualFiles embed.FS

// manual has the templates of the pages in mdoc(7), the macros that mandoc and groff read.
var manual = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"date":  func() string { return release.Date.Format("January 2, 2006") },
		"upper": strings.ToUpper, "escape": mdocEscape, "literal": mdocLines, "prose": prose, "sentence": sentence,
		"told": func(text string) string { return prose(strings.TrimSuffix(sentence(text), ".") + ".") },
	}).ParseFS(manualFiles, "man/*.mdoc"))
})

func manualText(page string, about any) string {
	var text strings.Builder
	if err := manual().ExecuteTemplate(&text, page+".mdoc", about); err != nil {
		panic(err) // a mistake in the template: every page is the same for everybody
	}
	return text.String()
}

// maxMdocLine is how long a line of source may be: mandoc has an opinion on longer ones.
const maxMdocLine = 78

// sentenceEnd is where mdoc wants a new line.
var sentenceEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([.!?][)"]?) `) })

// prose returns text as lines of source: a sentence begins on a new line, and no line is too long.
func prose(text string) string {
	var lines []string
	for sentence := range strings.SplitSeq(sentenceEnd().ReplaceAllString(text, "$1\n"), "\n") {
		line := ""
		for word := range strings.FieldsSeq(sentence) {
			if line != "" && len(mdocEscape(line+" "+word)) > maxMdocLine {
				lines = append(lines, line)
				line = ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return mdocLines(strings.Join(lines, "\n"))
}

// mdocLines returns the lines of a text as lines of source. A first character that would make a line a
// macro is escaped.
func mdocLines(text string) string {
	var lines []string
	for line := range strings.SplitSeq(mdocEscape(text), "\n") {
		if strings.HasPrefix(line, ".") {
			line = `\&` + line
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
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
