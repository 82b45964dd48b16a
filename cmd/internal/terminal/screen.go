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

// Screen is the standard output of a subcommand as people see it. The zero Screen is not usable; see [NewScreen].
type Screen struct {
	out    io.Writer
	width  int       // of the terminal in columns, 0 if the output is not a terminal
	colour bool      // colours are used
	exact  bool      // times are shown in full
	now    time.Time // the reference of relative times
}

// ScreenOptions are the flags of a subcommand that prints for people. The zero value is the default.
type ScreenOptions struct {
	Color Color
	Exact bool // show times in full
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

// DefaultScreen returns the screen of a subcommand without [ScreenOptions], which must not print times.
func DefaultScreen(std Streams) Screen { return NewScreen(std, ScreenOptions{}, time.Time{}) }

// IsTerminal reports whether the output is a terminal.
func (s Screen) IsTerminal() bool { return s.width > 0 }

// Width returns the number of columns of the terminal, or fallback if the output is not a terminal.
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

// String returns the value. It is "" for the default, so that pflag does not add one to the help.
func (c *Color) String() string { return string(*c) }

// Set accepts one of [Colors].
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

// on reports whether to use colours. The flag decides if it is always or never. Otherwise the
// environment decides by its usual conventions: NO_COLOR with any value, CLICOLOR_FORCE other than 0,
// CLICOLOR=0, TERM=dumb. By default, colours are used on a terminal.
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

// Style is the SGR parameter of a colour or weight. The zero Style is plain.
type Style string

// The styles, named after what they mean.
const (
	Plain  Style = ""
	Strong Style = "1"
	Faint  Style = "2"
	Good   Style = "32"
	Alert  Style = "33"
	Bad    Style = "31"
	Name   Style = "36"
)

// Paint returns text in a style, or text itself if colours are not used.
func (s Screen) Paint(style Style, text string) string {
	if !s.colour || style == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// DecisionStyles are the styles of decisions, verdicts of rules and outcomes of calls.
var DecisionStyles = map[string]Style{
	"allow": Good,
	"reply": Good,
	"ask":   Alert,
	"deny":  Bad,
	"skip":  Faint,
	"end":   Faint,
}

// EffectStyles are the styles of effects that change something.
var EffectStyles = map[string]Style{
	tiers.Writes.String():    Alert,
	tiers.Destroys.String():  Bad,
	tiers.Publishes.String(): Bad,
}

// Signed paints a row of a difference by its sign, "-" for removed and "+" for added.
func (s Screen) Signed(sign, row string) string {
	switch sign {
	case "-":
		return s.Paint(Bad, row)
	case "+":
		return s.Paint(Good, row)
	}
	return row
}

// longAgo is the age from which a date is more useful than a number of days.
const longAgo = 30 * 24 * time.Hour

// Time formats the time of an event. On a terminal it is relative, such as "3 min ago", or a date if the event was
// long ago. Otherwise, with --exact-times, and for a time in the future it is the exact time (RFC 3339, UTC).
func (s Screen) Time(t time.Time) string {
	if s.exact || !s.IsTerminal() {
		return t.UTC().Format(time.RFC3339)
	}
	switch age := s.now.Sub(t); {
	case age < -time.Minute: // the clock was set back
		return t.UTC().Format(time.RFC3339)
	case age < 5*time.Second:
		return "just now"
	case age > longAgo:
		return t.UTC().Format(time.DateOnly)
	default:
		return Span(age) + " ago"
	}
}

// Span formats a duration in one unit, rounded down and not below zero: "40 s", "3 min", "5 h", "2 d".
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

// columns measures the width of text on a terminal. Characters of ambiguous width count as narrow in every
// locale.
var columns = displaywidth.Options{}

const ellipsis = "…"

// cut truncates text to at most width columns. It never cuts within a character as a reader sees it (grapheme
// cluster).
func cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	return columns.TruncateString(text, width, ellipsis)
}

// pad adds spaces to text up to width columns.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-columns.String(text)))
}

// Wrap breaks text into lines of at most width columns, at spaces if possible. A word that is too long is broken
// between two characters. Existing line breaks are kept.
func Wrap(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, wrapLine(line, max(width, 1))...)
	}
	return lines
}

// Fit wraps the lines of text for a stream, if that is a terminal. Columns in a line are separated by two spaces or
// more, and a line that is too wide continues below the start of its last column. Lines are broken only at spaces: a word that is
// wider than the terminal stays whole, so that it can be copied. The text must not contain colours.
func Fit(stream any, text string) string {
	width, _, isTerminal := reportedSize(stream)
	if !isTerminal || width <= 0 {
		return text
	}
	return fitted(text, width)
}

const (
	leastColumn = 24     // minimum width of a column of text whose lines are below each other
	plainIndent = "    " // the indent of continued lines without such a column
)

// fitted wraps text as [Fit] does, to width columns.
func fitted(text string, width int) string {
	var result strings.Builder
	for line := range strings.Lines(text) {
		bare := strings.TrimSuffix(line, "\n")
		if columns.String(bare) <= width {
			result.WriteString(line)
			continue
		}
		row := bare[:columnStart(bare, width)]
		indent := plainIndent
		if row != "" {
			indent = strings.Repeat(" ", columns.String(row))
		}
		hasWord := false
		for word := range strings.SplitSeq(bare[len(row):], " ") {
			joined := row + word
			if hasWord {
				joined = row + " " + word
			}
			if hasWord && columns.String(joined) > width {
				result.WriteString(strings.TrimRight(row, " ") + "\n")
				joined = indent + word
				if columns.String(joined) > width {
					joined = word // without the indent, the word may fit
				}
			}
			row = joined
			hasWord = true
		}
		result.WriteString(row + line[len(bare):])
	}
	return result.String()
}

// columnStart returns the index at which the last column begins that is wide enough for text, 0 if there is none.
func columnStart(line string, width int) (start int) {
	for i := 2; i < len(line); i++ {
		isStart := line[i] != ' ' && line[i-2:i] == "  "
		if isStart && columns.String(line[:i]) <= width-leastColumn {
			start = i
		}
	}
	return start
}

// wrapLine wraps one line as [Wrap] does.
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
			// end is the length of the characters that fit, at least one.
			end := 0
			used := 0
			for g := columns.StringGraphemes(line); g.Next(); {
				used += g.Width()
				if used > width && end > 0 {
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
