package vault

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/index"
	"vaultwicket/cmd/internal/vault/order"
)

const noFrontmatter = "No frontmatter found."

func propertyCommands() []command {
	return []command{
		{
			name: "properties", about: "List the properties of the vault, or show those of a note",
			params: append(targetParams(),
				param{name: "name", hint: "name", about: "Only how often this one is used"},
				param{name: "sort", oneOf: []string{"count"}, about: "Most frequent first"},
				param{name: "counts", kind: flag, about: "Add how often each is used"},
				param{name: "total", kind: flag, about: "Only how many there are"},
				param{name: "active", kind: flag, about: "Only the focused note"},
				param{name: "format", oneOf: []string{"yaml", formJSON, formTSV}, about: "Form of the answer"}),
			run: properties,
		},
		{
			name: "property:read", about: "Read one property of a note",
			params: append([]param{{name: "name", hint: "name", required: true, about: "The property"}}, targetParams()...),
			run:    readProperty,
		},
		{
			name: "aliases", about: "List the aliases",
			params: append(targetParams(),
				param{name: "total", kind: flag, about: "Only how many there are"},
				param{name: "verbose", kind: flag, about: "Add the file of each"},
				param{name: "active", kind: flag, about: "Only the focused note"}),
			run: aliases,
		},
	}
}

func properties(v *vault, p params) (reply, error) {
	if isAboutOne(p) {
		return v.noteProperties(p)
	}
	files, err := v.scope(p)
	if err != nil {
		return reply{}, err
	}
	types, err := v.propertyTypes()
	if err != nil {
		return reply{}, err
	}
	uses := typed(allProperties.of(&v.host.memo, files), types)
	switch {
	case p.has("name"):
		return say(strconv.Itoa(countOf(uses, p["name"]))), nil
	case p.has("total"):
		return say(strconv.Itoa(len(uses))), nil
	case p["sort"] == "count":
		slices.SortStableFunc(uses, func(a, b *propertyUse) int { return cmp.Compare(b.Count, a.Count) })
	}
	return say(printUses(uses, p)), nil
}

// propertyUse is one property of the vault. Names that differ in case alone
// are one; the first casing that is met stands for all.
type propertyUse struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Count int    `json:"count"` // a number, unlike in other commands
}

// always are the properties that the app lists even where nothing uses them.
var always = [...]string{"aliases", "cssclasses", "tags"}

// ownTypes are the types that the app gives the properties that it reads itself,
// whatever a note holds there.
var ownTypes = map[string]string{"aliases": "aliases", "cssclasses": "multitext", "tags": "tags"}

var allProperties = derived[[]propertyUse]{"properties", propertyUses}

// propertyUses counts the properties of files, in the order in which they are
// met.
func propertyUses(files []*index.File) []propertyUse {
	places := map[string]int{}
	var all []propertyUse
	for _, properties := range index.Collect(files, index.Facts.Properties) {
		for _, property := range properties {
			key := strings.ToLower(property.Key)
			place, met := places[key]
			if !met {
				place = len(all)
				places[key] = place
				all = append(all, propertyUse{Name: property.Key, Type: string(property.Value.Type())})
			}
			all[place].Count++
		}
	}
	return all
}

// typed returns a copy of uses in the order of listings, with the types that the
// user set, and with what is always listed.
func typed(uses []propertyUse, types map[string]string) []*propertyUse {
	var all []*propertyUse
	for _, use := range uses {
		all = append(all, &use)
	}
	for _, name := range always {
		if !slices.ContainsFunc(all, func(u *propertyUse) bool { return strings.EqualFold(u.Name, name) }) {
			all = append(all, &propertyUse{Name: name})
		}
	}
	for _, use := range all {
		name := strings.ToLower(use.Name)
		use.Type = cmp.Or(types[name], ownTypes[name], use.Type)
	}
	slices.SortFunc(all, func(a, b *propertyUse) int { return order.Compare(a.Name, b.Name) })
	return all
}

func countOf(uses []*propertyUse, name string) int {
	for _, use := range uses {
		if strings.EqualFold(use.Name, name) {
			return use.Count
		}
	}
	return 0
}

func printUses(uses []*propertyUse, p params) string {
	switch p["format"] {
	case formJSON:
		return indented(uses)
	case formTSV:
		table := rows{}
		for _, use := range uses {
			table.cells = append(table.cells, []string{use.Name, use.Type, strconv.Itoa(use.Count)})
		}
		return table.print(formTSV)
	}
	var out strings.Builder
	for _, use := range uses {
		out.WriteString(use.Name)
		if p.has("counts") {
			out.WriteString(": " + strconv.Itoa(use.Count))
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// indented is JSON in the layout of the app, with < > & as they are.
func indented(value any) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return "[]" // everything printed here encodes
	}
	return out.String()
}

// propertyTypes returns the types that the user set, by lower-case name.
func (v *vault) propertyTypes() (map[string]string, error) {
	var file struct {
		Types map[string]string `json:"types"`
	}
	if err := v.config("types.json", &file); err != nil {
		return nil, err
	}
	types := make(map[string]string, len(file.Types))
	for name, kind := range file.Types {
		types[strings.ToLower(name)] = kind
	}
	return types, nil
}

// noteProperties shows the block of one note. One that is not YAML is none.
func (v *vault) noteProperties(p params) (reply, error) {
	found, err := v.properties(p)
	if err != nil {
		return reply{}, err
	}
	if p.has("name") {
		_, ok := found.Lookup(p["name"])
		return say(pick(ok, "1", "0")), nil
	}
	switch {
	case p.has("total") && len(found) > 0:
		return say(strconv.Itoa(len(found))), nil
	case len(found) == 0:
		return say(noFrontmatter), nil
	case p["format"] == formJSON:
		return say(found.JSON()), nil
	case p["format"] == formTSV:
		table := rows{}
		for _, property := range found {
			table.cells = append(table.cells, []string{property.Key, property.Value.String()})
		}
		return say(table.print(formTSV)), nil
	}
	return say(found.YAML()), nil
}

// properties reads those of the note that a request means.
func (v *vault) properties(p params) (frontmatter.Properties, error) {
	text, found, err := v.scanned(p)
	if err != nil {
		return nil, err
	}
	read, err := frontmatter.Parse(text[found.Frontmatter.Start:found.Frontmatter.End])
	if err != nil {
		return nil, nil // for the app a block it cannot read is no block
	}
	return read, nil
}

// readProperty prints a value: a list one item a line. The sentence for a
// property that is not there was never recorded.
func readProperty(v *vault, p params) (reply, error) {
	found, err := v.properties(p)
	if err != nil {
		return reply{}, err
	}
	property, ok := found.Lookup(p["name"])
	if !ok {
		return reply{}, notFound.failure("Property %q not found.", verbatim(p["name"]))
	}
	text := property.Value.String()
	if property.Value.Kind() == frontmatter.List {
		var items []string
		for _, item := range property.Value.List() {
			items = append(items, item.String())
		}
		text = strings.Join(items, "\n")
	}
	if text == "" {
		return say("(empty)"), nil
	}
	return say(text), nil
}

func aliases(v *vault, p params) (reply, error) {
	files, err := v.scope(p)
	if err != nil {
		return reply{}, err
	}
	table := rows{}
	for i, properties := range index.Collect(files, index.Facts.Properties) {
		for _, alias := range frontmatter.Aliases(properties) {
			table.add(p.has("verbose"), alias, files[i].Path.String())
		}
	}
	if p.has("total") {
		return say(strconv.Itoa(len(table.cells))), nil
	}
	return say(table.print(formTSV)), nil
}
