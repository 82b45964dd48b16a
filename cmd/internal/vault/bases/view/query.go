package view

import (
	"fmt"
	"strings"

	"vaultwicket/cmd/internal/vault/bases/eval"
	"vaultwicket/cmd/internal/vault/bases/value"
)

// Source is the vault that a query is about.
type Source struct {
	eval.Environment
	// Files are all files that can be rows, in the order of listings.
	Files []value.Entry
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
	Where         *eval.Program
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
	Expression *eval.Program
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
	Cells []value.Value
}

// Group is what rows that follow each other have in common.
type Group struct {
	Key       value.Value
	Rows      int
	Summaries []Summary
}

// Summary is that of a column.
type Summary struct {
	ID, Name string
	Value    value.Value
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
func (s Source) Only(wanted func(value.Entry) bool) Source {
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
