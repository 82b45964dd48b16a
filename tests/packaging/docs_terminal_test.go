package packaging

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

const (
	columns    = 100 // a longer line is broken, as a terminal does
	charWidth  = 8.0
	lineHeight = 19.0
	margin     = 16.0
)

// style is how text looks: the parts of SGR that the program uses.
type style struct {
	color     string
	bold, dim bool
}

// colors are those of SGR, readable on the background of the pictures.
var colors = map[string]string{"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "35": "#d2a8ff", "36": "#76e3ea"}

var escape = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// span is text of one style on a line.
type span struct {
	text  string
	style style
}

// drawTerminal draws what a terminal shows as SVG.
func drawTerminal(text string) string {
	lines := layOut(text)
	width, height := columns*charWidth+2*margin, float64(len(lines))*lineHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<title>%s</title>`+"\n", html.EscapeString(escape.ReplaceAllString(strings.TrimSpace(text), "")))
	b.WriteString(`<rect width="100%" height="100%" rx="8" fill="#0d1117"/>` + "\n")
	b.WriteString(`<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="13" fill="#e6edf3" xml:space="preserve">` + "\n")
	for i, line := range lines {
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f">%s</text>`+"\n", margin, margin+14+float64(i)*lineHeight, drawLine(line))
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

func drawLine(line []span) string {
	var b strings.Builder
	for _, s := range line {
		attributes := ""
		if s.style.color != "" {
			attributes += ` fill="` + s.style.color + `"`
		}
		if s.style.bold {
			attributes += ` font-weight="bold"`
		}
		if s.style.dim {
			attributes += ` fill-opacity="0.6"`
		}
		fmt.Fprintf(&b, "<tspan%s>%s</tspan>", attributes, html.EscapeString(s.text))
	}
	return b.String()
}

// layOut breaks text into lines of spans.
func layOut(text string) (lines [][]span) {
	var now style
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		var spans []span
		column := 0
		add := func(text string) {
			for text != "" {
				capacity := columns - column
				if capacity == 0 {
					lines, spans, column, capacity = append(lines, spans), nil, 0, columns
				}
				part := first(text, capacity)
				spans = append(spans, span{part, now})
				column += utf8.RuneCountInString(part)
				text = text[len(part):]
			}
		}
		line = strings.ReplaceAll(line, "\t", "    ")
		at := 0
		for _, m := range escape.FindAllStringSubmatchIndex(line, -1) {
			add(line[at:m[0]])
			now = now.after(line[m[2]:m[3]])
			at = m[1]
		}
		add(line[at:])
		lines = append(lines, spans)
	}
	return lines
}

// first is the beginning of a text, at most so many characters long.
func first(text string, characters int) string {
	for i := range text {
		if characters == 0 {
			return text[:i]
		}
		characters--
	}
	return text
}

// after is the style after the codes of an escape.
func (s style) after(codes string) style {
	for code := range strings.SplitSeq(codes, ";") {
		switch {
		case code == "" || code == "0":
			s = style{}
		case code == "1":
			s.bold = true
		case code == "2":
			s.dim = true
		case code == "22":
			s.bold, s.dim = false, false
		case code == "39":
			s.color = ""
		case colors[code] != "":
			s.color = colors[code]
		}
	}
	return s
}

func TestDrawTerminal(t *testing.T) {
	got := drawTerminal("\x1b[1m$ x < y\x1b[0m\n\x1b[31mno\x1b[0m & \x1b[2mwhy\x1b[22m\n" + strings.Repeat("z", columns+1) + "\n")
	for _, want := range []string{`font-weight="bold">$ x &lt; y<`, `fill="#ff7b72">no<`, `<tspan> &amp; </tspan>`,
		`fill-opacity="0.6">why<`, ">" + strings.Repeat("z", columns) + "<", "<tspan>z</tspan>"} {
		assert.That(t, strings.Contains(got, want), "the picture has no %s:\n%s", want, got)
	}
	assert.That(t, !strings.Contains(got, "\x1b"), "an escape is left")
}
