package vault

import (
	"io"
	"slices"
	"strings"

	"vaultwicket/gateway/state/journal"
)

// line is a command line taken apart, its parameters not yet looked at.
type line struct {
	folder  string
	stdin   string  // the parameter whose value comes from standard input
	how     manner  // for a command that writes
	facts   bool    // write a line of facts behind the answer
	writes  bool    // the command may change something
	vault   *string // the name the caller knows the vault by, if he gave one
	command string
	args    []string
}

const synopsis = "Usage: vaultwicket vault FOLDER [--write] [--stdin PARAM] [--plan] [--change ID] [--expect HASH] [--approved DIGEST] [vault=<name>] <command> [options]"

// parseLine takes the arguments of the program apart.
func parseLine(args []string) (line, error) {
	if len(args) == 0 || !isFolder(args[0]) {
		return line{}, misuse("No folder given.\n%s", synopsis)
	}
	l := line{folder: args[0]}
	rest, err := l.takeSwitches(args[1:])
	if err != nil {
		return line{}, err
	}
	if len(rest) == 0 {
		return line{}, misuse("No command given.\n%s", synopsis)
	}
	l.command, l.args = rest[0], rest[1:]
	return l, l.takeHelp()
}

// takeSwitches reads what may stand before the command, and returns the rest.
func (l *line) takeSwitches(args []string) ([]string, error) {
	for len(args) > 0 {
		arg := args[0]
		name, isVault := strings.CutPrefix(arg, "vault=")
		switch {
		case arg == "--stdin" && l.stdin == "":
			if len(args) < 2 || args[1] == "" || isSwitch(args[1]) {
				return nil, misuse("--stdin needs the name of a parameter.\n%s", synopsis)
			}
			l.stdin = args[1]
			args = args[1:]
		case arg == workerSwitch || arg == statusSwitch:
			return nil, misuse("%s stands alone behind the folder.", arg)
		case arg == factsSwitch:
			l.facts = true
		case arg == writeSwitch:
			l.writes = true
		case (arg == planSwitch || arg == beginSwitch || arg == endSwitch) && l.how.task == "":
			l.how.task = arg
		case arg == changeSwitch && l.how.id == "":
			if len(args) < 2 {
				return nil, misuse("%s needs an id.", arg)
			}
			if _, err := journal.ParseID(args[1]); err != nil {
				return nil, misuse("%s: %v", arg, err)
			}
			l.how.id = args[1]
			args = args[1:]
		case arg == callerSwitch && l.how.caller == "", arg == batchSwitch && l.how.batch == "":
			if len(args) < 2 || !isName(args[1]) {
				return nil, misuse("%s needs a name of 1 to %d bytes.", arg, maxCaller)
			}
			if arg == callerSwitch {
				l.how.caller = args[1]
			} else {
				l.how.batch = args[1]
			}
			args = args[1:]
		case arg == sparingSwitch:
			l.how.sparing = true
		case arg == expectSwitch && l.how.expect == "":
			if len(args) < 2 || !isHash(args[1]) {
				return nil, misuse("%s needs a hash of 16 hexadecimal digits.", arg)
			}
			l.how.expect = args[1]
			args = args[1:]
		case arg == approvedSwitch && l.how.approved == "":
			if len(args) < 2 || !isChange(args[1]) {
				return nil, misuse("%s needs a digest of 64 hexadecimal digits.", arg)
			}
			l.how.approved = args[1]
			args = args[1:]
		case isVault && l.vault == nil:
			l.vault = &name
		default:
			return args, nil
		}
		args = args[1:]
	}
	return nil, nil
}

// takeHelp turns --help, which is another spelling of the command help, and
// refuses every other switch. The app ignores the ones it does not know, and
// --copy would change somebody's clipboard.
func (l *line) takeHelp() error {
	if l.command == "--help" {
		l.command = "help"
	}
	asked := false
	for _, arg := range append([]string{l.command}, l.args...) {
		if isSwitch(arg) && arg != "--help" {
			return misuse("Unknown switch: %s", arg)
		}
		asked = asked || arg == "--help"
	}
	if asked {
		l.command, l.args = "help", []string{l.command}
	}
	return nil
}

// isFolder reports whether an argument can name the folder of a vault.
func isFolder(arg string) bool { return arg != "" && !isSwitch(arg) }

func isSwitch(arg string) bool { return strings.HasPrefix(arg, "--") }

// readLiteral reads the value of one parameter, of at most limit bytes, from
// standard input.
func readLiteral(param string, stdin io.Reader, limit int64) (map[string]string, error) {
	text, err := io.ReadAll(io.LimitReader(stdin, limit+1))
	if err != nil {
		return nil, failure("Cannot read standard input: %v", err)
	}
	if int64(len(text)) > limit {
		return nil, misuse("Standard input is too long: at most %d bytes.", limit)
	}
	return map[string]string{param: string(text)}, nil
}

// wantsReport reports whether a command line has the switch for it, also one that
// cannot be parsed.
func wantsReport(args []string) bool {
	return len(args) > 0 && slices.Contains(args[1:], factsSwitch)
}
