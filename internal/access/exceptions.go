package access

import (
	"fmt"
	"slices"
	"strings"
)

// Exception is a folder or note, by its path in the vault, to which a content rule does not apply. Comment is the reason.
type Exception struct{ Rule, Path, Comment string }

// Exceptions are the exceptions of a policy.
type Exceptions []Exception

// ParseExceptions reads lines such as "secrets Docs/Samples # keys of the documentation". Each rule must be one of
// rules, unless there are none: they were checked before.
func ParseExceptions(lines []string, rules ...string) (Exceptions, error) {
	var exceptions Exceptions
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			continue
		}
		rule, rest, _ := strings.Cut(trimmed, " ")
		if len(rules) > 0 && !slices.Contains(rules, rule) {
			return nil, fmt.Errorf("unknown rule %q in an exception: want %s", rule, strings.Join(rules, ", "))
		}
		path, comment, _ := strings.Cut(rest, " # ")
		exception := Exception{
			Rule:    rule,
			Path:    strings.Trim(strings.TrimSpace(path), "/"),
			Comment: strings.TrimSpace(comment),
		}
		if exception.Path == "" || exception.Comment == "" {
			const example = "secrets Docs/Samples # keys of the documentation"
			return nil, fmt.Errorf("invalid exception %q: want a rule, a folder or note, and why: %s", line, example)
		}
		exceptions = append(exceptions, exception)
	}
	return exceptions, nil
}

// Lines returns each exception as a line that [ParseExceptions] accepts.
func (e Exceptions) Lines() []string {
	lines := []string{}
	for _, exception := range e {
		lines = append(lines, exception.Rule+" "+exception.Path+" # "+exception.Comment)
	}
	return lines
}

// Of returns the exceptions to a rule.
func (e Exceptions) Of(rule string) (ofRule Exceptions) {
	for _, exception := range e {
		if exception.Rule == rule {
			ofRule = append(ofRule, exception)
		}
	}
	return ofRule
}

// Has reports whether the file at path is exempt from a rule.
func (e Exceptions) Has(rule, path string) bool {
	return slices.ContainsFunc(e, func(exception Exception) bool {
		if exception.Rule != rule {
			return false
		}
		rest, ok := strings.CutPrefix(path, exception.Path)
		return ok && (rest == "" || rest[0] == '/')
	})
}
