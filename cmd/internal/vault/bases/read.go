package bases

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/vault/bases/formula"
	"vaultwicket/cmd/internal/vault/frontmatter"
)

// Read reads the text of a base file. The error is a [*frontmatter.Malformed] if
// it is no YAML; all else that is wrong is in Problems. Keys that are not known
// are passed over, as in the app.
func Read(text []byte) (*Base, error) {
	document, err := frontmatter.ParseDocument(text)
	if err != nil {
		return nil, err
	}
	r := reader{base: &Base{Formulas: map[string]*formula.Program{}, Labels: map[string]string{}, Summaries: map[string]*formula.Program{}}, lines: map[string]int{}}
	switch document.Kind() {
	case frontmatter.Null:
	case frontmatter.Map:
		r.top(document.Fields())
	default:
		r.fatal(document.Line(), "Query is an invalid format. It should be a YAML object.")
	}
	r.references()
	slices.SortStableFunc(r.base.Problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return r.base, nil
}

// reader collects a base and what is wrong with it.
type reader struct {
	base *Base
	// lines are those of the formulas and summaries, by "formula x" and "summary x",
	// and views those of the views.
	lines map[string]int
	views []int
}

// fatal notes why the base cannot be answered. The sentence becomes an error, so names in it
// are as in a Go string; the format has the quotes.
func (r *reader) fatal(line int, format string, args ...any) {
	for i, arg := range args {
		if name, ok := arg.(string); ok {
			quoted := quote.Quoted(name)
			args[i] = quoted[1 : len(quoted)-1]
		}
	}
	r.base.Problems = append(r.base.Problems, Problem{Line: line, Fatal: true, Text: fmt.Sprintf(format, args...), Position: -1})
}

func (r *reader) warn(line int, format string, args ...any) {
	r.base.Problems = append(r.base.Problems, Problem{Line: line, Text: fmt.Sprintf(format, args...), Position: -1})
}

// expression reads one, and notes what is wrong with it. A base with a broken
// expression can be answered: a filter does not hold, a cell is an error.
func (r *reader) expression(v frontmatter.Value, where string) *formula.Program {
	p := formula.Compile(v.String())
	if problem := p.Problem(); problem != nil {
		r.base.Problems = append(r.base.Problems, Problem{
			Line: v.Line(), Text: where + problem.Error() + " " + problem.Reason, Position: problem.Position, Expression: p.Source(),
		})
	}
	return p
}

func (r *reader) top(fields frontmatter.Properties) {
	for _, field := range fields {
		switch v := field.Value; field.Key {
		case "filters":
			r.base.Filter = r.filter(v, "Unable to parse filters: ")
		case "formulas":
			r.formulas(v)
		case "properties":
			r.properties(v)
		case "display":
			r.display(v)
		case "summaries":
			r.summaries(v)
		case "views":
			r.readViews(v)
		}
	}
}

// filter reads a filter, nil for nothing.
func (r *reader) filter(v frontmatter.Value, where string) *Filter {
	switch v.Kind() {
	case frontmatter.Null:
		return nil
	case frontmatter.Map:
		return r.group(v, where)
	case frontmatter.String:
		return &Filter{Expression: r.expression(v, where), Line: v.Line()}
	}
	r.fatal(v.Line(), `"filters" must be a string or an object`)
	return nil
}

// group reads a filter of several.
func (r *reader) group(v frontmatter.Value, where string) *Filter {
	fields := v.Fields()
	if len(fields) == 0 {
		return nil
	}
	if len(fields) > 1 {
		r.fatal(v.Line(), `"filters" may only have one of an "and", "or", or "not" keys.`)
		return nil
	}
	field := fields[0]
	for mode, name := range modeNames {
		if field.Key != name {
			continue
		}
		if field.Value.Kind() != frontmatter.List {
			r.fatal(v.Line(), `"%s" filter must be an array`, name)
			return nil
		}
		f := &Filter{Mode: Mode(mode), Line: v.Line()}
		for _, part := range field.Value.List() {
			if p := r.filter(part, where); p != nil {
				f.Parts = append(f.Parts, p)
			}
		}
		return f
	}
	r.fatal(v.Line(), `"filters" may only have one of an "and", "or", or "not" keys.`)
	return nil
}

// isObject reports whether a value of the file is a mapping or nothing, and notes
// that it should be.
func (r *reader) isObject(v frontmatter.Value, key string) bool {
	if v.Kind() != frontmatter.Map && v.Kind() != frontmatter.Null {
		r.fatal(v.Line(), `"%s" must be a object`, key) // sic
		return false
	}
	return true
}

func (r *reader) formulas(v frontmatter.Value) {
	if !r.isObject(v, "formulas") {
		return
	}
	for _, field := range v.Fields() {
		r.lines["formula "+field.Key] = field.Line
		if field.Value.Kind() == frontmatter.String {
			r.base.Formulas[field.Key] = r.expression(field.Value, fmt.Sprintf("Formula %q: ", field.Key))
			continue
		}
		text := fmt.Sprintf("Formula values must be strings. Value for property %s is not.", field.Key)
		r.warn(field.Line, "%s", text)
		r.base.Formulas[field.Key] = formula.Broken(text)
	}
}

func (r *reader) properties(v frontmatter.Value) {
	if v.Kind() != frontmatter.Map && v.Kind() != frontmatter.Null {
		r.fatal(v.Line(), "Invalid properties configuration.")
		return
	}
	for _, field := range v.Fields() {
		r.base.Properties = append(r.base.Properties, field.Key)
		if field.Value.Kind() != frontmatter.Map && field.Value.Kind() != frontmatter.Null {
			r.fatal(field.Line, `Invalid property config for "%s".`, field.Key)
			continue
		}
		if name, ok := field.Value.Fields().Lookup("displayName"); ok && name.Value.Kind() != frontmatter.Null {
			r.base.Labels[field.Key] = name.Value.String()
		}
	}
}

// display reads the display names of an old file.
func (r *reader) display(v frontmatter.Value) {
	if !r.isObject(v, "display") {
		return
	}
	for _, field := range v.Fields() {
		if field.Value.Kind() != frontmatter.String {
			r.fatal(field.Line, "Display values must be strings. Value for property \"%s\" is not.", field.Key)
			continue
		}
		if _, named := r.base.Labels[field.Key]; !named {
			r.base.Labels[field.Key] = field.Value.Text()
		}
	}
}

func (r *reader) summaries(v frontmatter.Value) {
	if !r.isObject(v, "summaries") {
		return
	}
	for _, field := range v.Fields() {
		r.lines["summary "+field.Key] = field.Line
		if field.Value.Kind() != frontmatter.String {
			text := fmt.Sprintf("Summary values must be strings. Value for %s is not.", field.Key)
			r.warn(field.Line, "%s", text)
			r.base.Summaries[field.Key] = formula.Broken(text)
			continue
		}
		r.base.Summaries[field.Key] = r.expression(field.Value, fmt.Sprintf("Summary %q: ", field.Key))
	}
}

func (r *reader) readViews(v frontmatter.Value) {
	if v.Kind() == frontmatter.Null {
		return
	}
	if v.Kind() != frontmatter.List {
		r.fatal(v.Line(), "Views must be an array")
		return
	}
	for i, item := range v.List() {
		if item.Kind() != frontmatter.Map {
			r.fatal(item.Line(), `"view" items must be a YAML object, however item %d is not`, i+1)
			continue
		}
		r.base.Views = append(r.base.Views, r.view(item, i+1))
		r.views = append(r.views, item.Line())
	}
}

// view reads one view. Files written by hand often lack a name, so that is no
// reason not to answer.
func (r *reader) view(v frontmatter.Value, number int) View {
	fields := v.Fields()
	view := View{}
	name, named := fields.Lookup("name")
	if view.Name = name.Value.String(); !named || name.Value.Kind() != frontmatter.String {
		r.warn(v.Line(), `Missing or invalid "name" in view %d`, number)
	}
	kind, typed := fields.Lookup("type")
	switch view.Type = kind.Value.String(); {
	case !typed || kind.Value.Kind() == frontmatter.Null:
		r.warn(v.Line(), `"type" is required in view "%s"`, view.Name)
	case kind.Value.Kind() != frontmatter.String:
		r.fatal(kind.Line, `"type" must be a string in view "%s"`, view.Name)
	}
	for _, field := range fields {
		r.viewField(&view, field)
	}
	return view
}

func (r *reader) viewField(view *View, field frontmatter.Property) {
	switch v := field.Value; field.Key {
	case "filters":
		view.Filter = r.filter(v, fmt.Sprintf(`Unable to parse filters in view "%s": `, view.Name))
	case "order":
		view.Order = r.order(v, view.Name)
	case "sort":
		view.Sort = r.sort(v, view.Name)
	case "groupBy", "group_by":
		view.Group = r.groupBy(field, view.Name)
	case "limit":
		view.Limit = r.limit(v, view.Name)
	case "summaries":
		if v.Kind() != frontmatter.Map && v.Kind() != frontmatter.Null {
			r.fatal(v.Line(), `"summaries" must be a object in view "%s"`, view.Name)
			return
		}
		for _, s := range v.Fields() {
			view.Summaries = append(view.Summaries, ColumnSummary{s.Key, s.Value.String()})
		}
	}
}

// listOf returns the elements of a list of a view, and notes that it should be one.
func (r *reader) listOf(v frontmatter.Value, key, view string) []frontmatter.Value {
	if v.Kind() != frontmatter.List && v.Kind() != frontmatter.Null {
		r.fatal(v.Line(), `"%s" must be a array in view "%s"`, key, view)
	}
	return v.List()
}

func (r *reader) order(v frontmatter.Value, view string) (ids []string) {
	for _, item := range r.listOf(v, "order", view) {
		if item.Kind() != frontmatter.String {
			r.fatal(item.Line(), `"order" values must all be of type string in view "%s"`, view)
		}
		ids = append(ids, item.String())
	}
	return ids
}

func (r *reader) sort(v frontmatter.Value, view string) (keys []Key) {
	for _, item := range r.listOf(v, "sort", view) {
		if item.Kind() != frontmatter.Map {
			r.fatal(item.Line(), `"sort" values must all be of type object in view "%s"`, view)
			continue
		}
		if key, ok := r.key(item, view); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// key reads what is sorted or grouped by. Old files call the property a column.
func (r *reader) key(v frontmatter.Value, view string) (Key, bool) {
	if v.Kind() == frontmatter.String {
		return Key{Property: v.Text()}, true
	}
	property, ok := v.Fields().Lookup("property")
	if !ok {
		property, ok = v.Fields().Lookup("column")
	}
	if !ok || property.Value.Kind() != frontmatter.String {
		r.warn(v.Line(), `"property" is required in view "%s"`, view)
		return Key{}, false
	}
	direction, _ := v.Fields().Lookup("direction")
	text := direction.Value.String()
	if text != "" && !strings.EqualFold(text, "ASC") && !strings.EqualFold(text, "DESC") {
		r.warn(direction.Line, `"direction" must be ASC or DESC in view "%s"`, view)
	}
	return Key{Property: property.Value.Text(), Descending: strings.EqualFold(text, "DESC")}, true
}

func (r *reader) groupBy(field frontmatter.Property, view string) *Key {
	switch {
	case field.Value.Kind() == frontmatter.Null:
		return nil
	case field.Key == "groupBy" && field.Value.Kind() != frontmatter.Map:
		r.fatal(field.Line, `"groupBy" must be a object in view "%s"`, view) // sic
		return nil
	}
	key, ok := r.key(field.Value, view)
	if !ok {
		return nil
	}
	return &key
}

// limit reads how many rows there are at most; what is no number above 0 is none.
func (r *reader) limit(v frontmatter.Value, view string) int {
	n := v.Float()
	switch {
	case v.Kind() == frontmatter.Null:
		return 0
	case v.Kind() != frontmatter.Number:
		r.warn(v.Line(), `"limit" must be a number in view "%s"`, view)
		return 0
	}
	if !(n >= 1) {
		return 0
	}
	return int(min(n, math.MaxInt32))
}
