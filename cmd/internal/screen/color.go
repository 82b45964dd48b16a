package screen

import (
	"fmt"
	"slices"
	"strings"

	"vaultwicket/allowlist/quote"
)

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

// on decides whether there are colours. The flag decides if it says always or never; then
// the environment by its conventions: NO_COLOR with any value, CLICOLOR_FORCE other than 0,
// CLICOLOR=0, TERM=dumb. Nothing given, a terminal has colours.
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
