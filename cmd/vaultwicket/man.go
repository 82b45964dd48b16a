package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/release"
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

// head writes the prologue and the section NAME.
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

// examples writes command lines, each after its description.
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
