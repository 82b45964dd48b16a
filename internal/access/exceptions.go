package access

import (
	"fmt"
	"slices"
	"strings"
)

// Exception is a folder or a note, by its path in the vault, to which a content rule does not apply. Comment says
// why.
type Exception struct{ Rule, Path, Comment string }

// Exceptions are the exceptions of a policy.
type Exceptions []Exception

// ParseExceptions reads lines such as "secrets Docs/Samples # keys of the documentation". Each rule must be one of
// rules; with no rules given, any name is accepted.
func ParseExceptions(lines []string, rules ...string) (all Exceptions, err error) {
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		rule, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		path, comment, _ := strings.Cut(rest, " # ")
		e := Exception{rule, strings.Trim(strings.TrimSpace(path), "/"), strings.TrimSpace(comment)}
		switch {
		case len(rules) > 0 && !slices.Contains(rules, rule):
			return nil, fmt.Errorf("unknown rule %q in an exception: want %s", rule, strings.Join(rules, ", "))
		case e.Path == "" || e.Comment == "":
			return nil, fmt.Errorf(
				"invalid exception %q: want a rule, a folder or note, and why: secrets Docs/Samples # keys of the documentation",
				line,
			)
		}
		all = append(all, e)
	}
	return all, nil
}

// Lines returns the text of each exception, which [ParseExceptions] reads.
func (e Exceptions) Lines() []string {
	lines := []string{}
	for _, one := range e {
		lines = append(lines, one.Rule+" "+one.Path+" # "+one.Comment)
	}
	return lines
}

// Of returns those of a rule.
func (e Exceptions) Of(rule string) Exceptions {
	return slices.DeleteFunc(slices.Clone(e), func(one Exception) bool { return one.Rule != rule })
}

// Has reports whether a rule does not apply to the file at a path.
func (e Exceptions) Has(rule, path string) bool {
	return slices.ContainsFunc(e, func(one Exception) bool {
		rest, begins := strings.CutPrefix(path, one.Path)
		isBelow := begins && (rest == "" || rest[0] == '/')
		return isBelow && one.Rule == rule
	})
}
