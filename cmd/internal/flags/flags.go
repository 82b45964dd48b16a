// Package flags reads the flags of a subcommand. It is the only package that uses
// pflag: errors of pflag leave it in the words of the other messages.
package flags

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/exit"
)

// Set is the flag set of a subcommand.
type Set struct{ *pflag.FlagSet }

// New returns an empty flag set. The name is the words of the subcommand, such
// as "audit list".
func New(name string) Set {
	s := Set{pflag.NewFlagSet(name, pflag.ContinueOnError)}
	s.SortFlags = false
	s.Usage = func() {} // main prints the help, on standard output
	return s
}

// Parse reads the flags of a subcommand that has no settings, and so works when
// they are invalid. It returns the other words. define adds the flags; it may be nil.
func Parse(name string, args []string, define func(Set)) ([]string, error) {
	s := New(name)
	if define != nil {
		define(s)
	}
	err := s.Parse(args)
	return s.Args(), err
}

// Parse reads the flags of args. The error is a [*Help] or a [*exit.UsageError].
func (s Set) Parse(args []string) error {
	err := s.FlagSet.Parse(args)
	var unknown *pflag.NotExistError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pflag.ErrHelp):
		return &Help{s.list()}
	case errors.As(err, &unknown) && slices.Contains(versionFlags, unknown.GetSpecifiedName()):
		return &Version{}
	case errors.As(err, &unknown):
		return s.unknownFlag(unknown.GetSpecifiedName())
	}
	return &exit.UsageError{Reason: err.Error(), Advice: fmt.Sprintf(`"vaultwicket help %s" shows the flags`, s.Name())}
}

func (s Set) unknownFlag(name string) error {
	err := &exit.UsageError{Reason: fmt.Sprintf("unknown flag %q", quote.Short("--"+name))}
	var names []string
	s.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	if near := quote.Nearest(name, names); near != "" {
		err.Advice = fmt.Sprintf("did you mean %q?", "--"+near)
	}
	return err
}

// versionFlags are -V and --version, which every subcommand has.
var versionFlags = []string{"V", "version"}

// Help is the error for -h and --help: what the flags are.
type Help struct{ Flags []Flag }

func (*Help) Error() string { return "help requested" }

// Version is the error for -V and --version.
type Version struct{}

func (*Version) Error() string { return "version requested" }

// Flag is a flag as help shows it.
type Flag struct {
	Name  string
	Value string // what stands for its value, "" if it takes none
	Usage string // with its default
}

// Form returns the flag as it is written, such as "--limit N".
func (f Flag) Form() string {
	if f.Value == "" {
		return "--" + f.Name
	}
	return "--" + f.Name + " " + f.Value
}

// list returns the flags of s in the order of their definition.
func (s Set) list() (list []Flag) {
	s.VisitAll(func(flag *pflag.Flag) {
		f := Flag{Name: flag.Name, Usage: flag.Usage}
		switch flag.Value.Type() {
		case "bool":
		case "int":
			f.Value = "N"
		default:
			f.Value = "VALUE"
		}
		isZero := slices.Contains([]string{"", "0", "false"}, flag.DefValue)
		if !isZero && !strings.Contains(flag.Usage, "(default ") {
			f.Usage += " (default " + flag.DefValue + ")"
		}
		list = append(list, f)
	})
	return list
}
