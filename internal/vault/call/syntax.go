// Package call has the input of a command of the embedded vault CLI: the parsed command line, the values of its
// parameters, and the vault as this call sees it.
//
// A [Host] has the state that outlives a call, such as the open folder and the index of the vault. It opens a [Vault]
// for each call, which contains only what the access rules allow.
package call

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
)

// Values are the checked values of the parameters of a request, by name. A flag is present only if it is set.
type Values map[string]string

// Has reports whether the parameter or flag was given, possibly with an empty value.
func (p Values) Has(name string) bool { _, ok := p[name]; return ok }

// Given returns the names that the request has.
func (p Values) Given(names ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !p.Has(name) })
}

// Syntax describes the command line of a command.
type Syntax struct {
	Name       string
	Params     []allowlist.Param
	Positional string // the parameter that a bare word sets, "" if bare words are not accepted
	Escaped    string // a parameter, besides texts of notes, in which \n and \t are expanded
}

// Param returns the parameter of that name, and false if the command has none.
func (s Syntax) Param(name string) (allowlist.Param, bool) {
	i := slices.IndexFunc(s.Params, func(p allowlist.Param) bool { return p.Name == name })
	if i < 0 {
		return allowlist.Param{}, false
	}
	return s.Params[i], true
}

// Usage returns how a parameter is written, without brackets.
func Usage(p allowlist.Param) string {
	switch {
	case isFlag(p):
		return p.Name
	case len(p.Choices) > 0:
		return p.Name + "=" + strings.Join(p.Choices, "|")
	}
	return p.Name + "=<" + p.Hint + ">"
}

// The parameter kinds with special syntax: a flag has no value, and in content escapes are expanded.
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

// Parse parses and checks the parameters of a call. Those in literal did not come from the command line, and their
// escapes are not expanded.
//
// Unknown parameters are errors. The app ignores them, so that a typo changes what a command does.
func (s Syntax) Parse(args []string, literal map[string]string) (Values, error) {
	values := Values{}
	for _, arg := range args {
		if s.Positional != "" && !strings.Contains(arg, "=") && !values.Has(s.Positional) {
			values[s.Positional] = arg
			continue
		}
		name, value, hasValue := strings.Cut(arg, "=")
		param, ok := s.Param(name)
		if !ok {
			return nil, s.unknown(name)
		}
		if isFlag(param) {
			// For the app any value of a flag means true, even "false".
			if hasValue && value != "true" {
				return nil, answer.Misuse("Invalid value for %s: %s. Leave it out or give it alone.", name, value)
			}
			value = "true"
		} else if !hasValue {
			return nil, answer.Misuse("Missing value for parameter: %s\n%s", Usage(param), s.usage())
		}
		if param.Kind == contentKind || name == s.Escaped {
			// A backslash cannot be escaped: text that contains such pairs must come from standard input.
			value = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(value)
		}
		if err := s.set(values, param, value); err != nil {
			return nil, err
		}
	}
	for name, value := range literal {
		param, ok := s.Param(name)
		if !ok || isFlag(param) {
			return nil, s.unknown(name)
		}
		if err := s.set(values, param, value); err != nil {
			return nil, err
		}
	}
	for _, param := range s.Params {
		if param.Required && !values.Has(param.Name) {
			return values, answer.Misuse("Missing required parameter: %s\n%s", Usage(param), s.usage())
		}
	}
	if values.Has("file") && values.Has("path") {
		return values, answer.Misuse("Use file=<name> or path=<path>, not both.")
	}
	return values, nil
}

// set stores a value. A repeated parameter is an error; the app silently uses the last one.
func (s Syntax) set(values Values, param allowlist.Param, value string) error {
	switch {
	case values.Has(param.Name):
		return answer.Misuse("Parameter given twice: %s", param.Name)
	case value == "" && param.Required:
		return answer.Misuse("Missing required parameter: %s", param.Name)
	case value == "":
		return answer.Misuse("Missing value for parameter: %s\n%s", Usage(param), s.usage())
	case len(param.Choices) > 0 && !slices.ContainsFunc(param.Choices, func(choice string) bool { return allowlist.IsChoice(value, choice) }):
		return answer.Misuse("Invalid value for %s: %s. Use %s.", param.Name, value, strings.Join(param.Choices, ", "))
	}
	values[param.Name] = value
	return nil
}

func (s Syntax) unknown(name string) error {
	return answer.Misuse("Unknown parameter: %s\n%s", name, s.usage())
}

// Number returns the value of a parameter that must be a whole number from least to most, or fallback if it is missing.
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
