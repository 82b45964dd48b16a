// Package screen lays out what a subcommand prints for a user: tables, facts, colours and
// times.
//
// On a terminal a table has headers, its cells are cut to the width of the window, and
// times are as people say them. Everywhere else lines stay as scripts read them: no header,
// nothing cut, exact times. No escape sequence is written unless colours are on, and text
// that comes from elsewhere cannot contain one: every cell is cleaned.
package screen

import (
	"io"
	"time"

	"vaultwicket/cmd/internal/flags"
	"vaultwicket/cmd/internal/terminal"
)

// Screen is where a subcommand prints. The zero Screen is not usable; see [New].
type Screen struct {
	out    io.Writer
	width  int // of the terminal in columns, 0 where there is none
	colour bool
	exact  bool // times
	now    time.Time
}

// Options are the flags of a subcommand that prints for users. The zero Options are the
// defaults.
type Options struct {
	Color Color
	Exact bool // times in full
}

// Flags adds --color and --exact-times.
func (o *Options) Flags(f flags.Set) {
	o.ColorFlag(f)
	f.BoolVar(&o.Exact, "exact-times", false, "show times in full on a terminal, too (RFC 3339)")
}

// ColorFlag adds --color, for a subcommand that shows no times.
func (o *Options) ColorFlag(f flags.Set) {
	f.Var(&o.Color, "color", "colours: auto (on a terminal), always or never (default auto)")
}

// New returns the screen of a subcommand. Times are told as seen from now.
func New(std terminal.Streams, o Options, now time.Time) Screen {
	width, isTerminal := terminal.Width(std.Out)
	s := Screen{out: std.Out, colour: o.Color.on(std.Lookup, isTerminal), exact: o.Exact, now: now}
	if isTerminal {
		s.width = width
	}
	if s.colour && isTerminal {
		s.colour = terminal.EnableEscapes(std.Out)
	}
	return s
}

// Default returns the screen of a subcommand that prints a text and has no [Options].
func Default(std terminal.Streams) Screen { return New(std, Options{}, time.Time{}) }

// IsTerminal reports whether a user looks at what is printed.
func (s Screen) IsTerminal() bool { return s.width > 0 }

// Width returns the columns of the terminal, and fallback where there is none.
func (s Screen) Width(fallback int) int {
	if s.IsTerminal() {
		return s.width
	}
	return fallback
}
