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

// Read parses a base file. The error is a [*frontmatter.Malformed] if it is not YAML; all
// else is in Problems. Unknown keys are ignored, as in the app.
func Read(text []byte) (*Base, error) {
	document, err := frontmatter.ParseDocument(text)
	if err != nil {
		return nil, err
	}
	r := reader{base: &Base{Formulas: map[string]*formula.Program{}, Labels: map[string]string{}, Summaries: map[string]*formula.Program{}}, lines: map[string]int{}}
	switch document.Kind() {
	case frontmatter.Null:
	case frontmatter.Map:
		for _, field := range document.Fields() {
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
	default:
		r.fatal(document.Line(), "Query is an invalid format. It should be a YAML object.")
	}
	r.references()
	slices.SortStableFunc(r.base.Problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return r.base, nil
}

// reader collects a base and its problems.
type reader struct {
	base *Base
	// lines are the lines of formulas and summaries, by "formula x" and "summary x";
	// views are the lines of the views.
	lines map[string]int
	views []int
}

// fatal adds a fatal problem. It becomes an error, so names are escaped as in a Go string;
// the format has the quotes.
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

// expression compiles an expression and adds its problem, which is not fatal: a broken filter
// is false, and a cell is an error.
func (r *reader) expression(v frontmatter.Value, where string) *formula.Program {
	p := formula.Compile(v.String())
	if problem := p.Problem(); problem != nil {
		r.base.Problems = append(r.base.Problems, Problem{
			Line: v.Line(), Text: where + problem.Error() + " " + problem.Reason, Position: problem.Position, Expression: p.Source(),
		})
	}
	return p
}

// filter reads a filter, nil for null.
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

// group reads a filter with parts.
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

// isObject reports whether a value is a mapping or null, and adds the problem if not.
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

// display reads the display names of the older file format.
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

// view reads a view. A missing name is only a warning: files written by hand often lack it.
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
		switch v := field.Value; field.Key {
		case "filters":
			view.Filter = r.filter(v, fmt.Sprintf(`Unable to parse filters in view "%s": `, view.Name))
		case "order":
			for _, item := range r.listOf(v, "order", view.Name) {
				if item.Kind() != frontmatter.String {
					r.fatal(item.Line(), `"order" values must all be of type string in view "%s"`, view.Name)
				}
				view.Order = append(view.Order, item.String())
			}
		case "sort":
			for _, item := range r.listOf(v, "sort", view.Name) {
				if item.Kind() != frontmatter.Map {
					r.fatal(item.Line(), `"sort" values must all be of type object in view "%s"`, view.Name)
				} else if key, ok := r.key(item, view.Name); ok {
					view.Sort = append(view.Sort, key)
				}
			}
		case "groupBy", "group_by":
			view.Group = nil
			if field.Key == "groupBy" && v.Kind() != frontmatter.Map && v.Kind() != frontmatter.Null {
				r.fatal(field.Line, `"groupBy" must be a object in view "%s"`, view.Name) // sic
			} else if v.Kind() != frontmatter.Null {
				if key, ok := r.key(v, view.Name); ok {
					view.Group = &key
				}
			}
		case "limit":
			switch n := v.Float(); {
			case v.Kind() != frontmatter.Number && v.Kind() != frontmatter.Null:
				r.warn(v.Line(), `"limit" must be a number in view "%s"`, view.Name)
			case n >= 1:
				view.Limit = int(min(n, math.MaxInt32))
			}
		case "summaries":
			if v.Kind() != frontmatter.Map && v.Kind() != frontmatter.Null {
				r.fatal(v.Line(), `"summaries" must be a object in view "%s"`, view.Name)
			}
			for _, s := range v.Fields() {
				view.Summaries = append(view.Summaries, ColumnSummary{s.Key, s.Value.String()})
			}
		}
	}
	return view
}

// listOf returns the elements of a list of a view, and adds the problem if it is not one.
func (r *reader) listOf(v frontmatter.Value, key, view string) []frontmatter.Value {
	if v.Kind() != frontmatter.List && v.Kind() != frontmatter.Null {
		r.fatal(v.Line(), `"%s" must be a array in view "%s"`, key, view)
	}
	return v.List()
}

// key reads a sort or group key. The older file format calls the property a column.
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
