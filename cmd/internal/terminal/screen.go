package terminal

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"vaultwicket/allowlist/quote"
	"vaultwicket/tiers"
)

// Screen is where a subcommand prints. The zero Screen is not usable; see [NewScreen].
type Screen struct {
	out    io.Writer
	width  int // of the terminal in columns, 0 where there is none
	colour bool
	exact  bool // times
	now    time.Time
}

// ScreenOptions are the flags of a subcommand that prints for users. The zero Options are the
// defaults.
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
		return fmt.Errorf("invalid value %q: want %s%s", quote.Short(text), strings.Join(Colors, ", "), quote.DidYouMean(text, Colors))
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
	"allow": Good, "reply": Good, "ask": Alert, "deny": Bad, "end": Faint,
}

// EffectStyles are the colours of effects that change something.
var EffectStyles = map[string]Style{
	tiers.Writes.String(): Alert, tiers.Destroys.String(): Bad, tiers.Publishes.String(): Bad,
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
