package handlers

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
)

func init() {
	register(
		Command{Name: "properties", OfIndex: true, Run: properties},
		Command{Name: "property:read", Run: readProperty},
		Command{Name: "aliases", OfIndex: true, Run: aliases},
		Command{Name: "property:set", Plan: setProperty, Verify: verifySet},
		Command{Name: "property:add", Plan: changeList(addsItems)},
		Command{Name: "property:remove-item", Plan: changeList(removesItems)},
		Command{
			Name: "property:remove",
			Plan: removeProperty,
			Verify: func(_ *call.Vault, p call.Values, c change.AppChange) (change.Verdict, error) {
				wanted, err := frontmatter.Remove(c.Before.Text.ForProgram(), p["name"])
				if err != nil {
					return change.Verdict{}, nil
				}
				if verdict := change.Properties(wanted, c.Now.Text.ForProgram()); verdict.Done {
					return verdict, nil
				}
				remaining, err := change.PropertiesIn(c.Now.Text.ForProgram())
				if _, isLeft := remaining.Lookup(p["name"]); err != nil || isLeft {
					return change.Verdict{}, nil
				}
				return change.Beyond(c.Before.Text.ForProgram(), c.Now.Text.ForProgram(), "", p["name"]), nil
			},
		},
	)
}

const noFrontmatter = "No frontmatter found."

// properties lists the properties of the vault, or of a note if one is given.
func properties(v *call.Vault, p call.Values) (answer.Reply, error) {
	if call.NamesOneFile(p) {
		return listNoteProperties(v, p)
	}
	files, err := v.ScopedFiles(p)
	if err != nil {
		return answer.Reply{}, err
	}
	types, err := propertyTypes(v)
	if err != nil {
		return answer.Reply{}, err
	}
	uses := withTypes(allProperties.Of(&v.Host.Memo, files), types)
	switch {
	case p.Has("name"):
		isWanted := func(use *propertyUse) bool { return strings.EqualFold(use.Name, p["name"]) }
		count := 0
		if place := slices.IndexFunc(uses, isWanted); place >= 0 {
			count = uses[place].Count
		}
		return answer.Number(count), nil
	case p.Has("total"):
		return answer.Number(len(uses)), nil
	case p["sort"] == "count":
		slices.SortStableFunc(uses, func(a, b *propertyUse) int { return cmp.Compare(b.Count, a.Count) })
	}
	switch p["format"] {
	case answer.FormatJSON:
		return answer.From(v.Disk, indentedJSON(uses)), nil
	case answer.FormatTSV:
		table := answer.Table{}
		for _, use := range uses {
			table.Rows = append(table.Rows, []string{use.Name, use.Type, strconv.Itoa(use.Count)})
		}
		return answer.From(v.Disk, table.Print(answer.FormatTSV)), nil
	}
	var out strings.Builder
	for _, use := range uses {
		out.WriteString(use.Name)
		if p.Has("counts") {
			out.WriteString(": " + strconv.Itoa(use.Count))
		}
		out.WriteByte('\n')
	}
	return answer.From(v.Disk, out.String()), nil
}

// listNoteProperties lists the properties of a note. A block that is not valid YAML counts as no properties.
func listNoteProperties(v *call.Vault, p call.Values) (answer.Reply, error) {
	noteProperties, err := propertiesOfNote(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	if p.Has("name") {
		count := 0
		if _, ok := noteProperties.Lookup(p["name"]); ok {
			count = 1
		}
		return answer.Number(count), nil
	}
	switch {
	case len(noteProperties) == 0:
		return answer.Text(noFrontmatter), nil
	case p.Has("total"):
		return answer.Number(len(noteProperties)), nil
	case p["format"] == answer.FormatJSON:
		return answer.From(v.Disk, noteProperties.JSON()), nil
	case p["format"] == answer.FormatTSV:
		table := answer.Table{}
		for _, property := range noteProperties {
			table.Rows = append(table.Rows, []string{property.Key, property.Value.String()})
		}
		return table.Reply(v.Disk, answer.FormatTSV), nil
	}
	return answer.From(v.Disk, noteProperties.YAML()), nil
}

// propertyUse is a property of the vault. Names that differ only in case are the same property; the first spelling
// found is the one that is printed.
type propertyUse struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Count int    `json:"count"` // a number, unlike in other commands
}

// ownTypes are the types of the properties that the app itself uses, whatever values notes have. The app lists them
// even if no note has them.
var ownTypes = map[string]string{"aliases": "aliases", "cssclasses": "multitext", "tags": "tags"}

// allProperties counts the properties of files, in the order of their first use.
var allProperties = search.Derived[[]propertyUse]{Name: "properties", Compute: func(files []*index.File) []propertyUse {
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
}}

// propertyNames returns the names of the properties of the notes that the caller may see.
func propertyNames(v *call.Vault) ([]string, error) {
	files, err := v.ScopedFiles(nil)
	if err != nil {
		return nil, err
	}
	return answer.Map(allProperties.Of(&v.Host.Memo, files), func(use propertyUse) string { return use.Name }), nil
}

// withTypes returns a copy of uses in the order of listings, with the types that the user assigned, and with the
// properties that are always listed.
func withTypes(uses []propertyUse, types map[string]string) []*propertyUse {
	typed := answer.Map(uses, func(use propertyUse) *propertyUse { return &use })
	for name := range ownTypes {
		if !slices.ContainsFunc(typed, func(u *propertyUse) bool { return strings.EqualFold(u.Name, name) }) {
			typed = append(typed, &propertyUse{Name: name})
		}
	}
	for _, use := range typed {
		name := strings.ToLower(use.Name)
		use.Type = cmp.Or(types[name], ownTypes[name], use.Type)
	}
	slices.SortFunc(typed, func(a, b *propertyUse) int { return filenames.Compare(a.Name, b.Name) })
	return typed
}

// indentedJSON returns a value as JSON in the app's layout, without escapes for < > &.
func indentedJSON(value any) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return "[]" // does not happen: all values printed here can be encoded
	}
	return out.String()
}

// propertyTypes returns the types that the user assigned to properties, by lower-case name.
func propertyTypes(v *call.Vault) (map[string]string, error) {
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

// propertiesOfNote returns the properties of the note that a request means. Invalid YAML gives none.
func propertiesOfNote(v *call.Vault, p call.Values) (frontmatter.Properties, error) {
	_, text, err := v.MarkdownNote(p)
	if err != nil {
		return nil, err
	}
	properties, err := change.PropertiesIn(text)
	if err != nil {
		return nil, nil // the app also treats a block that it cannot parse as missing
	}
	return properties, nil
}

// readProperty prints the value of a property, a list with one item per line. What the app prints for a missing
// property is not known; here the error names the properties of the note.
func readProperty(v *call.Vault, p call.Values) (answer.Reply, error) {
	properties, err := propertiesOfNote(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	property, ok := properties.Lookup(p["name"])
	wanted := answer.Verbatim(p["name"])
	switch {
	case !ok && len(properties) == 0:
		return answer.Reply{}, answer.NotFoundNearest.Advise("property:set sets one").
			Failure("Property %q not found. The note has no properties.", wanted)
	case !ok:
		names := answer.Map(properties, func(property frontmatter.Property) string { return property.Key })
		return answer.Reply{}, answer.NotFoundNearest.DidYouMean(
			lookup.NearestNames(p["name"], names),
			"Property %q not found. The note has %s.",
			wanted,
			answer.List(names, maxListedNames),
		)
	}
	text := strings.Join(answer.Map(property.Value.Elements(), frontmatter.Value.String), "\n")
	if text == "" {
		return answer.Text("(empty)"), nil
	}
	return answer.From(v.Disk, text), nil
}

// maxListedNames is how many properties an error lists.
const maxListedNames = 20

// aliasUse is an alias of a note.
type aliasUse struct {
	name string
	file *index.File
}

var allAliases = search.Derived[[]aliasUse]{Name: "aliases", Compute: func(files []*index.File) (uses []aliasUse) {
	for i, names := range index.Collect(files, func(f index.Facts) []string { return frontmatter.Aliases(f.Properties()) }) {
		for _, name := range names {
			uses = append(uses, aliasUse{name, files[i]})
		}
	}
	return uses
}}

func aliases(v *call.Vault, p call.Values) (answer.Reply, error) {
	files, err := v.ScopedFiles(p)
	if err != nil {
		return answer.Reply{}, err
	}
	var uses []aliasUse
	if call.NamesOneFile(p) {
		uses = allAliases.Compute(files)
	} else {
		uses = allAliases.Of(&v.Host.Memo, files)
	}
	table := answer.Table{Pairs: p.Has("verbose")}
	for _, use := range uses {
		table.Add(use.name, use.file.Path.String())
	}
	none := answer.Nothing("No aliases found.", "%s has no aliases", answer.Place(p["file"]+p["path"]))
	return tableReply(v, p, table, answer.FormatTSV, none), nil
}

// setProperty plans to set a property. It changes only the lines of that property, while the app rewrites the whole
// block and loses comments and formatting.
func setProperty(v *call.Vault, p call.Values) (change.Proposal, error) {
	if p.Has("folder") || p.Has("query") {
		notes, err := severalNotes(v, p)
		if err != nil {
			return change.Proposal{}, err
		}
		value, err := newValue(v, p)
		if err != nil {
			return change.Proposal{}, err
		}
		return setInAll(v, p, notes, value)
	}
	t, text, err := v.MarkdownNote(p)
	if err != nil {
		return change.Proposal{}, err
	}
	value, err := newValue(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	inNote, err := value.in(t.Path, text)
	if err != nil {
		return change.Proposal{}, err
	}
	edited, err := value.Set(t.Path, text)
	proposal := change.ProposeChange(t.Path, text, edited, "Set "+p["name"]+": "+p["value"])
	proposal.Already = fmt.Sprintf(
		"the property %q of %q has this value already",
		answer.Verbatim(p["name"]),
		answer.Verbatim(t.Path.String()),
	)
	value.tell(&proposal)
	if inferred, _ := frontmatter.ParseValue(p["value"], ""); !p.Has("type") && !inferred.Equal(inNote) &&
		frontmatter.Get(text, p["name"]).Kind() != frontmatter.Null {
		proposal.AppDoesLess = answer.AppDoesLess.Failure(
			"The app would change the type of the property %q. With type= it does not.",
			answer.Verbatim(p["name"]),
		)
	}
	return proposal, err
}

// removeProperty plans to remove a property. It succeeds with the same message if the property is missing, like the
// app: the result is what was requested.
func removeProperty(v *call.Vault, p call.Values) (change.Proposal, error) {
	t, text, err := v.MarkdownNote(p)
	if err != nil {
		return change.Proposal{}, err
	}
	edited, err := frontmatter.Remove(text, p["name"])
	if err != nil {
		return change.Proposal{}, propertyError(t.Path, text, err)
	}
	proposal := change.ProposeChange(t.Path, text, edited, "Removed: "+p["name"])
	proposal.Already = fmt.Sprintf(
		"%q has no property %q",
		answer.Verbatim(t.Path.String()),
		answer.Verbatim(p["name"]),
	)
	return proposal, nil
}

// setInAll proposes to set a property in several notes.
func setInAll(v *call.Vault, p call.Values, notes []disk.Path, value propertyValue) (change.Proposal, error) {
	proposal, err := editAll(v, notes, "Set "+p["name"]+": "+p["value"], value.Set)
	proposal.Outdated = outdatedWhere(p, proposal)
	proposal.Already = noneMeant
	if len(notes) > 0 {
		proposal.Already = fmt.Sprintf(
			"the property %q has this value already in all notes that are meant (%d)",
			answer.Verbatim(p["name"]),
			len(notes),
		)
	}
	value.tell(&proposal)
	return proposal, err
}

// maxLosing is how many of the notes that lose items of a list are named.
const maxLosing = 5

// tell adds to the messages of a proposal which list items the value replaces, and the type of a new property.
func (pv propertyValue) tell(proposal *change.Proposal) {
	kind := ""
	var losing []string // paths of notes that lose items
	items := 0          // number of items that they lose
	for _, s := range proposal.Steps {
		before := frontmatter.Get(s.Before.Text.ForProgram(), pv.name)
		after := frontmatter.Get(s.After.Text.ForProgram(), pv.name)
		if before.Kind() == frontmatter.Null && !pv.given && kind == "" {
			kind = pv.typeOf(after)
		}
		remaining := textsOf(after.Elements())
		lost := slices.DeleteFunc(
			slices.Clone(before.List()),
			func(item frontmatter.Value) bool { return remaining[itemText(item)] },
		)
		if len(before.List()) < 2 || len(lost) == 0 {
			continue
		}
		if len(proposal.Steps) == 1 {
			proposal.Message += "\nBefore: " + joinedItems(before.List()) + "\nAfter: " + joinedItems(after.Elements())
		}
		if len(after.Elements()) < len(before.List()) {
			losing = append(losing, s.Path.String())
			items += len(lost)
		}
	}
	if len(losing) > 0 {
		notes := answer.List(losing, maxLosing)
		if len(losing) > 1 {
			notes = answer.Count(len(losing), "note") + ": " + answer.AndMore(notes, len(losing)-maxLosing)
		}
		proposal.Loss = fmt.Sprintf("removes %s from the property %q of %s", answer.Count(items, "item"), answer.Verbatim(pv.name), notes)
	}
	if len(proposal.Steps) > 1 && proposal.Loss != "" {
		proposal.Message += "\nThe change " + proposal.Loss
	}
	if kind != "" {
		proposal.Message += "\nType: " + kind
	}
}

// typeOf returns the name of the type that a new property gets.
func (pv propertyValue) typeOf(value frontmatter.Value) string {
	kind := value.Type()
	if pv.assigned {
		kind = pv.as
	}
	if kind == frontmatter.TypeMultitext || value.Kind() == frontmatter.List {
		return "list"
	}
	return string(kind)
}

// joinedItems returns the texts of items in one line.
func joinedItems(items []frontmatter.Value) string {
	return strings.Join(answer.Map(items, itemText), ", ")
}

// noneMeant is the reason why nothing changes if a folder or a query matches no note.
const noneMeant = "there is no note that is meant"

// propertyValue is the value that a request sets a property to.
type propertyValue struct {
	name, typed     string
	given, assigned bool // the type comes from the request, or is assigned in the vault
	as              frontmatter.Type
	value           frontmatter.Value
}

// newValue parses the value of a request. Its type is, in this order: that of type=; list, if the note has a list;
// the type that the user assigned to the name in this vault; the type of the value in the note; the type that the
// text looks like. A value that does not fit the type is rejected. The app only uses the last rule, so a number can
// replace a text.
func newValue(v *call.Vault, p call.Values) (propertyValue, error) {
	as := frontmatter.Type(p["type"])
	assigned := false
	if !p.Has("type") {
		types, err := propertyTypes(v)
		if err != nil {
			return propertyValue{}, err
		}
		as, assigned = assignedType(types, p["name"])
	}
	var value frontmatter.Value
	var err error
	if as == "" {
		value, err = frontmatter.InferValue(p["value"])
	} else {
		value, err = frontmatter.ParseValue(p["value"], as)
	}
	if err == nil {
		return propertyValue{p["name"], p["value"], p.Has("type"), assigned, as, value}, nil
	}
	hint := ""
	if as == frontmatter.TypeDate {
		// A word for a day is not accepted as a date: nobody would have seen the date that it becomes. The hint names
		// it.
		if days, err := call.DaysAhead(p["value"], v.Today()); err == nil && days.First == days.Last {
			hint = fmt.Sprintf(
				"%q is value=%s",
				answer.Verbatim(excerpt.Short(p["value"])),
				days.First.Format(time.DateOnly),
			)
		}
	}
	if assigned {
		return propertyValue{}, answer.MisuseWithHint(
			hint,
			"%v. In this vault %q is of the type %s; type= sets it to another.",
			err,
			answer.Verbatim(p["name"]),
			as,
		)
	}
	return propertyValue{}, answer.MisuseWithHint(hint, "%v", err)
}

// in returns the value in the type that the note at a path requires.
func (pv propertyValue) in(at disk.Path, text []byte) (frontmatter.Value, error) {
	old := frontmatter.Get(text, pv.name)
	kindOfOld := old.Type()
	switch kind := old.Kind(); {
	case pv.given, kind == frontmatter.Null, kind != frontmatter.List && pv.assigned:
		return pv.value, nil
	case kind == frontmatter.Map:
		return pv.value, answer.Misuse(
			"The property %q of %q has properties of its own; type= replaces them.",
			answer.Verbatim(pv.name),
			answer.Verbatim(at.String()),
		)
	case kind == frontmatter.List:
		kindOfOld = frontmatter.TypeMultitext
	}
	value, err := frontmatter.ParseValue(pv.typed, kindOfOld)
	if err != nil {
		err = answer.Misuse(
			"%v. The property %q of %q is of the type %s; type= sets it to another.",
			err,
			answer.Verbatim(pv.name),
			answer.Verbatim(at.String()),
			kindOfOld,
		)
	}
	return value, err
}

// Set returns the text of the note at a path with the property set.
func (pv propertyValue) Set(at disk.Path, text []byte) ([]byte, error) {
	value, err := pv.in(at, text)
	if err != nil {
		return nil, err
	}
	edited, err := frontmatter.Set(text, pv.name, value)
	return edited, propertyError(at, text, err)
}

// assignedType returns the type that the user assigned to a property name. The properties of ownTypes are always lists.
func assignedType(types map[string]string, name string) (as frontmatter.Type, ok bool) {
	name = strings.ToLower(name)
	switch set := types[name]; set {
	case "text", "number", "checkbox", "date", "datetime", "multitext":
		return frontmatter.Type(set), true
	case "tags", "aliases":
		return frontmatter.TypeMultitext, true
	}
	if ownTypes[name] != "" {
		return frontmatter.TypeMultitext, true
	}
	return "", false
}

// propertyError returns the error for properties that cannot be changed, nil for nil. It converts line numbers of the
// block to line numbers of the note.
func propertyError(at disk.Path, text []byte, err error) error {
	if err == nil {
		return nil
	}
	line := 0
	reason := err.Error()
	var malformed *frontmatter.Malformed
	var refusal *frontmatter.Refusal
	switch {
	case errors.As(err, &malformed):
		line = malformed.Line
		reason = malformed.Reason
	case errors.As(err, &refusal):
		line = refusal.Line
		reason = refusal.Reason
	}
	if line == 0 {
		return answer.Failure("The properties of %q cannot be changed: %s.", answer.Verbatim(at.String()), reason)
	}
	line += bytes.Count(text[:markdown.Scan(text).Frontmatter.Start], []byte("\n"))
	return answer.Failure(
		"The properties of %q cannot be changed: line %d: %s.",
		answer.Verbatim(at.String()),
		line,
		reason,
	)
}

// verifySet judges a property that the app set. Without type= the app chooses the type by what the value looks like,
// while this program uses the type that the vault assigns to the name.
func verifySet(v *call.Vault, p call.Values, c change.AppChange) (change.Verdict, error) {
	requested, err := newValue(v, p)
	if err != nil {
		return change.Verdict{}, err
	}
	value, err := requested.in(disk.Path{}, c.Before.Text.ForProgram())
	if err != nil {
		return change.Verdict{}, err
	}
	// The app may also have chosen the type that the value looks like, kept the spaces around list items, or stored
	// null for an empty value.
	candidates := []frontmatter.Value{value}
	if inferred, err := frontmatter.ParseValue(p["value"], ""); err == nil && !p.Has("type") {
		candidates = append(candidates, inferred)
	}
	if value.Kind() == frontmatter.List {
		if elements, err := json.Marshal(strings.Split(p["value"], ",")); err == nil {
			if spaced, err := frontmatter.ParseValue(string(elements), frontmatter.TypeMultitext); err == nil {
				candidates = append(candidates, spaced)
			}
		}
	}
	if p["value"] == "" && value.Kind() == frontmatter.String {
		candidates = append(candidates, frontmatter.Value{})
	}
	for i, candidate := range candidates {
		wanted, err := frontmatter.Set(c.Before.Text.ForProgram(), p["name"], candidate)
		if err != nil {
			continue
		}
		if verdict := change.Properties(wanted, c.Now.Text.ForProgram()); verdict.Done {
			if i > 0 && !candidate.Equal(value) {
				verdict.Style = "the app has given the property another type than vaultwicket would have"
			}
			return verdict, nil
		}
	}
	properties, err := change.PropertiesIn(c.Now.Text.ForProgram())
	if err != nil {
		return change.Verdict{}, nil
	}
	set, ok := properties.Lookup(p["name"])
	if !ok || !slices.ContainsFunc(candidates, set.Value.Equal) {
		return change.Verdict{}, nil
	}
	return change.Beyond(c.Before.Text.ForProgram(), c.Now.Text.ForProgram(), "", p["name"]), nil
}

// listChange is a change of the items of a list property.
type listChange struct {
	said  string // the beginning of the message
	items func(items, asked []frontmatter.Value) []frontmatter.Value
	// already is the format of the message if a note does not change, with the name of the property and the path;
	// alreadyAll is for several notes, with the name and their number.
	already, alreadyAll string
}

var addsItems = listChange{
	said: "Added to ",
	items: func(items, asked []frontmatter.Value) []frontmatter.Value {
		return withItems(items, likeItems(items, asked))
	},
	already:    "the property %q of %q has each of these items already",
	alreadyAll: "the property %q has each of these items already in all notes that are meant (%d)",
}

var removesItems = listChange{
	said:       "Removed from ",
	items:      withoutItems,
	already:    "the property %q of %q has no such item",
	alreadyAll: "the property %q has no such item in any note that is meant (%d)",
}

// changeList returns the command that changes the items of a list property in one note or in several.
func changeList(op listChange) func(*call.Vault, call.Values) (change.Proposal, error) {
	return func(v *call.Vault, p call.Values) (change.Proposal, error) {
		requested, err := frontmatter.ParseValue(p["value"], frontmatter.TypeMultitext)
		if err != nil {
			return change.Proposal{}, err
		}
		types, err := propertyTypes(v)
		if err != nil {
			return change.Proposal{}, err
		}
		as, _ := assignedType(types, p["name"])
		edit := func(at disk.Path, text []byte) ([]byte, error) {
			return op.apply(at, text, p["name"], as, requested.List())
		}
		if p.Has("folder") || p.Has("query") {
			return op.inAll(v, p, edit)
		}
		t, text, err := v.MarkdownNote(p)
		if err != nil {
			return change.Proposal{}, err
		}
		edited, err := edit(t.Path, text)
		message := op.said + p["name"] + ": " + itemsChanged(text, edited, p, requested.List())
		proposal := change.ProposeChange(t.Path, text, edited, message)
		name := answer.Verbatim(p["name"])
		note := answer.Verbatim(t.Path.String())
		proposal.Already = fmt.Sprintf(op.already, name, note)
		return proposal, err
	}
}

// apply returns the text of the note at a path with the items of a list property changed. A missing list is created,
// and an empty list is kept. A value that is not a list is rejected, unless as, the type that the vault assigns to
// the name, is a list: then the value counts as a list of one item.
func (op listChange) apply(
	at disk.Path, text []byte, name string, as frontmatter.Type, requested []frontmatter.Value,
) ([]byte, error) {
	noteProperties, err := change.PropertiesIn(text)
	if err != nil {
		return nil, propertyError(at, text, err)
	}
	old, _ := noteProperties.Lookup(name)
	items := slices.Clone(old.Value.List())
	switch kind := old.Value.Kind(); {
	case kind == frontmatter.List || kind == frontmatter.Null:
	case as == frontmatter.TypeMultitext && kind != frontmatter.Map:
		items = []frontmatter.Value{old.Value}
	default:
		kind := answer.BadValue.Advise("property:set with type=list makes it a list")
		return nil, kind.Failure(
			"The property %q of %q is not a list.",
			answer.Verbatim(name),
			answer.Verbatim(at.String()),
		)
	}
	changed := op.items(items, requested)
	if len(changed) == len(items) {
		return text, nil
	}
	edited, err := frontmatter.Set(text, name, frontmatter.ListOf(changed))
	return edited, propertyError(at, text, err)
}

// inAll proposes to change the list property in the notes of a folder or a query.
func (op listChange) inAll(
	v *call.Vault, p call.Values, edit func(at disk.Path, text []byte) ([]byte, error),
) (change.Proposal, error) {
	notes, err := severalNotes(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	proposal, err := editAll(v, notes, op.said+p["name"]+": "+p["value"], edit)
	proposal.Outdated = outdatedWhere(p, proposal)
	proposal.Already = noneMeant
	if len(notes) > 0 {
		proposal.Already = fmt.Sprintf(op.alreadyAll, answer.Verbatim(p["name"]), len(notes))
	}
	return proposal, err
}

// itemsChanged describes which of the requested items were added to the list of a note, or removed from it, and which
// were not.
func itemsChanged(before, after []byte, p call.Values, requested []frontmatter.Value) string {
	list := frontmatter.Get(before, p["name"]).Elements()
	old := textsOf(list)
	added := len(frontmatter.Get(after, p["name"]).Elements()) > len(list)
	var changed, unchanged []string
	for _, item := range requested {
		text := item.Text()
		if wasPresent := old[text]; wasPresent == added {
			unchanged = append(unchanged, text)
		} else {
			changed = append(changed, text)
		}
	}
	switch {
	case len(unchanged) == 0 || len(changed) == 0:
		return p["value"]
	case added:
		return strings.Join(changed, ", ") + "\nIn the list already: " + strings.Join(unchanged, ", ")
	}
	return strings.Join(changed, ", ") + "\nNot in the list: " + strings.Join(unchanged, ", ")
}

// likeItems converts items to the common type of all items of a list, if there is one and the item fits it.
func likeItems(list, items []frontmatter.Value) []frontmatter.Value {
	kind := frontmatter.Null
	for _, element := range list {
		switch {
		case element.Kind() == frontmatter.Null:
		case kind != frontmatter.Null && kind != element.Kind():
			return items
		default:
			kind = element.Kind()
		}
	}
	return answer.Map(items, func(item frontmatter.Value) frontmatter.Value {
		if inferred, err := frontmatter.ParseValue(item.Text(), ""); err == nil && inferred.Kind() == kind {
			return inferred
		}
		return item
	})
}

// withItems appends the items to a list whose texts it does not contain yet.
func withItems(list, items []frontmatter.Value) []frontmatter.Value {
	extended := slices.Clone(list)
	present := textsOf(list)
	for _, item := range items {
		if !present[itemText(item)] {
			extended = append(extended, item)
		}
		present[itemText(item)] = true
	}
	return extended
}

// withoutItems returns a list without the elements that have the text of one of the items.
func withoutItems(list, items []frontmatter.Value) []frontmatter.Value {
	removed := textsOf(items)
	return slices.DeleteFunc(
		slices.Clone(list),
		func(element frontmatter.Value) bool { return removed[itemText(element)] || removed[element.String()] },
	)
}

// itemText returns the text of an item as written, without quotes.
func itemText(item frontmatter.Value) string { return cmp.Or(item.Text(), item.String()) }

// textsOf returns the set of texts of items; for numbers both as they are written and as they are printed.
func textsOf(list []frontmatter.Value) map[string]bool {
	texts := make(map[string]bool, len(list))
	for _, element := range list {
		texts[element.String()] = true
		texts[itemText(element)] = true
	}
	return texts
}

// severalNotes returns the notes of a folder or a query.
func severalNotes(v *call.Vault, p call.Values) ([]disk.Path, error) {
	if call.NamesOneFile(p) {
		return nil, answer.Misuse(
			"Use file=<name> or path=<path> for one note, or folder=<path> and query=<text> for several, not both.",
		)
	}
	return notesFor(v, p)
}
