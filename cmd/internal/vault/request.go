package vault

import (
	"slices"
	"strings"
)

// request is one call: a command with its arguments as they were typed.
type request struct {
	command string
	args    []string
	// literal holds values that did not come as arguments. They are taken as
	// they are, with no escape expanded.
	literal map[string]string
	how     manner
	// writes says that the call may change something, and not only show what it
	// would change.
	writes bool
}

// params are the values of a request that its command knows, every one of them
// checked. A flag that is set has a value, one that is not has none.
type params map[string]string

func (p params) has(name string) bool { _, ok := p[name]; return ok }

// syntax is what a command line of one command can carry.
type syntax struct {
	name   string
	params []param
	bare   string // the parameter that a bare word gives, "" if none is taken
}

func (s syntax) param(name string) (param, bool) {
	i := slices.IndexFunc(s.params, func(p param) bool { return p.name == name })
	if i < 0 {
		return param{}, false
	}
	return s.params[i], true
}

// usage returns the line that shows how a command is written.
func (s syntax) usage() string {
	words := []string{"Usage:", s.name}
	if s.bare != "" {
		words = append(words, "[<"+s.bare+">]")
	}
	for _, p := range s.params {
		if p.required {
			words = append(words, p.usage())
			continue
		}
		words = append(words, "["+p.usage()+"]")
	}
	return strings.Join(words, " ")
}

// parse checks a request against what the command can carry.
//
// The app ignores what it does not know, so that a slip of the pen becomes
// another command. Here every such slip is refused.
func (s syntax) parse(r request) (params, error) {
	values := params{}
	for _, arg := range r.args {
		if s.bare != "" && !strings.Contains(arg, "=") && !values.has(s.bare) {
			values[s.bare] = arg
			continue
		}
		if err := s.take(values, arg); err != nil {
			return nil, err
		}
	}
	for name, value := range r.literal {
		row, ok := s.param(name)
		if !ok || row.kind == flag {
			return nil, s.unknown(name)
		}
		if err := s.set(values, row, value); err != nil {
			return nil, err
		}
	}
	return values, s.complete(values)
}

// take reads one argument into values.
func (s syntax) take(values params, arg string) error {
	name, value, hasValue := strings.Cut(arg, "=")
	row, ok := s.param(name)
	if !ok {
		return s.unknown(name)
	}
	if row.kind == flag {
		// The app takes any value of a flag for yes, "false" included.
		if hasValue && value != "true" {
			return misuse("Invalid value for %s: %s. Leave it out or give it alone.", name, value)
		}
		return s.set(values, row, "true")
	}
	if !hasValue {
		return misuse("Missing value for parameter: %s\n%s", row.usage(), s.usage())
	}
	if row.kind == content {
		value = expand(value)
	}
	return s.set(values, row, value)
}

// set stores one value. A repeated parameter is refused: the app lets the last
// one win, which loses the text of the first without a word.
func (s syntax) set(values params, row param, value string) error {
	switch {
	case values.has(row.name):
		return misuse("Parameter given twice: %s", row.name)
	case value == "" && row.required:
		return misuse("Missing required parameter: %s", row.name)
	case value == "":
		return misuse("Missing value for parameter: %s\n%s", row.usage(), s.usage())
	case len(row.oneOf) > 0 && !slices.Contains(row.oneOf, value):
		return misuse("Invalid value for %s: %s. Use %s.", row.name, value, strings.Join(row.oneOf, ", "))
	}
	values[row.name] = value
	return nil
}

// complete refuses values in which something required is missing, or which
// name two targets.
func (s syntax) complete(values params) error {
	for _, row := range s.params {
		if row.required && !values.has(row.name) {
			return misuse("Missing required parameter: %s\n%s", row.usage(), s.usage())
		}
	}
	if values.has("file") && values.has("path") {
		return misuse("Use file=<name> or path=<path>, not both.")
	}
	return nil
}

func (s syntax) unknown(name string) error {
	return misuse("Unknown parameter: %s\n%s", name, s.usage())
}

// expand replaces the escapes of the grammar. There is no way to escape the
// backslash; text that holds such pairs has to come by standard input.
func expand(value string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(value)
}
