package bases

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/bases/formula"
	"vaultwicket/cmd/internal/vault/bases/syntax"
)

// Source are the files that a query reads.
type Source struct {
	formula.Environment
	// Files are all files that can be rows, in the order of listings.
	Files []formula.Entry
	// ByName are the places in Files, ordered by the name of the file and then by
	// the path.
	ByName func() []int32
}

// Query is a request to a base.
type Query struct {
	// View is the name of a view, or, if none has that name, its number from 1. "" is the
	// first view.
	View string
	// Where is an additional filter. Columns, Sort and Group replace those of the view if
	// they are not nil, Limit if it is above 0.
	Where         *formula.Program
	Columns       []Column
	Sort          []Key
	Group         *Key
	Limit, Offset int
	// Explain counts the effect of each filter.
	Explain bool
}

// Column is a property or an expression, and its label.
type Column struct {
	ID, Label  string
	Expression *formula.Program
}

// Table is an answer.
type Table struct {
	Columns []Column
	Rows    []Row
	// Groups are in the order of the rows; there are none without groupBy.
	Groups []Group
	// Summaries are over all rows, in the order of the view.
	Summaries []Summary
	// Total is the number of rows without limit and offset.
	Total   int
	Explain *Explanation
}

// Row is a file of an answer.
type Row struct {
	Path  string
	Cells []formula.Value
}

// Group is a run of rows with the same key.
type Group struct {
	Key       formula.Value
	Rows      int
	Summaries []Summary
}

// Summary is the summary of a column.
type Summary struct {
	ID, Name string
	Value    formula.Value
}

// Explanation are the counts of a query.
type Explanation struct {
	Files   int // candidates for rows
	Filters []FilterCount
	Steps   int
}

// FilterCount is how many rows a statement was evaluated for and how many it dropped. A row
// that is dropped is not tested against later statements.
type FilterCount struct {
	Statement      string
	Asked, Dropped int
	// Failed is how many of the dropped rows failed with an error; Error is the first one.
	Failed int
	Error  string
}

// UnknownView is the error for a view that a base does not have.
type UnknownView struct {
	Name  string
	Known []string
}

// Error returns the sentence of the app, which takes two lines.
func (u *UnknownView) Error() string {
	return fmt.Sprintf("View not found: %s\nAvailable views: %s", u.Name, strings.Join(u.Known, ", "))
}

// View returns the view with a name, see [Query]. The error is an [*UnknownView].
func (b *Base) View(name string) (View, error) {
	if name == "" {
		if len(b.Views) == 0 {
			return View{Type: "table"}, nil
		}
		return b.Views[0], nil
	}
	unknown := &UnknownView{Name: name}
	for _, v := range b.Views {
		if v.Name == name {
			return v, nil
		}
		unknown.Known = append(unknown.Known, v.Name)
	}
	if n, err := strconv.ParseUint(name, 10, 16); err == nil && 1 <= n && int(n) <= len(b.Views) {
		return b.Views[n-1], nil
	}
	return View{}, unknown
}

// Only returns the source with the wanted files as rows.
func (s Source) Only(wanted func(formula.Entry) bool) Source {
	kept := make([]int32, len(s.Files))
	byName, all := s.ByName, s.Files
	s.Files = nil
	for i, e := range all {
		kept[i] = -1
		if wanted(e) {
			kept[i] = int32(len(s.Files))
			s.Files = append(s.Files, e)
		}
	}
	s.ByName = func() []int32 {
		var places []int32
		for _, place := range byName() {
			if kept[place] >= 0 {
				places = append(places, kept[place])
			}
		}
		return places
	}
	return s
}

// Invalid is a text of a request that does not parse.
type Invalid struct{ Text, Reason string }

func (i *Invalid) Error() string { return i.Reason }

// ParseExpression parses an expression of a request, where one that does not parse is an
// error, an [*Invalid].
func ParseExpression(text string) (*formula.Program, error) {
	p := formula.Compile(text)
	if problem := p.Problem(); problem != nil {
		return nil, &Invalid{text, problem.Error() + " " + problem.Reason}
	}
	return p, nil
}

// Properties returns the names of the note properties that an expression reads, each once, in
// the order of the text.
func Properties(p *formula.Program) (names []string) {
	if p == nil || p.Node() == nil {
		return nil
	}
	skip := map[syntax.Node]bool{} // names of functions
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

// ofLists are the names that list functions bind in their argument.
var ofLists = []string{"value", "index", "acc"}

// ParseColumns parses columns separated by commas: ids of properties or expressions, each
// after an optional label and a colon. label returns the default label of an id. The error
// is an [*Invalid], or about more than maxColumns.
func ParseColumns(text string, label func(id string) string) ([]Column, error) {
	var columns []Column
	for _, part := range parts(text) {
		if len(columns) == maxColumns {
			return nil, fmt.Errorf("more than %d columns", maxColumns)
		}
		colon := -1
		outside(part, func(i int, c byte) bool {
			if c == ':' {
				colon = i
			}
			return colon < 0
		})
		expression := strings.TrimSpace(part[colon+1:])
		program, err := ParseExpression(expression)
		if err != nil {
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

// maxColumns bounds the columns of a query, each of which may be an expression.
const maxColumns = 100

// ParseKeys parses sort keys separated by commas, see [ParseKey].
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

// ParseKey parses a sort key: an id or an expression, optionally followed by asc (the
// default) or desc. The error is an [*Invalid].
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

// isID reports whether an expression is the id of a property: a name, alone or after file,
// note or formula.
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

// parts splits a text at the commas outside brackets and quotes.
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

// outside visits the characters of an expression outside brackets and quotes, until visit
// returns false.
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
