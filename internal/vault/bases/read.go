package bases

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
)

// Read parses a base file. The error is a [*frontmatter.Malformed] if the file is not valid YAML; all other
// problems are in Problems. Unknown keys are ignored, as in the app.
func Read(text []byte) (*Base, error) {
	document, err := frontmatter.ParseDocument(text)
	if err != nil {
		return nil, err
	}
	r := reader{
		base: &Base{
			Formulas:  map[string]*formula.Program{},
			Labels:    map[string]string{},
			Summaries: map[string]*formula.Program{},
		},
		lines: map[string]int{},
	}
	switch document.Kind() {
	case frontmatter.Null:
	case frontmatter.Map:
		for _, field := range document.Fields() {
			r.section(field.Key, field.Value)
		}
	default:
		r.fatal(document.Line(), "Query is an invalid format. It should be a YAML object.")
	}
	r.checkReferences()
	slices.SortStableFunc(r.base.Problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return r.base, nil
}

// section reads a top-level section of a base file.
func (r *reader) section(key string, v frontmatter.Value) {
	switch key {
	case "filters":
		r.base.Filter = r.filter(v, "Unable to parse filters: ")
	case "formulas":
		notText := "Formula values must be strings. Value for property %s is not."
		r.programs(v, "formulas", notText, r.base.Formulas)
	case "properties":
		r.properties(v)
	case "display":
		r.display(v)
	case "summaries":
		r.programs(v, "summaries", "Summary values must be strings. Value for %s is not.", r.base.Summaries)
	case "views":
		r.views(v)
	}
}

// properties reads the configuration of properties with their display names.
func (r *reader) properties(v frontmatter.Value) {
	if v.Kind() != frontmatter.Map && v.Kind() != frontmatter.Null {
		r.fatal(v.Line(), "Invalid properties configuration.")
	}
	for _, field := range v.Fields() {
		r.base.Properties = append(r.base.Properties, field.Key)
		if field.Value.Kind() != frontmatter.Map && field.Value.Kind() != frontmatter.Null {
			r.fatal(field.Line, `Invalid property config for "%s".`, field.Key)
			continue
		}
		name, ok := field.Value.Fields().Lookup("displayName")
		if ok && name.Value.Kind() != frontmatter.Null {
			r.base.Labels[field.Key] = name.Value.String()
		}
	}
}

// display reads the display names of the older file format. Those of properties take precedence.
func (r *reader) display(v frontmatter.Value) {
	r.checkObject(v, "display")
	for _, field := range v.Fields() {
		if field.Value.Kind() != frontmatter.String {
			r.fatal(field.Line, "Display values must be strings. Value for property \"%s\" is not.", field.Key)
			continue
		}
		if _, hasLabel := r.base.Labels[field.Key]; !hasLabel {
			r.base.Labels[field.Key] = field.Value.Text()
		}
	}
}

// views reads the list of views.
func (r *reader) views(v frontmatter.Value) {
	if v.Kind() != frontmatter.List && v.Kind() != frontmatter.Null {
		r.fatal(v.Line(), "Views must be an array")
	}
	for i, item := range v.List() {
		if item.Kind() != frontmatter.Map {
			r.fatal(item.Line(), `"view" items must be a YAML object, however item %d is not`, i+1)
			continue
		}
		r.base.Views = append(r.base.Views, r.view(item, i+1))
		r.viewLines = append(r.viewLines, item.Line())
	}
}

// reader collects a base and its problems.
type reader struct {
	base *Base
	// lines are the line numbers of formulas and summaries, by "formulas NAME" and "summaries NAME".
	lines     map[string]int
	viewLines []int // line numbers of the views
}

// fatal adds a fatal problem. Its message becomes an error, so texts in args are escaped as in a Go string;
// the format contains the quotes.
func (r *reader) fatal(line int, format string, args ...any) {
	for i, arg := range args {
		if name, ok := arg.(string); ok {
			quoted := excerpt.Quoted(name)
			args[i] = quoted[1 : len(quoted)-1]
		}
	}
	r.base.Problems = append(
		r.base.Problems,
		Problem{Line: line, Fatal: true, Text: fmt.Sprintf(format, args...), Position: -1},
	)
}

// warn adds a problem that is not fatal.
func (r *reader) warn(line int, format string, args ...any) {
	r.base.Problems = append(r.base.Problems, Problem{Line: line, Text: fmt.Sprintf(format, args...), Position: -1})
}

// expression compiles an expression. A syntax error is not fatal: a broken filter is false, and a cell with
// a broken formula is an error.
func (r *reader) expression(v frontmatter.Value, where string) *formula.Program {
	p := formula.Compile(v.String())
	if problem := p.Problem(); problem != nil {
		r.base.Problems = append(r.base.Problems, Problem{
			Line:       v.Line(),
			Text:       where + problem.Error() + " " + problem.Reason,
			Position:   problem.Position,
			Expression: p.Source(),
		})
	}
	return p
}

// filter reads a filter. It returns nil for null and for an invalid filter.
func (r *reader) filter(v frontmatter.Value, where string) *Filter {
	switch v.Kind() {
	case frontmatter.Null:
		return nil
	case frontmatter.Map:
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
	case frontmatter.String:
		return &Filter{Expression: r.expression(v, where), Line: v.Line()}
	}
	r.fatal(v.Line(), `"filters" must be a string or an object`)
	return nil
}

// checkObject adds a problem if a value is neither a mapping nor null.
func (r *reader) checkObject(v frontmatter.Value, key string) {
	if v.Kind() != frontmatter.Map && v.Kind() != frontmatter.Null {
		r.fatal(v.Line(), `"%s" must be a object`, key) // sic
	}
}

// programs reads formulas or summaries. notText is the format of the message about a value that is not a text.
func (r *reader) programs(v frontmatter.Value, key, notText string, programs map[string]*formula.Program) {
	r.checkObject(v, key)
	for _, field := range v.Fields() {
		r.lines[key+" "+field.Key] = field.Line
		if field.Value.Kind() == frontmatter.String {
			programs[field.Key] = r.expression(field.Value, whereOf(key, field.Key))
			continue
		}
		text := fmt.Sprintf(notText, field.Key)
		r.warn(field.Line, "%s", text)
		programs[field.Key] = formula.Broken(text)
	}
}

// whereOf returns the beginning of a message about a formula or a summary.
func whereOf(key, name string) string {
	if key == "formulas" {
		return fmt.Sprintf("Formula %q: ", name)
	}
	return fmt.Sprintf("Summary %q: ", name)
}

// view reads a view. A missing name is only a warning, because files written by hand often lack it.
func (r *reader) view(v frontmatter.Value, number int) View {
	fields := v.Fields()
	view := View{}
	name, hasName := fields.Lookup("name")
	view.Name = name.Value.String()
	if !hasName || name.Value.Kind() != frontmatter.String {
		r.warn(v.Line(), `Missing or invalid "name" in view %d`, number)
	}
	kind, hasType := fields.Lookup("type")
	view.Type = kind.Value.String()
	switch {
	case !hasType || kind.Value.Kind() == frontmatter.Null:
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
			view.Group = r.groupKey(field, view.Name)
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

// groupKey reads the group key of a view. It returns nil for null and for an invalid key.
func (r *reader) groupKey(field frontmatter.Property, view string) *Key {
	v := field.Value
	if v.Kind() == frontmatter.Null {
		return nil
	}
	if field.Key == "groupBy" && v.Kind() != frontmatter.Map {
		r.fatal(field.Line, `"groupBy" must be a object in view "%s"`, view) // sic
		return nil
	}
	key, ok := r.key(v, view)
	if !ok {
		return nil
	}
	return &key
}

// listOf returns the elements of a list in a view, and adds a problem if the value is not a list.
func (r *reader) listOf(v frontmatter.Value, key, view string) []frontmatter.Value {
	if v.Kind() != frontmatter.List && v.Kind() != frontmatter.Null {
		r.fatal(v.Line(), `"%s" must be a array in view "%s"`, key, view)
	}
	return v.List()
}

// key reads a sort or group key. In the older file format, the property is called column.
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

// checkReferences adds warnings about references to functions, formulas, fields and summaries that do not
// exist, and about formulas that depend on themselves.
func (r *reader) checkReferences() {
	for _, name := range slices.Sorted(maps.Keys(r.base.Formulas)) {
		line := r.lines["formulas "+name]
		r.checkProgram(whereOf("formulas", name), r.base.Formulas[name], line)
		if r.needs(name, name, map[string]bool{}) {
			r.warn(line, "Formula %q: %s", name, formula.Cycle)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.base.Summaries)) {
		r.checkProgram(whereOf("summaries", name), r.base.Summaries[name], r.lines["summaries "+name])
	}
	r.checkFilter("Filters: ", r.base.Filter)
	for i, v := range r.base.Views {
		line := r.viewLines[i]
		where := fmt.Sprintf("View %q: ", v.Name)
		r.checkFilter(where, v.Filter)
		ids := slices.Clone(v.Order)
		for _, key := range v.Sort {
			ids = append(ids, key.Property)
		}
		if v.Group != nil {
			ids = append(ids, v.Group.Property)
		}
		for _, s := range v.Summaries {
			ids = append(ids, s.Property)
		}
		for _, id := range ids {
			switch namespace, name := formula.SplitID(id); {
			case namespace == "formula" && r.base.Formulas[name] == nil:
				r.warn(line, "%sno formula is called %q", where, name)
			case namespace == "file" && !formula.IsFileField(name):
				r.warn(line, "%sa file has no field %q", where, name)
			}
		}
		for _, s := range v.Summaries {
			if _, isOwn := r.base.Summaries[s.Name]; !isOwn && formula.Summary(s.Name) == nil {
				r.warn(line, "%sno summary is called %q", where, s.Name)
			}
		}
	}
}

// needs reports whether a formula refers to the wanted formula, directly or through other formulas.
func (r *reader) needs(name, wanted string, seen map[string]bool) bool {
	p := r.base.Formulas[name]
	if p == nil || p.Node() == nil || seen[name] {
		return false
	}
	seen[name] = true
	isNeeded := false
	formula.Walk(p.Node(), func(n formula.Node) {
		if other, ok := nameIn("formula", n); ok && !isNeeded {
			isNeeded = other == wanted || r.needs(other, wanted, seen)
		}
	})
	return isNeeded
}

// nameIn returns the name x in namespace.x or namespace["x"].
func nameIn(namespace string, n formula.Node) (string, bool) {
	switch n := n.(type) {
	case *formula.MemberNode:
		object, ok := n.X.(*formula.NameNode)
		return n.Name, ok && object.Text == namespace
	case *formula.IndexNode:
		object, isName := n.X.(*formula.NameNode)
		key, isText := n.Key.(*formula.StringNode)
		if isName && isText {
			return key.Value, object.Text == namespace
		}
	}
	return "", false
}

// checkFilter adds warnings about the expressions of a filter.
func (r *reader) checkFilter(where string, f *Filter) {
	switch {
	case f == nil:
	case f.Expression != nil:
		r.checkProgram(where, f.Expression, f.Line)
	default:
		for _, part := range f.Parts {
			r.checkFilter(where, part)
		}
	}
}

// checkProgram adds warnings about formulas and functions in an expression that do not exist.
func (r *reader) checkProgram(where string, p *formula.Program, line int) {
	if p.Node() == nil {
		return
	}
	formula.Walk(p.Node(), func(n formula.Node) {
		warn := func(at formula.Node, text string) {
			r.base.Problems = append(r.base.Problems, Problem{
				Line:       line,
				Text:       where + text,
				Position:   formula.Units(p.Source(), at.Position()),
				Expression: p.Source(),
			})
		}
		if name, ok := nameIn("formula", n); ok && r.base.Formulas[name] == nil {
			warn(n, fmt.Sprintf("no formula is called %q", name))
			return
		}
		call, isCall := n.(*formula.CallNode)
		if !isCall {
			return
		}
		name, ok := call.Function.(*formula.NameNode)
		if ok && !formula.IsFunction(name.Text) {
			warn(name, `Cannot find function "`+name.Text+`"`)
		}
	})
}

// Implied is what a note needs to pass the filters of a view, as far as the filters directly require a
// property that equals a literal, a tag, a link, or a folder.
type Implied struct {
	// Folder is the folder that the note has to be in. "/" is the root of the vault, "" is any folder.
	Folder string
	Tags   []string // without "#"
	Links  []string // targets of the links that it needs
	// Properties are the properties in columns of the view, which may have any value, and the
	// properties that need a certain value.
	Properties []ImpliedProperty
}

// ImpliedProperty is a property that a note needs.
type ImpliedProperty struct {
	Name  string
	Value formula.Value // null for any value
}

// Implied returns the requirements of the filters of the base and of a view. Filters within "or" and "not"
// are ignored.
func (b *Base) Implied(v View) Implied {
	var i Implied
	for _, id := range v.Order {
		if namespace, name := formula.SplitID(id); namespace == "note" {
			i.set(name, formula.Value{})
		}
	}
	for _, s := range append(b.Filter.statements(), v.Filter.statements()...) {
		if s.Expression != nil && s.Expression.Node() != nil {
			i.addFrom(s.Expression.Node())
		}
	}
	return i
}

// set adds a property, or sets its value if it has none yet.
func (i *Implied) set(name string, v formula.Value) {
	for n := range i.Properties {
		if i.Properties[n].Name == name {
			if i.Properties[n].Value.IsNull() {
				i.Properties[n].Value = v
			}
			return
		}
	}
	i.Properties = append(i.Properties, ImpliedProperty{name, v})
}

// addFrom adds the requirements of an expression; of both sides if it is joined by &&.
func (i *Implied) addFrom(n formula.Node) {
	switch n := n.(type) {
	case *formula.BinaryNode:
		switch n.Op {
		case formula.And:
			i.addFrom(n.X)
			i.addFrom(n.Y)
		case formula.Equal:
			i.addEqual(n.X, n.Y)
			i.addEqual(n.Y, n.X)
		}
	case *formula.CallNode:
		// file.inFolder("x"), file.hasTag("x"), tags.contains("x"), file.hasLink("x") and file.hasLink(link("x"))
		method, ok := n.Function.(*formula.MemberNode)
		if !ok || len(n.Args) == 0 {
			return
		}
		first := n.Args[0]
		if method.Name == "hasLink" {
			first = unwrapLink(first)
		}
		v, isLiteral := literal(first)
		if !isLiteral || v.Kind() != formula.String {
			return
		}
		object, _ := method.X.(*formula.NameNode)
		isOnFile := object != nil && object.Text == "file"
		property, isProperty := propertyName(method.X)
		isOnTags := isProperty && property == "tags" || isFileMember(method.X, "tags")
		switch {
		case isOnFile && method.Name == "inFolder":
			i.Folder = v.Text()
		case isOnFile && method.Name == "hasLink" && !strings.ContainsAny(v.Text(), "[]|\r\n"):
			i.Links = append(i.Links, v.Text())
		case isOnFile && method.Name == "hasTag", isOnTags && method.Name == "contains":
			i.Tags = append(i.Tags, strings.TrimPrefix(v.Text(), "#"))
		}
	}
}

// unwrapLink returns the target in a call of link(), and any other node unchanged.
func unwrapLink(n formula.Node) formula.Node {
	call, isCall := n.(*formula.CallNode)
	if !isCall || len(call.Args) == 0 {
		return n
	}
	if f, ok := call.Function.(*formula.NameNode); ok && f.Text == "link" {
		return call.Args[0]
	}
	return n
}

// addEqual adds a property or the folder if x is one and y is a literal.
func (i *Implied) addEqual(x, y formula.Node) {
	v, isLiteral := literal(y)
	if !isLiteral {
		return
	}
	if isFileMember(x, "folder") && v.Kind() == formula.String {
		i.Folder = v.Text()
		return
	}
	if name, ok := propertyName(x); ok && name != "tags" {
		i.set(name, v)
	}
}

// isFileMember reports whether n is file.name, for a given name.
func isFileMember(n formula.Node, name string) bool {
	m, ok := n.(*formula.MemberNode)
	if !ok || m.Name != name {
		return false
	}
	object, ok := m.X.(*formula.NameNode)
	return ok && object.Text == "file"
}

// propertyName returns the name x of a property in x, note.x or note["x"].
func propertyName(n formula.Node) (string, bool) {
	if name, ok := n.(*formula.NameNode); ok {
		return name.Text, !slices.Contains([]string{"file", "note", "formula", "this"}, name.Text)
	}
	return nameIn("note", n)
}

// literal returns the value of a literal.
func literal(n formula.Node) (formula.Value, bool) {
	switch n := n.(type) {
	case *formula.StringNode:
		return formula.OfText(n.Value), true
	case *formula.NumberNode:
		return formula.OfNumber(n.Value), true
	case *formula.BoolNode:
		return formula.OfBool(n.Value), true
	}
	return formula.Value{}, false
}
