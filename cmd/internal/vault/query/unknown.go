package query

import (
	"fmt"
	"slices"
	"strings"

	"vaultwicket/allowlist/quote"
)

// Operators are the names of all operators, without their colons.
var Operators = []string{
	"file", "path", "content", "tag", "line", "block", "section", "task", "task-todo", "task-done", "match-case", "ignore-case",
}

// unknownOperator returns a name before a colon that looks like an operator but is none,
// otherwise "". It reads nothing.
func (p *parser) unknownOperator(set setting) string {
	if set.field != anywhere && set.field != inText {
		return ""
	}
	rest := p.text[p.at:]
	size := strings.IndexFunc(rest, func(r rune) bool { return r != '-' && r != '_' && r != '.' && !isASCIILetter(r) })
	if size < 2 || rest[size] != ':' || size+1 == len(rest) || strings.IndexByte(" \t\r\n/\\:)", rest[size+1]) >= 0 {
		return "" // a single letter names a drive
	}
	if name := rest[:size]; name != "OR" {
		return name
	}
	return ""
}

// noOperator returns the error for an unknown operator, with advice.
func (p *parser) noOperator(name string) error {
	value := p.text[p.at+len(name)+1:]
	if end := strings.IndexAny(value, " ()"); end > 0 {
		value = value[:end]
	}
	lower, list := strings.ToLower(name), "operators: "+strings.Join(Operators, ": ")+":"
	return p.fail(p.at, CodeNoOperator, fmt.Sprintf("there is no operator %q", quote.Short(name)+":"),
		mend(lower, quote.Short(name), quote.Short(value))+"; "+list+"; [name:value] finds a property, quotes a text")
}

// CodeNoOperator is the code of a [ParseError] about an operator that does not exist.
const CodeNoOperator = "operator_unknown"

// otherNames are names of operators in other programs.
var otherNames = map[string][]string{
	"tag":       {"tags", "hashtag", "label", "labels", "is"},
	"file":      {"title", "name", "filename", "file-name", "note", "intitle", "basename"},
	"path":      {"folder", "dir", "directory", "in", "folders", "inpath"},
	"content":   {"body", "text", "contents", "contains", "intext"},
	"section":   {"heading", "headline", "header", "h"},
	"task-todo": {"todo", "open"},
	"task-done": {"done", "completed"},
	"task":      {"tasks"},
	"line":      {"lines"},
	"block":     {"blocks", "paragraph"},
}

// dates are names of times, for which the search language has no operator.
var dates = []string{
	"modified", "mtime", "updated", "changed", "edited", "since", "after", "before", "date", "day", "created", "ctime", "on", "newer", "older", "last-modified", "file.mtime",
	"file.ctime", "modified_at", "updated_at", "created_at",
}

// mend returns the advice for an unknown operator.
func mend(lower, name, value string) string {
	if slices.Contains(dates, lower) {
		return "the search language has no dates: use the command \"recent\" with since=, or \"query\" with where="
	}
	meant := quote.Nearest(lower, Operators)
	for operator, others := range otherNames {
		if slices.Contains(others, lower) {
			meant = operator
		}
	}
	if meant != "" {
		return fmt.Sprintf("did you mean %q?", meant+":"+value)
	}
	return fmt.Sprintf("did you mean the property \"[%s:%s]\"?", name, value)
}
