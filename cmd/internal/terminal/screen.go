package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/tiers"
)

// Screen is where a subcommand prints. The zero Screen is not usable; see [NewScreen].
type Screen struct {
	out    io.Writer
	width  int // of the terminal in columns, 0 where there is none
	colour bool
	exact  bool // times
	now    time.Time
}

// ScreenOptions are the flags of a subcommand that prints for users. The zero Options are the defaults.
type ScreenOptions struct {
	Color Color
	Exact bool // times in full
}

// Flags adds --color and --exact-times.
func (o *ScreenOptions) Flags(f FlagSet) {
	o.ColorFlag(f)
	f.BoolVar(&o.Exact, "exact-times", false, "show times in full on a terminal, too (RFC 3339)")
}

// ColorFlag adds --color, for a subcommand that shows no times.
func (o *ScreenOptions) ColorFlag(f FlagSet) {
	f.Var(&o.Color, "color", "colours: auto (on a terminal), always or never (default auto)")
}

// NewScreen returns the screen of a subcommand. Relative times are relative to now.
func NewScreen(std Streams, o ScreenOptions, now time.Time) Screen {
	width, isTerminal := Width(std.Out)
	s := Screen{out: std.Out, colour: o.Color.on(std.Lookup, isTerminal), exact: o.Exact, now: now}
	if isTerminal {
		s.width = width
	}
	if s.colour && isTerminal {
		s.colour = EnableEscapes(std.Out)
	}
	return s
}

// DefaultScreen returns the screen of a subcommand that prints a text and has no [ScreenOptions].
func DefaultScreen(std Streams) Screen { return NewScreen(std, ScreenOptions{}, time.Time{}) }

// IsTerminal reports whether the output is a terminal.
func (s Screen) IsTerminal() bool { return s.width > 0 }

// Width returns the columns of the terminal, or fallback without one.
func (s Screen) Width(fallback int) int {
	if s.IsTerminal() {
		return s.width
	}
	return fallback
}

// Color is the value of --color. The zero Color is auto.
type Color string

// Colors are the values of --color.
var Colors = []string{"auto", "always", "never"}

// String returns the value, "" for the default: pflag then adds none to the help.
func (c *Color) String() string { return string(*c) }

// Set takes one of [Colors].
func (c *Color) Set(text string) error {
	if !slices.Contains(Colors, text) {
		return fmt.Errorf(
			"invalid value %q: want %s%s",
			excerpt.Short(text),
			strings.Join(Colors, ", "),
			excerpt.DidYouMean(text, Colors),
		)
	}
	*c = Color(text)
	return nil
}

// Type names the kind of value in the help.
func (*Color) Type() string { return "string" }

// on decides whether to use colours. The flag decides if it is always or never; then the
// environment by its conventions: NO_COLOR with any value, CLICOLOR_FORCE other than 0,
// CLICOLOR=0, TERM=dumb. By default a terminal has colours.
func (c Color) on(lookup func(string) (string, bool), isTerminal bool) bool {
	value := func(name string) string {
		text, _ := lookup(name)
		return text
	}
	switch {
	case c == "always":
		return true
	case c == "never" || value("NO_COLOR") != "":
		return false
	case value("CLICOLOR_FORCE") != "" && value("CLICOLOR_FORCE") != "0":
		return true
	}
	return isTerminal && value("CLICOLOR") != "0" && value("TERM") != "dumb"
}

// Style is how text looks. The zero Style is plain.
type Style string

// The styles, by what they say.
const (
	Plain  Style = ""
	Strong Style = "1"
	Faint  Style = "2"
	Good   Style = "32"
	Alert  Style = "33"
	Bad    Style = "31"
	Name   Style = "36"
)

// Paint returns text in a style, and text itself where there are no colours.
func (s Screen) Paint(style Style, text string) string {
	if !s.colour || style == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// DecisionStyles are the colours of decisions, verdicts of rules and outcomes of calls.
var DecisionStyles = map[string]Style{
	"allow": Good,
	"reply": Good,
	"ask":   Alert,
	"deny":  Bad,
	"skip":  Faint,
	"end":   Faint,
}

// EffectStyles are the colours of effects that change something.
var EffectStyles = map[string]Style{
	tiers.Writes.String():    Alert,
	tiers.Destroys.String():  Bad,
	tiers.Publishes.String(): Bad,
}

// Signed paints a row of a difference by its sign: removed or added.
func (s Screen) Signed(sign, row string) string {
	switch sign {
	case "-":
		return s.Paint(Bad, row)
	case "+":
		return s.Paint(Good, row)
	}
	return row
}

// longAgo is when a date says more than a number of days.
const longAgo = 30 * 24 * time.Hour

// Time returns when something happened: "3 min ago" on a terminal, a date if that is long ago or
// in the future, and the exact time (RFC 3339, UTC) everywhere else or with --exact-times.
func (s Screen) Time(t time.Time) string {
	if s.exact || !s.IsTerminal() {
		return t.UTC().Format(time.RFC3339)
	}
	switch age := s.now.Sub(t); {
	case age < -time.Minute: // a clock was put back
		return t.UTC().Format(time.RFC3339)
	case age < 5*time.Second:
		return "just now"
	case age > longAgo:
		return t.UTC().Format(time.DateOnly)
	default:
		return Span(age) + " ago"
	}
}

// Span returns a length of time in one unit, rounded down and not below zero: "40 s", "3 min", "5 h", "2 d".
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return "0 s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d d", d/(24*time.Hour))
}

// columns counts the columns that text takes on a terminal. A character whose width
// depends on the terminal counts as narrow, whatever the locale.
var columns = displaywidth.Options{}

const ellipsis = "…"

// cut returns text in at most width columns. It cuts between characters as a reader sees
// them, and so never within one.
func cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	return columns.TruncateString(text, width, ellipsis)
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-columns.String(text)))
}

// Wrap breaks text into lines of at most width columns, at blanks where there are some. A
// longer word is broken between two characters. Line breaks of the text are kept.
func Wrap(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, wrapLine(line, max(width, 1))...)
	}
	return lines
}

// Fit returns lines for a stream: if that is a terminal, a line that is wider than it continues below its last column,
// which begins after two blanks or more. Lines are broken at blanks alone: a word that is wider than the terminal
// stays whole, so that it can be copied. The lines have no colours.
func Fit(stream any, text string) string {
	width, _, isTerminal := reportedSize(stream)
	if !isTerminal || width <= 0 {
		return text
	}
	return fitted(text, width)
}

const (
	leastColumn = 24 // columns that a column of text needs for its lines to be below each other
	plainIndent = "    "
)

func fitted(text string, width int) string {
	var all strings.Builder
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		if columns.String(bare) <= width {
			all.WriteString(line)
			continue
		}
		row := bare[:columnStart(bare, width)]
		indent := plainIndent
		if row != "" {
			indent = strings.Repeat(" ", columns.String(row))
		}
		isBegun := false
		for word := range strings.SplitSeq(bare[len(row):], " ") {
			joined := row + word
			if isBegun {
				joined = row + " " + word
			}
			if isBegun && columns.String(joined) > width {
				all.WriteString(strings.TrimRight(row, " ") + "\n")
				joined = indent + word
				if columns.String(joined) > width {
					joined = word // whole, if it is no wider than the terminal
				}
			}
			row = joined
			isBegun = true
		}
		all.WriteString(row + line[len(bare):])
	}
	return all.String()
}

// columnStart returns where the last column of a line begins that has room for text, 0 if there is none.
func columnStart(line string, width int) (start int) {
	for at := 2; at < len(line); at++ {
		isStart := line[at] != ' ' && line[at-2:at] == "  "
		if isStart && columns.String(line[:at]) <= width-leastColumn {
			start = at
		}
	}
	return start
}

func wrapLine(text string, width int) (lines []string) {
	line := ""
	for i, word := range strings.Split(text, " ") {
		switch {
		case i == 0:
			line = word
		case columns.String(line)+1+columns.String(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
		for columns.String(line) > width {
			// The characters at the start of text that fit, at least one.
			end := 0
			used := 0
			for g := columns.StringGraphemes(line); g.Next(); {
				if used += g.Width(); used > width && end > 0 {
					break
				}
				end += len(g.Value())
			}
			head := line[:end]
			if head == line {
				break // one character is wider than the line
			}
			lines = append(lines, head)
			line = line[len(head):]
		}
	}
	return append(lines, line)
}
