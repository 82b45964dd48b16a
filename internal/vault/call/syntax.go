// Package call is what a command of the embedded vault CLI is given: a command line taken apart,
// the values of its parameters, and the vault as it is for this one call.
//
// A [Host] has what outlives a call, such as the open folder and the index of the vault. It opens
// a [Vault] for each call, which sees what the access rules show and no more.
package call

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
)

// Values are the values of a request that its command knows, every one of them
// checked. A flag that is set has a value, one that is not has none.
type Values map[string]string

// Has reports whether the parameter or flag was given, also with an empty value.
func (p Values) Has(name string) bool { _, ok := p[name]; return ok }

// Given returns those of some parameters that the request has.
func (p Values) Given(names ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !p.Has(name) })
}

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

// Parse checks the parameters of a call against what the command can carry. Those in literal did not come as
// arguments, and are taken as they are, with no escape expanded.
//
// The app ignores unknown parameters, so that a typing error becomes another command. Here every
// such error is refused.
func (s Syntax) Parse(args []string, literal map[string]string) (Values, error) {
	values := Values{}
	for _, arg := range args {
		if s.Positional != "" && !strings.Contains(arg, "=") && !values.Has(s.Positional) {
			values[s.Positional] = arg
			continue
		}
		name, value, hasValue := strings.Cut(arg, "=")
		row, ok := s.Param(name)
		if !ok {
			return nil, s.unknown(name)
		}
		if isFlag(row) {
			// The app takes any value of a flag for yes, "false" included.
			if hasValue && value != "true" {
				return nil, answer.Misuse("Invalid value for %s: %s. Leave it out or give it alone.", name, value)
			}
			value = "true"
		} else if !hasValue {
			return nil, answer.Misuse("Missing value for parameter: %s\n%s", Usage(row), s.usage())
		}
		if row.Kind == contentKind || name == s.Escaped {
			// There is no way to escape the backslash: text with such pairs has to come by standard input.
			value = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(value)
		}
		if err := s.set(values, row, value); err != nil {
			return nil, err
		}
	}
	for name, value := range literal {
		row, ok := s.Param(name)
		if !ok || isFlag(row) {
			return nil, s.unknown(name)
		}
		if err := s.set(values, row, value); err != nil {
			return nil, err
		}
	}
	for _, row := range s.Params {
		if row.Required && !values.Has(row.Name) {
			return values, answer.Misuse("Missing required parameter: %s\n%s", Usage(row), s.usage())
		}
	}
	if values.Has("file") && values.Has("path") {
		return values, answer.Misuse("Use file=<name> or path=<path>, not both.")
	}
	return values, nil
}

// set stores one value. A repeated parameter is refused; the app silently takes the last one.
func (s Syntax) set(values Values, row allowlist.Param, value string) error {
	switch {
	case values.Has(row.Name):
		return answer.Misuse("Parameter given twice: %s", row.Name)
	case value == "" && row.Required:
		return answer.Misuse("Missing required parameter: %s", row.Name)
	case value == "":
		return answer.Misuse("Missing value for parameter: %s\n%s", Usage(row), s.usage())
	case len(row.Choices) > 0 && !slices.ContainsFunc(row.Choices, func(choice string) bool { return allowlist.IsChoice(value, choice) }):
		return answer.Misuse("Invalid value for %s: %s. Use %s.", row.Name, value, strings.Join(row.Choices, ", "))
	}
	values[row.Name] = value
	return nil
}

func (s Syntax) unknown(name string) error {
	return answer.Misuse("Unknown parameter: %s\n%s", name, s.usage())
}

// Number reads a parameter that is a whole number within bounds, or returns
// what counts without it.
func (p Values) Number(name string, fallback, least, most int) (int, error) {
	if !p.Has(name) {
		return fallback, nil
	}
	n, err := strconv.Atoi(p[name])
	if err != nil || n < least || n > most {
		return 0, answer.Misuse("Invalid number: %s. Use %s from %d to %d.", p[name], name, least, most)
	}
	return n, nil
}
