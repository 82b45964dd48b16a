package bases

import (
	"fmt"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
)

// ParseExpression parses an expression of a request. The error is that of the syntax.
func ParseExpression(text string) (*formula.Program, error) {
	p := formula.Compile(text)
	if problem := p.Problem(); problem != nil {
		return nil, fmt.Errorf("%w %s", problem, problem.Reason)
	}
	return p, nil
}

// listVariables are the variables that list functions set for their argument.
var listVariables = []string{"value", "index", "acc"}

// Parser compiles an expression of a request.
type Parser func(text string) (*formula.Program, error)

// ParseColumns parses columns separated by commas. A column is the id of a property or an expression, after
// an optional label and a colon. label returns the default label of an id. The error is that of parse, a
// [*Mistake], or about more than maxColumns columns.
func ParseColumns(text string, label func(id string) string, parse Parser) ([]Column, error) {
	var columns []Column
	for _, part := range splitAtCommas(text) {
		if len(columns) == maxColumns {
			return nil, fmt.Errorf("more than %d columns", maxColumns)
		}
		colon := -1
		eachOutside(part, func(i int, c byte) bool {
			if c == ':' {
				colon = i
			}
			return colon < 0
		})
		expression := strings.TrimSpace(part[colon+1:])
		program, err := parse(expression)
		if err != nil {
			if separated := separateColumns(expression); separated != "" {
				return nil, &Mistake{Reason: "columns have a comma between them", Right: separated}
			}
			return nil, err
		}
		c := Column{Label: expression, Expression: program}
		if isID(program.Node()) {
			c = Column{ID: expression, Label: label(expression)}
		}
		if colon >= 0 {
			c.Label = strings.Trim(strings.TrimSpace(part[:colon]), `"'`)
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// maxColumns is the maximum number of columns of a query, because each may be an expression.
const maxColumns = 100

// ParseKeys parses sort keys separated by commas, see [ParseKey].
func ParseKeys(text string, parse Parser) ([]Key, error) {
	var keys []Key
	for _, part := range splitAtCommas(text) {
		key, err := ParseKey(part, parse)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// ParseKey parses a sort key: the id of a property or an expression, optionally followed by asc (the
// default) or desc. The error is that of parse.
func ParseKey(text string, parse Parser) (Key, error) {
	text, descending := CutDirection(text)
	key := Key{Descending: descending}
	program, err := parse(text)
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

// CutDirection splits a sort key into the key and its direction, which is after a blank or a colon.
func CutDirection(text string) (key string, descending bool) {
	text = strings.TrimSpace(text)
	i := strings.LastIndexAny(text, " :")
	if i <= 0 {
		return text, false
	}
	switch strings.ToLower(text[i+1:]) {
	case "asc", "ascending":
		return strings.TrimSpace(text[:i]), false
	case "desc", "descending":
		return strings.TrimSpace(text[:i]), true
	}
	return text, false
}

// isID reports whether an expression is the id of a property: a name, alone or after file,
// note or formula.
func isID(n formula.Node) bool {
	switch n := n.(type) {
	case *formula.NameNode:
		switch n.Text {
		case "file", "this", "note", "formula":
			return false
		}
		return true
	case *formula.MemberNode:
		namespace, ok := n.X.(*formula.NameNode)
		return ok && formula.IsNamespace(namespace.Text)
	}
	return false
}

// splitAtCommas splits a text at the commas outside brackets and quotes.
func splitAtCommas(text string) []string {
	var parts []string
	start := 0
	eachOutside(text, func(i int, c byte) bool {
		if c == ',' {
			parts = append(parts, text[start:i])
			start = i + 1
		}
		return true
	})
	return append(parts, text[start:])
}

// eachOutside calls visit with each byte of an expression outside brackets and quotes, until visit returns
// false.
func eachOutside(text string, visit func(i int, c byte) bool) {
	depth := 0
	quote := byte(0)
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
