package bases

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
)

// Run answers a query. The error is that of [Base.Fatal], an [*UnknownView], or that of the budget of ctx.
func (b *Base) Run(ctx context.Context, src Source, q Query) (*Table, error) {
	if err := b.Fatal(); err != nil {
		return nil, err
	}
	v, err := b.View(q.View)
	if err != nil {
		return nil, err
	}
	src.Formulas = b.Formulas
	r := run{base: b, query: q, source: src, session: formula.NewSession(ctx, src.Environment)}
	if q.Sort != nil {
		v.Sort = q.Sort
	}
	v.Group = cmp.Or(q.Group, v.Group)
	v.Limit = cmp.Or(max(q.Limit, 0), v.Limit)
	table := &Table{Columns: r.columns(v)}
	statements := r.statements(v)
	rows := r.filter(v, statements)
	table.Mixed = r.sort(v, rows)
	table.Total = len(rows)
	rows = rows[min(r.query.Offset, len(rows)):]
	if v.Limit > 0 {
		rows = rows[:min(v.Limit, len(rows))]
	}
	for _, row := range rows {
		table.Rows = append(table.Rows, Row{row.Entry().Path(), r.cells(row.Row, table.Columns)})
	}
	table.Groups = r.groups(v, rows)
	table.Summaries = r.summaries(v, rows)
	table.Failures = r.failed(statements)
	if r.query.Explain {
		table.Explain = &Explanation{Files: len(r.source.Files), Filters: []FilterCount{}, Steps: r.session.Steps()}
		for _, s := range statements {
			table.Explain.Filters = append(table.Explain.Filters, s.FilterCount)
		}
	}
	if err := r.session.Err(); err != nil {
		return nil, err
	}
	return table, nil
}

// run is the state of a query.
type run struct {
	base    *Base
	query   Query
	source  Source
	session *formula.Session
	// failures has the counts for the expressions of the query, except Where.
	failures map[*formula.Program]*Failure
	programs []*formula.Program // the keys of failures, in the order of their first evaluation
}

// statements returns the filters that rows have to pass: those of the base, of the view and of the query.
func (r *run) statements(v View) []*statement {
	filters := append(r.base.Filter.statements(), v.Filter.statements()...)
	if r.query.Where != nil {
		filters = append(filters, &Filter{Expression: r.query.Where})
	}
	statements := make([]*statement, len(filters))
	for i, f := range filters {
		statements[i] = &statement{filter: f, FilterCount: FilterCount{Statement: f.String()}}
	}
	return statements
}

// filter returns the rows that pass all statements. They are in the order of paths if the view sorts them, because
// sorting keeps that order for equal rows, and otherwise in the order of names.
func (r *run) filter(v View, statements []*statement) (rows []sortable) {
	var places []int32
	if len(v.Sort) == 0 {
		places = r.source.ByName()
	}
	for i := range r.source.Files {
		if places != nil {
			i = int(places[i])
		}
		row := r.session.Row(r.source.Files[i])
		if r.session.Forgetting(func() bool { return r.passes(row, statements) }) {
			rows = append(rows, sortable{Row: row})
		}
		if r.session.Err() != nil {
			break
		}
	}
	return rows
}

// cells returns the values of a row in some columns. They are incomplete if the budget does not allow more.
func (r *run) cells(row *formula.Row, columns []Column) []formula.Value {
	cells := make([]formula.Value, len(columns))
	for i, c := range columns {
		var ok bool
		cells[i], ok = r.valueOf(row, c.ID, c.Expression)
		if !ok {
			break
		}
		r.count(c.Expression, row, cells[i])
	}
	return cells
}

// failed returns the statements and the expressions of the query that failed for some rows.
func (r *run) failed(statements []*statement) (failures []Failure) {
	for i, s := range statements {
		if s.Failed == 0 {
			continue
		}
		isWhere := r.query.Where != nil && i == len(statements)-1
		failures = append(failures, Failure{
			Expression: s.Statement,
			OfRequest:  isWhere,
			Asked:      s.Asked,
			Failed:     s.Failed,
			Error:      s.Error,
			Path:       s.path,
		})
	}
	for _, p := range r.programs {
		if f := r.failures[p]; f.Failed > 0 {
			failures = append(failures, *f)
		}
	}
	return failures
}

// count counts the value of an expression of the query for a row. p is nil for a property, which is not counted.
func (r *run) count(p *formula.Program, row *formula.Row, v formula.Value) {
	if p == nil {
		return
	}
	f := r.failures[p]
	if f == nil {
		f = &Failure{Expression: p.Source(), OfRequest: true}
		if r.failures == nil {
			r.failures = map[*formula.Program]*Failure{}
		}
		r.failures[p] = f
		r.programs = append(r.programs, p)
	}
	f.Asked++
	if v.IsError() {
		f.Failed++
		if f.Error == "" {
			f.Error = v.Message()
			f.Path = row.Entry().Path()
		}
	}
}

// columns returns the columns of the query, otherwise those of the view, otherwise those of the base.
func (r *run) columns(v View) []Column {
	if r.query.Columns != nil {
		return r.query.Columns
	}
	ids := v.Order
	if len(ids) == 0 {
		ids = []string{"file.name"}
		for _, id := range r.base.Properties {
			if id != "file.name" {
				ids = append(ids, id)
			}
		}
	}
	columns := make([]Column, len(ids))
	for i, id := range ids {
		columns[i] = Column{ID: id, Label: r.base.Label(id)}
	}
	return columns
}

// statement is a filter that rows have to pass, with its counts.
type statement struct {
	filter *Filter
	FilterCount
	path string // of the first row for which the filter failed
}

// sortable is a row with its sort keys.
type sortable struct {
	*formula.Row
	group formula.Value
	keys  []formula.Value
}

// passes reports whether a row passes all statements, and counts the row.
func (r *run) passes(row *formula.Row, statements []*statement) bool {
	for _, s := range statements {
		s.Asked++
		holds, failed := s.filter.test(row)
		if holds {
			continue
		}
		s.Dropped++
		if failed != "" {
			s.Failed++
			s.Error = cmp.Or(s.Error, failed)
			s.path = cmp.Or(s.path, row.Entry().Path())
		}
		return false
	}
	return true
}

// sort sorts rows by groups and keys, and returns the keys with values of several kinds, which have no common order.
func (r *run) sort(v View, rows []sortable) (mixed []Mixed) {
	if v.Group == nil && len(v.Sort) == 0 {
		return nil
	}
	for i := range rows {
		if v.Group != nil {
			rows[i].group, _ = r.valueOf(rows[i].Row, v.Group.Property, v.Group.Expression)
			r.count(v.Group.Expression, rows[i].Row, rows[i].group)
		}
		for _, key := range v.Sort {
			value, _ := r.valueOf(rows[i].Row, key.Property, key.Expression)
			r.count(key.Expression, rows[i].Row, value)
			rows[i].keys = append(rows[i].keys, value)
		}
	}
	for i, key := range v.Sort {
		counts, isCheckbox := countKinds(rows, i)
		counts.Key = key.Property
		if key.Expression != nil {
			counts.Key = key.Expression.Source()
		}
		if counts.kinds() > 1 {
			mixed = append(mixed, counts)
		}
		if !isCheckbox {
			continue
		}
		for _, row := range rows {
			if row.keys[i].IsNull() {
				row.keys[i] = formula.OfBool(false) // a missing checkbox counts as unchecked
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b sortable) int {
		if v.Group != nil {
			if c := r.order(a.group, b.group, *v.Group); c != 0 {
				return c
			}
		}
		for i, key := range v.Sort {
			if c := r.order(a.keys[i], b.keys[i], key); c != 0 {
				return c
			}
		}
		return 0
	})
	return mixed
}

// countKinds counts the kinds of the values of a sort key. The key is a checkbox if it is a boolean in every row that
// has it.
func countKinds(rows []sortable, key int) (counts Mixed, isCheckbox bool) {
	checkboxes := 0
	others := 0
	for _, row := range rows {
		switch row.keys[key].Kind() {
		case formula.Null, formula.Error:
			continue
		case formula.Boolean:
			checkboxes++
			continue
		case formula.String:
			counts.Texts++
		case formula.Number:
			counts.Numbers++
		case formula.Date:
			counts.Dates++
		case formula.Duration:
			counts.Durations++
		}
		others++
	}
	return counts, checkboxes > 0 && others == 0
}

// order compares the values of two rows for a key.
func (r *run) order(a, b formula.Value, key Key) int {
	if key.Descending {
		return r.session.OrderDescending(a, b)
	}
	return r.session.Order(a, b)
}

// valueOf returns the value of a property or an expression for a row. ok is false if the budget does not
// allow keeping it.
func (r *run) valueOf(row *formula.Row, property string, expression *formula.Program) (v formula.Value, ok bool) {
	if expression != nil {
		v = row.Eval(expression)
	} else {
		v = row.Cell(property)
	}
	return v, r.session.Keep(v)
}

// groups returns the groups of sorted rows, each a run of rows with the same key.
func (r *run) groups(v View, rows []sortable) []Group {
	if v.Group == nil {
		return nil
	}
	var groups []Group
	for start := 0; start < len(rows); {
		end := start + 1
		for end < len(rows) && r.session.Order(rows[start].group, rows[end].group) == 0 {
			end++
		}
		key := rows[start].group
		if key.IsError() {
			key = formula.Value{}
		}
		groups = append(groups, Group{Key: key, Rows: end - start, Summaries: r.summaries(v, rows[start:end])})
		start = end
	}
	return groups
}

// summaries returns the summaries of a view for some rows. A summary of the base takes precedence over a
// built-in summary with the same name.
func (r *run) summaries(v View, rows []sortable) []Summary {
	var summaries []Summary
	for _, s := range v.Summaries {
		values := make([]formula.Value, len(rows))
		for i, row := range rows {
			values[i] = row.Cell(s.Property)
		}
		summary := Summary{ID: s.Property, Name: s.Name}
		summary.Value = r.summarize(s.Name, values)
		summaries = append(summaries, summary)
	}
	return summaries
}

// summarize returns the value of a summary for the values of a column. It is null if there is no such summary.
func (r *run) summarize(name string, values []formula.Value) formula.Value {
	if own := r.base.Summaries[name]; own != nil {
		list := formula.OfList(values)
		if list.IsError() {
			return list
		}
		return r.session.Row(nil).EvalValues(own, list)
	}
	if summarize := formula.Summary(name); summarize != nil {
		return summarize(values)
	}
	return formula.Value{}
}

// Source provides the files that a query reads.
type Source struct {
	formula.Environment
	// Files are all files that can be rows, in the order of listings.
	Files []formula.Entry
	// ByName returns the indices of Files, sorted by the names of the files and then by their paths.
	// The caller must not change the result.
	ByName func() []int32
}

// Query is a request to a base.
type Query struct {
	// View is the name of a view or, if no view has that name, the number of a view from 1. "" is
	// the first view.
	View string
	// Where is an additional filter, or nil. Columns, Sort and Group replace those of the view if
	// they are not nil, and Limit if it is above 0.
	Where         *formula.Program
	Columns       []Column
	Sort          []Key
	Group         *Key
	Limit, Offset int
	// Explain adds an [Explanation] to the table.
	Explain bool
}

// Column is a property or an expression, with its label.
type Column struct {
	ID, Label  string
	Expression *formula.Program
}

// Table is the answer to a query.
type Table struct {
	Columns []Column
	Rows    []Row
	// Groups are in the order of the rows. There are none if the rows are not grouped.
	Groups []Group
	// Summaries are the summaries of all rows, in the order of the view.
	Summaries []Summary
	// Total is the number of rows without limit and offset.
	Total   int
	Explain *Explanation
	// Failures are the filters that dropped rows because of an error, and the expressions of the query
	// that failed.
	Failures []Failure
	// Mixed are the sort keys with values of several kinds, which have no common order.
	Mixed []Mixed
}

// Mixed is a sort key with the number of rows by kind of their value.
type Mixed struct {
	Key                              string
	Texts, Numbers, Dates, Durations int
}

// kinds returns how many kinds of values there are.
func (m Mixed) kinds() (n int) {
	for _, rows := range []int{m.Texts, m.Numbers, m.Dates, m.Durations} {
		if rows > 0 {
			n++
		}
	}
	return n
}

// Failure is an expression that failed for some rows.
type Failure struct {
	Expression string
	// OfRequest reports that it is an expression of the query, and not a filter of the base.
	OfRequest     bool
	Asked, Failed int // number of rows for which it was evaluated, and for which it failed
	// Error and Path are the message and the path of the first row for which it failed.
	Error, Path string
}

// Row is a row of a table.
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

// Explanation has the counts of a query.
type Explanation struct {
	Files   int           `json:"files"` // number of files that could be rows
	Filters []FilterCount `json:"filters"`
	Steps   int           `json:"steps"`
}

// FilterCount has the number of rows for which a filter was evaluated and the number that it dropped. A row
// that is dropped is not tested against later filters.
type FilterCount struct {
	Statement string `json:"filter"`
	Asked     int    `json:"asked"`
	Dropped   int    `json:"dropped"`
	// Failed is the number of dropped rows for which the filter failed; Error is the first message.
	Failed int    `json:"failed,omitempty"`
	Error  string `json:"error,omitempty"`
}

// UnknownView reports a view that a base does not have.
type UnknownView struct {
	Name  string
	Known []string // names of the views
}

// Error returns the message of the app, which has two lines.
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
	at, unknown := b.Place(name)
	if unknown != nil {
		return View{}, unknown
	}
	return b.Views[at], nil
}

// Place returns the index of a view by its name or, if no view has that name, by its number from 1.
func (b *Base) Place(name string) (at int, unknown *UnknownView) {
	unknown = &UnknownView{Name: name}
	for i, v := range b.Views {
		if v.Name == name {
			return i, nil
		}
		unknown.Known = append(unknown.Known, v.Name)
	}
	if n, err := strconv.ParseUint(name, 10, 16); err == nil && 1 <= n && int(n) <= len(b.Views) {
		return int(n) - 1, nil
	}
	return 0, unknown
}

// Only returns the source with only the wanted files as rows.
func (s Source) Only(wanted func(formula.Entry) bool) Source {
	newPlaces := make([]int32, len(s.Files)) // -1 for files that are not wanted
	byName := s.ByName
	files := s.Files
	s.Files = nil
	for i, e := range files {
		newPlaces[i] = -1
		if wanted(e) {
			newPlaces[i] = int32(len(s.Files))
			s.Files = append(s.Files, e)
		}
	}
	s.ByName = func() []int32 {
		var places []int32
		for _, place := range byName() {
			if newPlaces[place] >= 0 {
				places = append(places, newPlaces[place])
			}
		}
		return places
	}
	return s
}
