package terminal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/vaultwicket/vaultwicket/internal/date"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// FlagSet is the flag set of a subcommand.
type FlagSet struct{ *pflag.FlagSet }

// NewFlagSet returns an empty flag set. name is the subcommand, such as "audit list".
func NewFlagSet(name string) FlagSet {
	s := FlagSet{pflag.NewFlagSet(name, pflag.ContinueOnError)}
	s.SortFlags = false
	s.Usage = func() {} // main prints the help, on standard output
	return s
}

// ParseFlags parses the flags of a subcommand that does not use the settings, and so works even if
// they are invalid. It returns the remaining arguments. define adds the flags; it may be nil.
func ParseFlags(name string, args []string, define func(FlagSet)) ([]string, error) {
	s := NewFlagSet(name)
	if define != nil {
		define(s)
	}
	err := s.Parse(args)
	return s.Args(), err
}

// Parse parses the flags in args. The error is a [*HelpRequested], a [*VersionRequested] or a [*UsageError].
func (s FlagSet) Parse(args []string) error {
	err := s.FlagSet.Parse(args)
	var unknown *pflag.NotExistError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pflag.ErrHelp):
		help := &HelpRequested{}
		s.VisitAll(func(flag *pflag.Flag) {
			if flag.Hidden {
				return
			}
			f := Flag{Name: flag.Name, Usage: flag.Usage}
			switch flag.Value.Type() {
			case "bool":
			case "int":
				f.Value = "N"
			default:
				f.Value = "VALUE"
			}
			isZero := slices.Contains([]string{"", "0", "false", "[]"}, flag.DefValue)
			if !isZero && !strings.Contains(flag.Usage, "(default ") {
				f.Usage += " (default " + flag.DefValue + ")"
			}
			help.Flags = append(help.Flags, f)
		})
		return help
	case errors.As(err, &unknown) && slices.Contains(versionFlags, unknown.GetSpecifiedName()):
		return &VersionRequested{}
	case errors.As(err, &unknown) && unknown.GetSpecifiedName() == "json":
		return NoJSON(s.Name())
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		err := &UsageError{Reason: fmt.Sprintf("unknown flag %q", excerpt.Short("--"+name))}
		var names []string
		s.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
		if near := excerpt.Nearest(name, names); near != "" {
			err.Advice = fmt.Sprintf("did you mean %q?", "--"+near)
		}
		return err
	}
	return &UsageError{Reason: err.Error(), Advice: fmt.Sprintf(`"vaultwicket help %s" shows the flags`, firstWord(s.Name()))}
}

// NoJSON returns the error of a command without JSON output. Ignoring the flag would hide that from a script.
func NoJSON(command string) *UsageError {
	return &UsageError{
		Reason: fmt.Sprintf("%s has no flag --json", command),
		Advice: fmt.Sprintf(`"vaultwicket help %s" shows the flags`, firstWord(command)),
	}
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

var versionFlags = []string{"V", "version"}

// HelpRequested is the error for -h and --help. It contains the flags to show.
type HelpRequested struct{ Flags []Flag }

func (*HelpRequested) Error() string { return "help requested" }

// VersionRequested is the error for -V and --version.
type VersionRequested struct{}

func (*VersionRequested) Error() string { return "version requested" }

// Flag is a flag as help shows it.
type Flag struct {
	Name  string
	Value string // the placeholder for its value, "" if it has none
	Usage string // the description, including the default
}

// Form returns the flag with the placeholder for its value, such as "--limit N".
func (f Flag) Form() string {
	if f.Value == "" {
		return "--" + f.Name
	}
	return "--" + f.Name + " " + f.Value
}

// MomentHelp describes in the help of a flag what [ParseMoment] accepts.
const MomentHelp = "a date (2026-11-21, yesterday, -3d, monday), a time (RFC 3339) or an age (24h)"

// Edge selects the beginning or the end of a date.
type Edge uint8

// The edges of a date, in the time zone of the parameter now of [ParseMoment].
const (
	FirstMoment Edge = iota
	EndOfDate
)

// ParseMoment parses the value of a flag: a date, a time or an age. edge selects the beginning or the end of a date. ""
// is the zero time. The error is a [*UsageError].
func ParseMoment(flag, text string, now time.Time, edge Edge) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	if ago, err := time.ParseDuration(strings.TrimPrefix(text, "-")); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	span, err := date.Read(text, now, date.Past)
	switch {
	case err != nil:
		return time.Time{}, &UsageError{
			Reason: fmt.Sprintf("flag --%s: invalid date, time or duration %q", flag, excerpt.Short(text)),
			Advice: "use 2026-11-21, yesterday, -3d, monday, 2026-W47, 2026-11-21T09:30:00Z or 24h",
		}
	case edge == EndOfDate:
		return span.End(), nil
	}
	return span.First, nil
}
