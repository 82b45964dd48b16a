package bases

import (
	"cmp"
	"context"
	"slices"

	"vaultwicket/cmd/internal/vault/bases/formula"
)

// Run answers a query. The errors are those of [Base.Fatal], an [*UnknownView], and those
// of the budget of ctx.
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
	if q.Group != nil {
		v.Group = q.Group
	}
	if q.Limit > 0 {
		v.Limit = q.Limit
	}
	table := r.table(v)
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
}

func (r *run) table(v View) *Table {
	t := &Table{Columns: r.columns(v)}
	counts := r.statements(v)
	rows := r.sorted(v, r.passing(v, counts))
	t.Total = len(rows)
	rows = rows[min(r.query.Offset, len(rows)):]
	if v.Limit > 0 {
		rows = rows[:min(v.Limit, len(rows))]
	}
	for _, row := range rows {
		t.Rows = append(t.Rows, Row{row.Entry().Path(), r.cells(row.Row, t.Columns)})
	}
	t.Groups = r.groups(v, rows)
	t.Summaries = r.summaries(v, rows)
	if r.query.Explain {
		t.Explain = &Explanation{Files: len(r.source.Files), Steps: r.session.Steps()}
		for _, c := range counts {
			t.Explain.Filters = append(t.Explain.Filters, c.FilterCount)
		}
	}
	return t
}

// columns returns those of the query, otherwise of the view, otherwise of the base.
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

// statement is a filter that rows have to pass, with the counts for Explain.
type statement struct {
	filter *Filter
	FilterCount
}

// statements returns the filters of the base, of the view and of the query.
func (r *run) statements(v View) []*statement {
	filters := append(r.base.Filter.statements(), v.Filter.statements()...)
	if r.query.Where != nil {
		filters = append(filters, &Filter{Expression: r.query.Where})
	}
	all := make([]*statement, len(filters))
	for i, f := range filters {
		all[i] = &statement{filter: f}
		if r.query.Explain {
			all[i].Statement = f.String()
		}
	}
	return all
}

// ranked is a row with its sort keys.
type ranked struct {
	*formula.Row
	group formula.Value
	keys  []formula.Value
}

// passing returns the rows that pass all statements: by path if the view sorts them, which
// keeps that order for equal rows, otherwise by name.
func (r *run) passing(v View, statements []*statement) []ranked {
	var rows []ranked
	each := func(e formula.Entry) bool {
		row := r.session.Row(e)
		if r.session.Forgetting(func() bool { return r.passes(row, statements) }) {
			rows = append(rows, ranked{Row: row})
		}
		return r.session.Err() == nil
	}
	if len(v.Sort) > 0 {
		for _, e := range r.source.Files {
			if !each(e) {
				break
			}
		}
		return rows
	}
	for _, place := range r.source.ByName() {
		if !each(r.source.Files[place]) {
			break
		}
	}
	return rows
}

func (r *run) passes(row *formula.Row, statements []*statement) bool {
	for _, s := range statements {
		s.Asked++
		if s.filter.Holds(row) {
			continue
		}
		s.Dropped++
		if r.query.Explain && s.filter.Expression != nil {
			if v := row.Eval(s.filter.Expression); v.IsError() {
				s.Failed++
				s.Error = cmp.Or(s.Error, v.Message())
			}
		}
		return false
	}
	return true
}

// sorted puts rows into groups and into order.
func (r *run) sorted(v View, rows []ranked) []ranked {
	if v.Group == nil && len(v.Sort) == 0 {
		return rows
	}
	for i := range rows {
		if v.Group != nil {
			rows[i].group = r.valueOf(rows[i].Row, *v.Group)
		}
		for _, key := range v.Sort {
			rows[i].keys = append(rows[i].keys, r.valueOf(rows[i].Row, key))
		}
	}
	for key := range v.Sort {
		uncheckMissing(rows, key)
	}
	slices.SortStableFunc(rows, func(a, b ranked) int {
		if v.Group != nil {
			if c := r.session.Order(a.group, b.group, v.Group.Descending); c != 0 {
				return c
			}
		}
		for i, key := range v.Sort {
			if c := r.session.Order(a.keys[i], b.keys[i], key.Descending); c != 0 {
				return c
			}
		}
		return 0
	})
	return rows
}

// uncheckMissing sets a missing checkbox to unchecked. A key is a checkbox if it is a boolean
// in every row that has it.
func uncheckMissing(rows []ranked, key int) {
	isCheckbox := false
	for _, row := range rows {
		switch row.keys[key].Kind() {
		case formula.Null, formula.Error:
		case formula.Boolean:
			isCheckbox = true
		default:
			return
		}
	}
	for _, row := range rows {
		if isCheckbox && row.keys[key].IsNull() {
			row.keys[key] = formula.OfBool(false)
		}
	}
}

// valueOf returns a sort key, and counts it in the budget.
func (r *run) valueOf(row *formula.Row, key Key) (v formula.Value) {
	if key.Expression != nil {
		v = row.Eval(key.Expression)
	} else {
		v = row.Cell(key.Property)
	}
	r.session.Keep(v)
	return v
}

func (r *run) cells(row *formula.Row, columns []Column) []formula.Value {
	cells := make([]formula.Value, len(columns))
	for i, c := range columns {
		if c.Expression != nil {
			cells[i] = row.Eval(c.Expression)
		} else {
			cells[i] = row.Cell(c.ID)
		}
		if !r.session.Keep(cells[i]) {
			break
		}
	}
	return cells
}

// groups returns the runs of sorted rows with the same key.
func (r *run) groups(v View, rows []ranked) []Group {
	if v.Group == nil {
		return nil
	}
	var groups []Group
	for start := 0; start < len(rows); {
		end := start + 1
		for end < len(rows) && r.session.Order(rows[start].group, rows[end].group, false) == 0 {
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

// summaries returns the summaries of a view for some rows. One of the base hides one of the
// app with the same name.
func (r *run) summaries(v View, rows []ranked) []Summary {
	var all []Summary
	for _, s := range v.Summaries {
		values := make([]formula.Value, len(rows))
		for i, row := range rows {
			values[i] = row.Cell(s.Property)
		}
		summary := Summary{ID: s.Property, Name: s.Name}
		if own := r.base.Summaries[s.Name]; own == nil {
			summary.Value = formula.Summarize(s.Name, values)
		} else if summary.Value = formula.OfList(values); !summary.Value.IsError() {
			summary.Value = r.session.Row(nil).EvalValues(own, summary.Value)
		}
		all = append(all, summary)
	}
	return all
}
