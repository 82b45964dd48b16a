package view

import (
	"fmt"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/bases/eval"
	"vaultwicket/cmd/internal/vault/bases/syntax"
)

// Invalid says that a text of a request is not what it should be.
type Invalid struct{ Text, Reason string }

func (i *Invalid) Error() string { return i.Reason }

// ParseExpression reads an expression of a request. Unlike one of a file it is
// refused if it is none. The error is an [*Invalid].
func ParseExpression(text string) (*eval.Program, error) {
	p := eval.Compile(text)
	if problem := p.Problem(); problem != nil {
		return nil, &Invalid{text, problem.Error() + " " + problem.Reason}
	}
	return p, nil
}

// Properties returns the names of the properties of notes that an expression reads, each
// once, in the order of the text.
func Properties(p *eval.Program) (names []string) {
	if p == nil || p.Node() == nil {
		return nil
	}
	skip := map[syntax.Node]bool{} // what names no property where it is
	syntax.Walk(p.Node(), func(n syntax.Node) {
		if call, ok := n.(*syntax.Call); ok {
			skip[call.Function] = true
		}
		name, ok := propertyName(n)
		if ok && !skip[n] && !slices.Contains(ofLists, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	})
	return names
}

// ofLists are the names that the functions of lists give to what they visit.
var ofLists = []string{"value", "index", "acc"}

// ParseColumns reads columns with commas between them: ids of properties or
// expressions, each with a label and a colon in front if another one than its text
// is wanted. label returns the label of an id.
func ParseColumns(text string, label func(id string) string) ([]Column, error) {
	var columns []Column
	for _, part := range parts(text) {
		if len(columns) == maxColumns {
			return nil, fmt.Errorf("more than %d columns", maxColumns)
		}
		name, expression, labelled := cutLabel(part)
		program, err := ParseExpression(expression)
		if err != nil {
			return nil, err
		}
		c := Column{Label: name, Expression: program}
		if isID(program.Node()) {
			c.ID, c.Expression = strings.TrimSpace(expression), nil
		}
		switch {
		case labelled:
		case c.ID != "":
			c.Label = label(c.ID)
		default:
			c.Label = strings.TrimSpace(expression)
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// maxColumns bounds those of a query, each of which may be an expression.
const maxColumns = 100

// ParseKeys reads what is sorted by, with commas between: ids or expressions, each
// with asc or desc behind it if the direction matters.
func ParseKeys(text string) ([]Key, error) {
	var keys []Key
	for _, part := range parts(text) {
		key, err := ParseKey(part)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// ParseKey reads one of them.
func ParseKey(text string) (Key, error) {
	text = strings.TrimSpace(text)
	key := Key{}
	if i := strings.LastIndexByte(text, ' '); i > 0 {
		switch direction := strings.ToLower(text[i+1:]); direction {
		case "asc", "desc":
			key.Descending = direction == "desc"
			text = strings.TrimSpace(text[:i])
		}
	}
	program, err := ParseExpression(text)
	switch {
	case err != nil:
		return Key{}, err
	case isID(program.Node()):
		key.Property = text
	default:
		key.Expression = program
	}
	return key, nil
}

// isID reports whether an expression is the id of a property: a name, or one
// behind file, note or formula.
func isID(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Name:
		return n.Text != "file" && n.Text != "this" && n.Text != "note" && n.Text != "formula"
	case *syntax.Member:
		of, ok := n.X.(*syntax.Name)
		return ok && (of.Text == "file" || of.Text == "note" || of.Text == "formula")
	}
	return false
}

// parts returns the texts between the commas that stand in no bracket and in no
// quotes.
func parts(text string) []string {
	var all []string
	start := 0
	outside(text, func(i int, c byte) bool {
		if c == ',' {
			all = append(all, text[start:i])
			start = i + 1
		}
		return true
	})
	return append(all, text[start:])
}

// cutLabel returns the label in front of a colon, and what stands behind it.
func cutLabel(text string) (label, expression string, labelled bool) {
	at := -1
	outside(text, func(i int, c byte) bool {
		if c == ':' {
			at = i
		}
		return at < 0
	})
	if at < 0 {
		return "", strings.TrimSpace(text), false
	}
	return strings.Trim(strings.TrimSpace(text[:at]), `"'`), strings.TrimSpace(text[at+1:]), true
}

// outside visits the characters of an expression that stand in no bracket and in
// no quotes, until visit returns false.
func outside(text string, visit func(i int, c byte) bool) {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case depth == 0 && !visit(i, c):
			return
		}
	}
}
