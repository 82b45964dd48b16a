package call

import (
	"cmp"
	"crypto/sha256"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/journal"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
)

// Line is a parsed command line. The parameters of its command are not parsed yet.
type Line struct {
	Folder string // the vault's folder
	protocol.Request
}

// Synopsis is the usage line of the program. It omits the switches that only the tests and the gateway need.
const Synopsis = "Usage: vaultwicket vault FOLDER [--write] [--stdin PARAM] [--plan] [--change ID] [--expect HASH] [--approved DIGEST] [vault=<name>] <command> [options]"

// The switches for people, before the command.
const (
	WriteSwitch    = "--write"    // without it nothing is changed or recorded
	PlanSwitch     = "--plan"     // show what would be done, and do nothing
	StdinSwitch    = "--stdin"    // followed by the parameter whose value is read from standard input
	ChangeSwitch   = "--change"   // followed by the id under which the change is recorded
	ExpectSwitch   = "--expect"   // followed by the hash that the note must have
	ApprovedSwitch = "--approved" // followed by the digest of a plan that was shown
	CompactSwitch  = "--compact"  // print a JSON listing without space between its tokens
	FactsSwitch    = "--facts"    // print a report on standard error at the end
)

// The switches that replace the command, alone after the folder.
const (
	WorkerSwitch = "--worker" // answer the requests of a gateway
	OnceSwitch   = "--once"   // answer one request of a gateway
	StatusSwitch = "--status" // print the confinement and the cache folder
)

// ParseLine parses the arguments of the program.
func ParseLine(args []string) (Line, error) {
	if len(args) == 0 || !IsFolder(args[0]) {
		return Line{}, answer.Misuse("No folder given.\n%s", Synopsis)
	}
	l := Line{Folder: args[0]}
	rest, err := takeSwitches(&l.Request, args[1:])
	if err != nil {
		return Line{}, err
	}
	if len(rest) == 0 {
		return Line{}, answer.Misuse("No command given.\n%s", Synopsis)
	}
	l.Command = rest[0]
	l.Args = rest[1:]
	// --help means the command help. Every other switch is rejected. The app ignores unknown ones, and its --copy
	// changes the clipboard.
	if l.Command == "--help" {
		l.Command = "help"
	}
	wantsHelp := false
	for _, arg := range append([]string{l.Command}, l.Args...) {
		if isSwitch(arg) && arg != "--help" {
			return Line{}, answer.Misuse("Unknown switch: %s", arg)
		}
		wantsHelp = wantsHelp || arg == "--help"
	}
	if wantsHelp {
		l.Args = []string{l.Command}
		l.Command = "help"
	}
	return l, nil
}

// valuedSwitch is a switch with a non-empty value of a particular form.
type valuedSwitch struct {
	name  string
	into  func(*protocol.Request) *string // where the value is stored
	fits  func(value string) bool
	needs string // how an error describes the value: "--expect needs " and this
}

var valuedSwitches = []valuedSwitch{
	{
		StdinSwitch,
		func(q *protocol.Request) *string { return &q.Input },
		func(value string) bool { return value != "" && !isSwitch(value) },
		"the name of a parameter.\n" + Synopsis,
	},
	{
		ExpectSwitch,
		func(q *protocol.Request) *string { return &q.Write.Expect },
		func(value string) bool { return isHex(value, 16) },
		"a hash of 16 hexadecimal digits.",
	},
	{
		ApprovedSwitch,
		func(q *protocol.Request) *string { return &q.Write.Approved },
		func(value string) bool { return isHex(value, 2*sha256.Size) },
		"a digest of 64 hexadecimal digits.",
	},
}

// isHex reports whether text consists of lower-case hexadecimal digits, and has this length.
func isHex(text string, length int) bool {
	return len(text) == length && strings.Trim(text, "0123456789abcdef") == ""
}

// takeSwitches parses the switches before the command, and returns the remaining arguments.
func takeSwitches(q *protocol.Request, args []string) ([]string, error) {
	for len(args) > 0 {
		arg := args[0]
		value := "" // the value of a switch that needs one; "" means missing
		if len(args) > 1 {
			value = args[1]
		}
		// A repeated switch ends the switches.
		isNext := func(s valuedSwitch) bool { return s.name == arg && *s.into(q) == "" }
		if i := slices.IndexFunc(valuedSwitches, isNext); i >= 0 {
			s := valuedSwitches[i]
			if !s.fits(value) {
				return nil, answer.Misuse("%s needs %s", arg, s.needs)
			}
			*s.into(q) = value
			args = args[2:]
			continue
		}
		name, isVault := strings.CutPrefix(arg, "vault=")
		switch {
		case arg == WorkerSwitch || arg == OnceSwitch || arg == StatusSwitch:
			return nil, answer.Misuse("%s must be the only argument after the folder.", arg)
		case arg == FactsSwitch:
			q.Want.Facts = true
		case arg == CompactSwitch:
			q.Want.Compact = true
		case arg == WriteSwitch:
			q.Write.Allowed = true
		case arg == PlanSwitch && q.Write.Task == protocol.Whole:
			q.Write.Task = protocol.Plan
		case arg == ChangeSwitch && q.Write.Entry == "":
			if len(args) < 2 {
				return nil, answer.Misuse("%s needs an id.", arg)
			}
			if _, err := journal.ParseID(value); err != nil {
				return nil, answer.Misuse("%s: %v", arg, err)
			}
			q.Write.Entry = value
			args = args[1:]
		case isVault && q.Vault == nil:
			q.Vault = &name
		default:
			return args, nil
		}
		args = args[1:]
	}
	return nil, nil
}

// maxName is the maximum length in bytes of each name in a change: of its caller, client, batch, grant and proposal.
const maxName = 256

// CheckWrite rejects malformed options of a change in a request. ParseLine checks those of a command line itself.
func CheckWrite(w protocol.Write) error {
	if w.Entry != "" {
		if _, err := journal.ParseID(w.Entry); err != nil {
			return answer.Misuse("%s: %v", ChangeSwitch, err)
		}
	}
	q := protocol.Request{Write: w}
	for _, s := range valuedSwitches {
		if value := *s.into(&q); value != "" && !s.fits(value) {
			return answer.Misuse("%s needs %s", s.name, s.needs)
		}
	}
	for _, name := range []string{w.Caller, w.Client, w.Batch, w.Grant, w.Proposal} {
		if len(name) > maxName || !utf8.ValidString(name) {
			return answer.Misuse("Names of a caller, a client, a batch, a grant and a proposal are valid UTF-8 of at most %d bytes.", maxName)
		}
	}
	return nil
}

// OptionOf returns how an error names the first option for changes in w, "" if there is none.
func OptionOf(w protocol.Write) string {
	switch {
	case !w.Task.Makes():
		return PlanSwitch
	case w.Entry != "":
		return ChangeSwitch
	case w.Expect != "":
		return ExpectSwitch
	case w.Approved != "":
		return ApprovedSwitch
	case w != protocol.Write{Allowed: w.Allowed}:
		return "options of a change"
	}
	return ""
}

// IsFolder reports whether an argument can be the folder of a vault.
func IsFolder(arg string) bool { return arg != "" && !isSwitch(arg) }

func isSwitch(arg string) bool { return strings.HasPrefix(arg, "--") }

// ReadLiteral reads the value of a parameter, of at most limit bytes, from standard input.
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

// maxSuggestions is how many similar names the app suggests at most.
const maxSuggestions = 3

// UnknownCommand returns the app's error for an unknown command, with similar official names, best first.
func UnknownCommand(name string) error {
	const longest = 40 // no official name is longer, so longer texts are not compared
	type match struct {
		name     string
		distance int
	}
	var matches []match
	for candidate := range allowlist.Commands() {
		if name == "" || len(name) > longest || candidate.EmbeddedOnly {
			continue
		}
		maxDistance := max(1, len(candidate.Name)/3)
		distance := excerpt.Mistakes([]byte(name), []byte(candidate.Name), maxDistance)
		isPart := slices.Contains(strings.Split(candidate.Name, ":"), name)
		if distance <= maxDistance || isPart {
			matches = append(matches, match{candidate.Name, distance})
		}
	}
	if len(matches) == 0 {
		return answer.Misuse("Command %q not found. It may require a plugin to be enabled.", answer.Verbatim(name))
	}
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(a.distance, b.distance) })
	names := answer.Map(matches[:min(len(matches), maxSuggestions)], func(m match) string { return m.name })
	return answer.Misuse("Command %q not found. Did you mean: %s?", answer.Verbatim(name), strings.Join(names, ", "))
}
