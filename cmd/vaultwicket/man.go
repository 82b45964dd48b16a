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

var manHelp = description{
	Name: "man", Usage: "[--list | --write FOLDER | PAGE]", Group: groupOther, Summary: "print a manual page, or write all of them",
	About: []string{"The pages are mdoc source: one for the program, one for each command, and \"settings\"."},
	Examples: []example{
		{"read a page", "vaultwicket man run | man -l -"},
		{"install all pages for this user", "vaultwicket man --write ~/.local/share/man"},
	},
}

// printManual runs "vaultwicket man", which prints a manual page in mdoc, lists all pages, or writes them to files.
func printManual(_ context.Context, std terminal.Streams, args []string) error {
	var list bool
	var folder string
	rest, err := terminal.ParseFlags("man", args, func(f terminal.FlagSet) {
		f.BoolVar(&list, "list", false, "list the files of the pages")
		f.StringVar(&folder, "write", "", "write all pages below this folder, in man1 and man5")
	})
	requested := len(rest)
	if list {
		requested++
	}
	if folder != "" {
		requested++
	}
	switch {
	case err != nil:
		return err
	case requested > 1:
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
		// The pages are in subfolders, as in a folder of MANPATH.
		for _, page := range manualPages() {
			section := filepath.Join(folder, "man"+strconv.Itoa(page.Section))
			err := os.MkdirAll(section, 0o755)
			if err == nil {
				err = os.WriteFile(filepath.Join(section, page.File()), []byte(page.Text), 0o644)
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

// programName is the name of the page about the whole program, and the prefix of the names of all other pages.
const programName = "vaultwicket"

// settingsPage is the name of the page about the settings file, without the prefix.
const settingsPage = "settings"

// manualPage is a manual page.
type manualPage struct {
	Name    string // such as "vaultwicket-run"
	Section int
	Text    string // mdoc
}

// File returns the file name of the page, such as "vaultwicket-run.1".
func (p manualPage) File() string { return fmt.Sprintf("%s.%d", p.Name, p.Section) }

// manualNames returns the names that [manualPageNamed] accepts, without the prefix.
func manualNames() []string {
	names := []string{programName}
	for _, c := range subcommands() {
		names = append(names, c.Name)
	}
	return append(names, settingsPage)
}

// manualPages returns all pages.
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

// commandPage returns the page of a subcommand with its flags.
func commandPage(c description, f flagLists) manualPage {
	return manualPage{programName + "-" + c.Name, 1, manualText("command", struct {
		description
		flagLists
	}{c, f})}
}

// manualPageNamed returns the page with a name: the name of a command with or without the prefix, a
// file name, "settings", or "vaultwicket". ok is false for any other name.
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

// manual contains the templates of the pages in mdoc(7), which mandoc and groff can read.
var manual = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"date":  func() string { return release.Date.Format("January 2, 2006") },
		"upper": strings.ToUpper, "escape": mdocEscape, "literal": mdocLines, "prose": prose, "sentence": sentence,
		"told": func(text string) string { return prose(strings.TrimSuffix(sentence(text), ".") + ".") },
	}).ParseFS(manualFiles, "man/*.mdoc"))
})

// manualText returns the source of a page, from the template page and the data about.
func manualText(page string, about any) string {
	var text strings.Builder
	if err := manual().ExecuteTemplate(&text, page+".mdoc", about); err != nil {
		panic(err) // an error in the template, which tests find: the data is always the same
	}
	return text.String()
}

// maxMdocLine is the maximum length of a line of source. mandoc warns about longer ones.
const maxMdocLine = 78

// sentenceEnd matches the end of a sentence, after which mdoc requires a new line.
var sentenceEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([.!?][)"]?) `) })

// prose returns text as source: each sentence begins on a new line, and no line is too long.
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

// mdocLines returns a text as source with the same lines. A dot at the beginning of a line is escaped, because it
// would start a macro.
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

// mdocEscape escapes the special characters of roff, makes hyphens ASCII characters that can be copied, and
// replaces everything beyond ASCII by escapes.
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

// sentence returns text with its first letter in upper case.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
