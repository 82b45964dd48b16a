package bases

import (
	"fmt"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/bases/formula"
	"vaultwicket/cmd/internal/vault/bases/syntax"
)

// Source is the vault that a query is about.
type Source struct {
	formula.Environment
	// Files are all files that can be rows, in the order of listings.
	Files []formula.Entry
	// ByName are the places in Files, ordered by the name of the file and then by
	// the path.
	ByName func() []int32
}

// Query says what is asked of a base.
type Query struct {
	// View is the name of a view, or, if there is none of that name, its number
	// counted from 1. Without a name it is the first view.
	View string
	// What follows is laid over the view. Where is one more filter; Columns, Sort and
	// Group replace those of the view; a Limit above 0 replaces its limit.
	Where         *formula.Program
	Columns       []Column
	Sort          []Key
	Group         *Key
	Limit, Offset int
	// Explain notes what each filter does.
	Explain bool
}

// Column is a property, or an expression, and the label above it.
type Column struct {
	ID, Label  string
	Expression *formula.Program
}

// Table is an answer.
type Table struct {
	Columns []Column
	Rows    []Row
	// Groups are those of the rows in their order; without groupBy there are none.
	Groups []Group
	// Summaries are those of all rows, in the order of the view.
	Summaries []Summary
	// Total is how many rows there are without limit and offset.
	Total   int
	Explain *Explanation
}

// Row is a file of an answer.
type Row struct {
	Path  string
	Cells []formula.Value
}

// Group is what rows that follow each other have in common.
type Group struct {
	Key       formula.Value
	Rows      int
	Summaries []Summary
}

// Summary is that of a column.
type Summary struct {
	ID, Name string
	Value    formula.Value
}

// Explanation says how an answer came about.
type Explanation struct {
	Files   int // that were looked at
	Filters []FilterCount
	Steps   int
}

// FilterCount says of how many rows a statement was asked and how many it
// dropped. A statement behind one that drops a row is not asked.
type FilterCount struct {
	Statement      string
	Asked, Dropped int
	// Failed is how many of them were dropped because of an error, and Error the
	// first of these.
	Failed int
	Error  string
}

// UnknownView says that a base has no view of a name.
type UnknownView struct {
	Name  string
	Known []string
}

// Error returns the sentence of the app, which takes two lines.
func (u *UnknownView) Error() string {
	return fmt.Sprintf("View not found: %s\nAvailable views: %s", u.Name, strings.Join(u.Known, ", "))
}

// View returns the view that a query names. The error is an [*UnknownView].
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
	if n, ok := viewNumber(name); ok && n <= len(b.Views) {
		return b.Views[n-1], nil
	}
	return View{}, unknown
}

func viewNumber(text string) (int, bool) {
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' || n > 1000 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, n > 0
}

// Only returns the source with those files as rows that are wanted.
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

// Invalid says that a text of a request is not what it should be.
type Invalid struct{ Text, Reason string }

func (i *Invalid) Error() string { return i.Reason }

// ParseExpression reads an expression of a request. Unlike one of a file it is
// refused if it is none. The error is an [*Invalid].
func ParseExpression(text string) (*formula.Program, error) {
	p := formula.Compile(text)
	if problem := p.Problem(); problem != nil {
		return nil, &Invalid{text, problem.Error() + " " + problem.Reason}
	}
	return p, nil
}

// Properties returns the names of the properties of notes that an expression reads, each
// once, in the order of the text.
func Properties(p *formula.Program) (names []string) {
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
