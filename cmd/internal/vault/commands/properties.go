package commands

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/knowledge"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/lookup"
	"vaultwicket/cmd/internal/vault/order"
)

func init() {
	register(
		command.Command{Name: "properties", OfIndex: true, Run: properties},
		command.Command{Name: "property:read", Run: readProperty},
		command.Command{Name: "aliases", OfIndex: true, Run: aliases},
	)
}

const noFrontmatter = "No frontmatter found."

func properties(v *command.Vault, p command.Values) (command.Reply, error) {
	if command.NamesOneFile(p) {
		return noteProperties(v, p)
	}
	files, err := v.ScopedFiles(p)
	if err != nil {
		return command.Reply{}, err
	}
	types, err := PropertyTypes(v)
	if err != nil {
		return command.Reply{}, err
	}
	uses := typed(allProperties.Of(&v.Host.Memo, files), types)
	switch {
	case p.Has("name"):
		return command.Text(strconv.Itoa(countOf(uses, p["name"]))), nil
	case p.Has("total"):
		return command.Text(strconv.Itoa(len(uses))), nil
	case p["sort"] == "count":
		slices.SortStableFunc(uses, func(a, b *propertyUse) int { return cmp.Compare(b.Count, a.Count) })
	}
	return command.Text(printUses(uses, p)), nil
}

// propertyUse is one property of the vault. Names that differ in case alone
// are one; the first casing that is met represents all.
type propertyUse struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Count int    `json:"count"` // a number, unlike in other commands
}

// always are the properties that the app lists even where nothing uses them.
var always = [...]string{"aliases", "cssclasses", "tags"}

// ownTypes are the types that the app gives the properties that it reads itself,
// whatever a note has there.
var ownTypes = map[string]string{"aliases": "aliases", "cssclasses": "multitext", "tags": "tags"}

var allProperties = knowledge.Derived[[]propertyUse]{Name: "properties", Compute: propertyUses}

// PropertyNames returns the names of the properties of the notes that the caller may see.
func PropertyNames(v *command.Vault) ([]string, error) {
	files, err := v.ScopedFiles(nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, use := range allProperties.Of(&v.Host.Memo, files) {
		names = append(names, use.Name)
	}
	return names, nil
}

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

func printUses(uses []*propertyUse, p command.Values) string {
	switch p["format"] {
	case command.FormatJSON:
		return indented(uses)
	case command.FormatTSV:
		table := command.Table{}
		for _, use := range uses {
			table.Rows = append(table.Rows, []string{use.Name, use.Type, strconv.Itoa(use.Count)})
		}
		return table.Print(command.FormatTSV)
	}
	var out strings.Builder
	for _, use := range uses {
		out.WriteString(use.Name)
		if p.Has("counts") {
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

// PropertyTypes returns the types that the user set, by lower-case name.
func PropertyTypes(v *command.Vault) (map[string]string, error) {
	var file struct {
		Types map[string]string `json:"types"`
	}
	if err := v.ReadConfig("types.json", &file); err != nil {
		return nil, err
	}
	types := make(map[string]string, len(file.Types))
	for name, kind := range file.Types {
		types[strings.ToLower(name)] = kind
	}
	return types, nil
}

// noteProperties shows the block of one note. One that is not YAML is none.
func noteProperties(v *command.Vault, p command.Values) (command.Reply, error) {
	found, err := propertiesOfNote(v, p)
	if err != nil {
		return command.Reply{}, err
	}
	if p.Has("name") {
		_, ok := found.Lookup(p["name"])
		return command.Text(pick(ok, "1", "0")), nil
	}
	switch {
	case p.Has("total") && len(found) > 0:
		return command.Text(strconv.Itoa(len(found))), nil
	case len(found) == 0:
		return command.Text(noFrontmatter), nil
	case p["format"] == command.FormatJSON:
		return command.Text(found.JSON()), nil
	case p["format"] == command.FormatTSV:
		table := command.Table{}
		for _, property := range found {
			table.Rows = append(table.Rows, []string{property.Key, property.Value.String()})
		}
		return table.Reply(command.FormatTSV), nil
	}
	return command.Text(found.YAML()), nil
}

// propertiesOfNote reads those of the note that a request means.
func propertiesOfNote(v *command.Vault, p command.Values) (frontmatter.Properties, error) {
	text, found, err := v.ScannedNote(p)
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
func readProperty(v *command.Vault, p command.Values) (command.Reply, error) {
	found, err := propertiesOfNote(v, p)
	if err != nil {
		return command.Reply{}, err
	}
	property, ok := found.Lookup(p["name"])
	if !ok {
		return command.Reply{}, noProperty(p["name"], found)
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
		return command.Text("(empty)"), nil
	}
	return command.Text(text), nil
}

// noProperty names the properties that the note has instead.
func noProperty(wanted string, found frontmatter.Properties) error {
	if len(found) == 0 {
		return command.NotFoundNearest.Advise("property:set sets one").Failure("Property %q not found. The note has no properties.", command.Verbatim(wanted))
	}
	var names []string
	for _, property := range found {
		names = append(names, property.Key)
	}
	return command.NotFoundNearest.DidYouMean(lookup.NearestNames(wanted, names), "Property %q not found. The note has %s.", command.Verbatim(wanted), command.List(names, maxListedNames))
}

// maxListedNames bounds how many properties an error lists.
const maxListedNames = 20

// aliasUse is another name of a note.
type aliasUse struct {
	name string
	file *index.File
}

var allAliases = knowledge.Derived[[]aliasUse]{Name: "aliases", Compute: aliasUses}

func aliasUses(files []*index.File) (uses []aliasUse) {
	for i, names := range index.Collect(files, func(f index.Facts) []string { return frontmatter.Aliases(f.Properties()) }) {
		for _, name := range names {
			uses = append(uses, aliasUse{name, files[i]})
		}
	}
	return uses
}

func aliases(v *command.Vault, p command.Values) (command.Reply, error) {
	files, err := v.ScopedFiles(p)
	if err != nil {
		return command.Reply{}, err
	}
	var uses []aliasUse
	if command.NamesOneFile(p) {
		uses = aliasUses(files)
	} else {
		uses = allAliases.Of(&v.Host.Memo, files)
	}
	table := command.Table{}
	for _, use := range uses {
		table.Add(p.Has("verbose"), use.name, use.file.Path.String())
	}
	if p.Has("total") {
		return command.Text(strconv.Itoa(len(table.Rows))), nil
	}
	if len(table.Rows) == 0 {
		return command.Nothing("", "%s has no aliases", command.Place(p["file"]+p["path"])), nil
	}
	return table.Reply(command.FormatTSV), nil
}
