package call

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
)

// Line is a command line taken apart, its parameters not yet looked at.
type Line struct {
	Folder   string
	Stdin    string       // the parameter whose value comes from standard input
	Options  WriteOptions // for a command that writes
	Option   string       // the first switch of Options that was given
	Facts    bool         // write a line of facts after the answer
	Compact  bool         // leave out the space of JSON where that is possible
	Unless   string       // the state of the index in which nothing is to be answered
	Part     answer.Part  // how much of a listing a worker prints, and keeps the whole
	Kept     Kept         // what of an answer that a worker keeps, in place of a command
	Question string       // NarrowedSwitch or MarkedSwitch with Args, in place of a command
	MayWrite bool         // the call may change something, and not only show what it would change
	Vault    *string      // the name the caller knows the vault by, if he gave one
	Command  string
	Args     []string
	// Literal has values that did not come as arguments. They are taken as they are, with no
	// escape expanded.
	Literal map[string]string
}

const Synopsis = "Usage: vaultwicket vault FOLDER [--write] [--stdin PARAM] [--plan] [--change ID] [--expect HASH] [--approved DIGEST] [vault=<name>] <command> [options]"

// ParseLine takes the arguments of the program apart.
func ParseLine(args []string) (Line, error) {
	if len(args) == 0 || !IsFolder(args[0]) {
		return Line{}, answer.Misuse("No folder given.\n%s", Synopsis)
	}
	l := Line{Folder: args[0]}
	rest, err := l.takeSwitches(args[1:])
	if err != nil {
		return Line{}, err
	}
	if len(rest) == 0 && l.Kept.ID != "" || l.Question != "" {
		l.Args = rest
		return l, nil
	}
	if len(rest) == 0 {
		return Line{}, answer.Misuse("No command given.\n%s", Synopsis)
	}
	l.Command, l.Args = rest[0], rest[1:]
	// --help is another spelling of the command help. Every other switch is refused: the app ignores
	// unknown ones, and --copy would change the clipboard.
	if l.Command == "--help" {
		l.Command = "help"
	}
	asked := false
	for _, arg := range append([]string{l.Command}, l.Args...) {
		if isSwitch(arg) && arg != "--help" {
			return l, answer.Misuse("Unknown switch: %s", arg)
		}
		asked = asked || arg == "--help"
	}
	if asked {
		l.Command, l.Args = "help", []string{l.Command}
	}
	return l, nil
}

// valuedSwitch is a switch that is followed by a value of a form of its own, which is not empty.
type valuedSwitch struct {
	name string
	into func(*Line) *string
	fits func(value string) bool
	want string
}

var valuedSwitches = []valuedSwitch{
	{"--stdin", func(l *Line) *string { return &l.Stdin }, func(value string) bool { return value != "" && !isSwitch(value) }, "the name of a parameter.\n" + Synopsis},
	{AddressesSwitch, func(l *Line) *string { return &l.Options.Addresses }, func(value string) bool { return value == AddressesAsk || value == AddressesLog }, AddressesAsk + " or " + AddressesLog + "."},
	{ExpectSwitch, func(l *Line) *string { return &l.Options.Expect }, func(value string) bool { return isHex(value, 16) }, "a hash of 16 hexadecimal digits."},
	{UnlessSwitch, func(l *Line) *string { return &l.Unless }, func(value string) bool { return isHex(value, 16) }, "a state of 16 hexadecimal digits."},
	{ApprovedSwitch, func(l *Line) *string { return &l.Options.Approved }, func(value string) bool { return isHex(value, 2*sha256.Size) }, "a digest of 64 hexadecimal digits."},
	{CallerSwitch, func(l *Line) *string { return &l.Options.Caller }, isName, wantsName},
	{ClientSwitch, func(l *Line) *string { return &l.Options.Client }, isName, wantsName},
	{BatchSwitch, func(l *Line) *string { return &l.Options.Batch }, isName, wantsName},
}

func isName(value string) bool {
	return value != "" && len(value) <= maxCaller && utf8.ValidString(value)
}

var wantsName = fmt.Sprintf("a name of 1 to %d bytes.", maxCaller)

// takeSwitches reads the switches before the command, and returns the rest.
func (l *Line) takeSwitches(args []string) ([]string, error) {
	arg := ""
	for len(args) > 0 {
		if l.Option == "" && l.Options != (WriteOptions{}) {
			l.Option = arg // the switch before
		}
		arg = args[0]
		value := "" // of a switch with one, none of which can be empty
		if len(args) > 1 {
			value = args[1]
		}
		if i := slices.IndexFunc(valuedSwitches, func(s valuedSwitch) bool { return s.name == arg && *s.into(l) == "" }); i >= 0 {
			if !valuedSwitches[i].fits(value) {
				return nil, answer.Misuse("%s needs %s", arg, valuedSwitches[i].want)
			}
			*valuedSwitches[i].into(l), args = value, args[2:]
			continue
		}
		name, isVault := strings.CutPrefix(arg, "vault=")
		switch {
		case arg == WorkerSwitch || arg == StatusSwitch:
			return nil, answer.Misuse("%s must be the only argument after the folder.", arg)
		case arg == FactsSwitch:
			l.Facts = true
		case arg == CompactSwitch:
			l.Compact = true
		case arg == WriteSwitch:
			l.MayWrite = true
		case (arg == PlanSwitch || arg == BeginSwitch || arg == EndSwitch) && l.Options.Mode == "":
			l.Options.Mode = arg
		case arg == ChangeSwitch && l.Options.ID == "":
			if len(args) < 2 {
				return nil, answer.Misuse("%s needs an id.", arg)
			}
			if _, err := journal.ParseID(value); err != nil {
				return nil, answer.Misuse("%s: %v", arg, err)
			}
			l.Options.ID, args = value, args[1:]
		case arg == SparingSwitch:
			l.Options.RefuseDestructive = true
		case arg == PartSwitch && l.Part == (answer.Part{}):
			number, lines := strings.CutPrefix(value, "lines:")
			size, ok := parseSize(number)
			if !ok || size == 0 {
				return nil, answer.Misuse("%s needs a number of bytes, which may have lines: before it.", arg)
			}
			l.Part, args = answer.Part{Bytes: size, Lines: lines}, args[1:]
		case arg == KeptSwitch:
			if len(args) == 4 && value != "" {
				from, isOffset := parseSize(args[2])
				bytes, isSize := parseSize(args[3])
				if l.Kept = (Kept{value, from, bytes}); isOffset && isSize {
					return nil, nil
				}
			}
			return nil, answer.Misuse("%s needs an id, the offset of a piece and a number of bytes, and nothing behind them.", arg)
		case arg == NarrowedSwitch, arg == MarkedSwitch:
			l.Question = arg
			return args[1:], nil
		case isVault && l.Vault == nil:
			l.Vault = &name
		default:
			return args, nil
		}
		args = args[1:]
	}
	return nil, nil
}

// IsFolder reports whether an argument can name the folder of a vault.
func IsFolder(arg string) bool { return arg != "" && !isSwitch(arg) }

func isSwitch(arg string) bool { return strings.HasPrefix(arg, "--") }

// ReadLiteral reads the value of one parameter, of at most limit bytes, from
// standard input.
func ReadLiteral(param string, stdin io.Reader, limit int64) (map[string]string, error) {
	text, err := io.ReadAll(io.LimitReader(stdin, limit+1))
	if err != nil {
		return nil, answer.Failure("Cannot read standard input: %v", err)
	}
	if int64(len(text)) > limit {
		return nil, answer.Misuse("Standard input is too long: at most %d bytes.", limit)
	}
	return map[string]string{param: string(text)}, nil
}

// suggestions is how many near names the app offers at most.
const suggestions = 3

// UnknownCommand is the app's answer to a command that it does not have, with the nearest
// official names, the best first.
func UnknownCommand(name string) error {
	const longest = 40 // no official name is longer; a text has no near name
	type match struct {
		name     string
		distance int
	}
	var near []match
	for candidate := range allowlist.Commands() {
		if name == "" || len(name) > longest || candidate.EmbeddedOnly {
			continue
		}
		most := max(1, len(candidate.Name)/3)
		if d := excerpt.Mistakes([]byte(name), []byte(candidate.Name), most); d <= most || slices.Contains(strings.Split(candidate.Name, ":"), name) {
			near = append(near, match{candidate.Name, d})
		}
	}
	if len(near) == 0 {
		return answer.Misuse("Command %q not found. It may require a plugin to be enabled.", answer.Verbatim(name))
	}
	slices.SortStableFunc(near, func(a, b match) int { return cmp.Compare(a.distance, b.distance) })
	names := answer.Map(near[:min(len(near), suggestions)], func(m match) string { return m.name })
	return answer.Misuse("Command %q not found. Did you mean: %s?", answer.Verbatim(name), strings.Join(names, ", "))
}
