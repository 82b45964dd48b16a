package main

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// mdoc writes a manual page in mdoc(7), the macros that mandoc and groff read.
type mdoc struct{ text strings.Builder }

// maxMdocLine is how long a line of source may be: mandoc has an opinion on longer ones.
const maxMdocLine = 78

func (d *mdoc) macro(line string) { d.text.WriteString("." + line + "\n") }

// head writes the prologue and the section NAME.
func (d *mdoc) head(date time.Time, name string, section int, summary string) {
	d.macro("Dd " + date.Format("January 2, 2006"))
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
