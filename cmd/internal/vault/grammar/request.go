package grammar

import (
	"slices"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/cmd/internal/vault/answer"
)

// Request is one call: a command with its arguments as they were typed.
type Request struct {
	Command string
	Args    []string
	// Literal holds values that did not come as arguments. They are taken as
	// they are, with no escape expanded.
	Literal map[string]string
	Options WriteOptions
	// MayWrite says that the call may change something, and not only show what it
	// would change.
	MayWrite bool
}

// Values are the values of a request that its command knows, every one of them
// checked. A flag that is set has a value, one that is not has none.
type Values map[string]string

// Has reports whether the parameter or flag was given, also with an empty value.
func (p Values) Has(name string) bool { _, ok := p[name]; return ok }

// Syntax is what a command line of one command can carry.
type Syntax struct {
	Name       string
	Params     []allowlist.Param
	Positional string // the parameter that a bare word gives, "" if none is taken
	Escaped    string // a parameter besides texts for notes in which \n and \t are expanded
}

// Param returns the parameter of that name, and false if the command has none.
func (s Syntax) Param(name string) (allowlist.Param, bool) {
	i := slices.IndexFunc(s.Params, func(p allowlist.Param) bool { return p.Name == name })
	if i < 0 {
		return allowlist.Param{}, false
	}
	return s.Params[i], true
}

// Usage returns how a parameter is written, without brackets of its own.
func Usage(p allowlist.Param) string {
	switch {
	case isFlag(p):
		return p.Name
	case len(p.Choices) > 0:
		return p.Name + "=" + strings.Join(p.Choices, "|")
	}
	return p.Name + "=<" + p.Hint + ">"
}

// The kinds of the table that count here: one has no value, and in the values of the
// other escapes are expanded.
const (
	flagKind    = "flag"
	contentKind = "content"
)

func isFlag(p allowlist.Param) bool { return p.Kind == flagKind }

// usage returns the line that shows how a command is written.
func (s Syntax) usage() string {
	words := []string{"Usage:", s.Name}
	if s.Positional != "" {
		words = append(words, "[<"+s.Positional+">]")
	}
	for _, p := range s.Params {
		switch {
		case p.Name == s.Positional:
		case p.Required:
			words = append(words, Usage(p))
		default:
			words = append(words, "["+Usage(p)+"]")
		}
	}
	return strings.Join(words, " ")
}

// Parse checks a request against what the command can carry.
//
// The app ignores what it does not know, so that a slip of the pen becomes
// another command. Here every such slip is refused.
func (s Syntax) Parse(r Request) (Values, error) {
	values := Values{}
	for _, arg := range r.Args {
		if s.Positional != "" && !strings.Contains(arg, "=") && !values.Has(s.Positional) {
			values[s.Positional] = arg
			continue
		}
		if err := s.take(values, arg); err != nil {
			return nil, err
		}
	}
	for name, value := range r.Literal {
		row, ok := s.Param(name)
		if !ok || isFlag(row) {
			return nil, s.unknown(name)
		}
		if err := s.set(values, row, value); err != nil {
			return nil, err
		}
	}
	return values, s.complete(values)
}

// take reads one argument into values.
func (s Syntax) take(values Values, arg string) error {
	name, value, hasValue := strings.Cut(arg, "=")
	row, ok := s.Param(name)
	if !ok {
		return s.unknown(name)
	}
	if isFlag(row) {
		// The app takes any value of a flag for yes, "false" included.
		if hasValue && value != "true" {
			return answer.Misuse("Invalid value for %s: %s. Leave it out or give it alone.", name, value)
		}
		return s.set(values, row, "true")
	}
	if !hasValue {
		return answer.Misuse("Missing value for parameter: %s\n%s", Usage(row), s.usage())
	}
	if row.Kind == contentKind || name == s.Escaped {
		value = expand(value)
	}
	return s.set(values, row, value)
}

// set stores one value. A repeated parameter is refused: the app lets the last
// one win, which loses the text of the first without a word.
func (s Syntax) set(values Values, row allowlist.Param, value string) error {
	switch {
	case values.Has(row.Name):
		return answer.Misuse("Parameter given twice: %s", row.Name)
	case value == "" && row.Required:
		return answer.Misuse("Missing required parameter: %s", row.Name)
	case value == "":
		return answer.Misuse("Missing value for parameter: %s\n%s", Usage(row), s.usage())
	case len(row.Choices) > 0 && !slices.Contains(row.Choices, value):
		return answer.Misuse("Invalid value for %s: %s. Use %s.", row.Name, value, strings.Join(row.Choices, ", "))
	}
	values[row.Name] = value
	return nil
}

// complete refuses values in which something required is missing, or which
// name two targets.
func (s Syntax) complete(values Values) error {
	for _, row := range s.Params {
		if row.Required && !values.Has(row.Name) {
			return answer.Misuse("Missing required parameter: %s\n%s", Usage(row), s.usage())
		}
	}
	if values.Has("file") && values.Has("path") {
		return answer.Misuse("Use file=<name> or path=<path>, not both.")
	}
	return nil
}

func (s Syntax) unknown(name string) error {
	return answer.Misuse("Unknown parameter: %s\n%s", name, s.usage())
}

// expand replaces the escapes of the grammar. There is no way to escape the
// backslash; text that holds such pairs has to come by standard input.
func expand(value string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(value)
}
