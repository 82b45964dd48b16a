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
		Command{Name: "property:set", Plan: setProperty, Verify: meansSet},
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
				left, err := change.PropertiesIn(c.Now.Text.ForProgram())
				if _, isLeft := left.Lookup(p["name"]); err != nil || isLeft {
					return change.Verdict{}, nil
				}
				return change.Beyond(c.Before.Text.ForProgram(), c.Now.Text.ForProgram(), "", p["name"]), nil
			},
		},
	)
}

const noFrontmatter = "No frontmatter found."

func properties(v *call.Vault, p call.Values) (answer.Reply, error) {
	if call.NamesOneFile(p) {
		// A block that is not YAML is none.
		found, err := propertiesOfNote(v, p)
		if err != nil {
			return answer.Reply{}, err
		}
		if p.Has("name") {
			count := "0"
			if _, ok := found.Lookup(p["name"]); ok {
				count = "1"
			}
			return answer.From(v.Disk, count), nil
		}
		switch {
		case p.Has("total") && len(found) > 0:
			return answer.Number(len(found)), nil
		case len(found) == 0:
			return answer.Text(noFrontmatter), nil
		case p["format"] == answer.FormatJSON:
			return answer.From(v.Disk, found.JSON()), nil
		case p["format"] == answer.FormatTSV:
			table := answer.Table{}
			for _, property := range found {
				table.Rows = append(table.Rows, []string{property.Key, property.Value.String()})
			}
			return table.Reply(v.Disk, answer.FormatTSV), nil
		}
		return answer.From(v.Disk, found.YAML()), nil
	}
	files, err := v.ScopedFiles(p)
	if err != nil {
		return answer.Reply{}, err
	}
	types, err := propertyTypes(v)
	if err != nil {
		return answer.Reply{}, err
	}
	uses := typed(allProperties.Of(&v.Host.Memo, files), types)
	switch {
	case p.Has("name"):
		count := 0
		if place := slices.IndexFunc(uses, func(use *propertyUse) bool { return strings.EqualFold(use.Name, p["name"]) }); place >= 0 {
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
		return answer.From(v.Disk, indented(uses)), nil
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

// propertyUse is one property of the vault. Names that differ in case alone
// are one; the first casing that is met represents all.
type propertyUse struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Count int    `json:"count"` // a number, unlike in other commands
}

// ownTypes are the types that the app gives the properties that it reads itself, whatever a note
// has there. It lists them even where nothing uses them.
var ownTypes = map[string]string{"aliases": "aliases", "cssclasses": "multitext", "tags": "tags"}

// allProperties counts the properties of files, in the order in which they are met.
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

// typed returns a copy of uses in the order of listings, with the types that the
// user set, and with what is always listed.
func typed(uses []propertyUse, types map[string]string) []*propertyUse {
	all := answer.Map(uses, func(use propertyUse) *propertyUse { return &use })
	for name := range ownTypes {
		if !slices.ContainsFunc(all, func(u *propertyUse) bool { return strings.EqualFold(u.Name, name) }) {
			all = append(all, &propertyUse{Name: name})
		}
	}
	for _, use := range all {
		name := strings.ToLower(use.Name)
		use.Type = cmp.Or(types[name], ownTypes[name], use.Type)
	}
	slices.SortFunc(all, func(a, b *propertyUse) int { return filenames.Compare(a.Name, b.Name) })
	return all
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

// propertiesOfNote reads those of the note that a request means.
func propertiesOfNote(v *call.Vault, p call.Values) (frontmatter.Properties, error) {
	_, text, err := v.MarkdownNote(p)
	if err != nil {
		return nil, err
	}
	read, err := change.PropertiesIn(text)
	if err != nil {
		return nil, nil // for the app a block it cannot read is no block
	}
	return read, nil
}

// readProperty prints a value: a list one item a line. The sentence for a
// property that is not there was never recorded. The error names the properties that
// the note has instead.
func readProperty(v *call.Vault, p call.Values) (answer.Reply, error) {
	found, err := propertiesOfNote(v, p)
	if err != nil {
		return answer.Reply{}, err
	}
	property, ok := found.Lookup(p["name"])
	wanted := answer.Verbatim(p["name"])
	switch {
	case !ok && len(found) == 0:
		return answer.Reply{}, answer.NotFoundNearest.Advise("property:set sets one").
			Failure("Property %q not found. The note has no properties.", wanted)
	case !ok:
		names := answer.Map(found, func(property frontmatter.Property) string { return property.Key })
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

// maxListedNames bounds how many properties an error lists.
const maxListedNames = 20

// aliasUse is another name of a note.
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

// setProperty changes the lines of one property. The app writes the whole block
// anew, which loses comments and every other form.
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
		return settingAll(v, p, notes, value)
	}
	t, text, err := v.MarkdownNote(p)
	if err != nil {
		return change.Proposal{}, err
	}
	value, err := newValue(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	becomes, err := value.in(t.Path, text)
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
	if shaped, _ := frontmatter.ParseValue(p["value"], ""); !p.Has("type") && !shaped.Equal(becomes) &&
		frontmatter.Get(text, p["name"]).Kind() != frontmatter.Null {
		proposal.AppDoesLess = answer.AppDoesLess.Failure(
			"The app would change the type of the property %q. With type= it does not.",
			answer.Verbatim(p["name"]),
		)
	}
	return proposal, err
}

// removeProperty says the same of a property that is not there: like the app, and
// because a note without it is what was asked for.
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

// settingAll is the change of a property in several notes.
func settingAll(v *call.Vault, p call.Values, notes []disk.Path, value propertyValue) (change.Proposal, error) {
	all, err := editAll(v, notes, "Set "+p["name"]+": "+p["value"], value.Set)
	all.Outdated = outdatedWhere(p, all)
	all.Already = noneMeant
	if len(notes) > 0 {
		all.Already = fmt.Sprintf(
			"the property %q has this value already in all notes that are meant (%d)",
			answer.Verbatim(p["name"]),
			len(notes),
		)
	}
	value.tell(&all)
	return all, err
}

// maxLosing is how many notes are named that lose items of a list.
const maxLosing = 5

// tell adds to a proposal which items of lists the value replaces, and which type a new property gets.
func (x propertyValue) tell(planned *change.Proposal) {
	kind := ""
	var losing []string // notes
	items := 0          // that they lose
	for _, s := range planned.Steps {
		old := frontmatter.Get(s.Before.Text.ForProgram(), x.name)
		now := frontmatter.Get(s.After.Text.ForProgram(), x.name)
		if old.Kind() == frontmatter.Null && !x.given && kind == "" {
			kind = x.typeOf(now)
		}
		left := textsOf(now.Elements())
		lost := slices.DeleteFunc(
			slices.Clone(old.List()),
			func(item frontmatter.Value) bool { return left[itemText(item)] },
		)
		if len(old.List()) < 2 || len(lost) == 0 {
			continue
		}
		if len(planned.Steps) == 1 {
			planned.Message += "\nBefore: " + joinedItems(old.List()) + "\nAfter: " + joinedItems(now.Elements())
		}
		if len(now.Elements()) < len(old.List()) {
			losing = append(losing, s.Path.String())
			items += len(lost)
		}
	}
	if len(losing) > 0 {
		of := answer.List(losing, maxLosing)
		if len(losing) > 1 {
			of = answer.Count(len(losing), "note") + ": " + answer.AndMore(of, len(losing)-maxLosing)
		}
		planned.Loss = fmt.Sprintf("removes %s from the property %q of %s", answer.Count(items, "item"), answer.Verbatim(x.name), of)
	}
	if len(planned.Steps) > 1 && planned.Loss != "" {
		planned.Message += "\nThe change " + planned.Loss
	}
	if kind != "" {
		planned.Message += "\nType: " + kind
	}
}

// typeOf returns the word for the type that a new property gets.
func (x propertyValue) typeOf(value frontmatter.Value) string {
	kind := value.Type()
	if x.assigned {
		kind = x.as
	}
	if kind == frontmatter.TypeMultitext || value.Kind() == frontmatter.List {
		return "list"
	}
	return string(kind)
}

// joinedItems returns the texts of items on one line.
func joinedItems(items []frontmatter.Value) string {
	return strings.Join(answer.Map(items, itemText), ", ")
}

// noneMeant is why nothing changes where several notes could be meant and none is.
const noneMeant = "there is no note that is meant"

// propertyValue is what a request sets a property to.
type propertyValue struct {
	name, typed     string
	given, assigned bool // the type, by the request or in the vault
	as              frontmatter.Type
	value           frontmatter.Value
}

// newValue reads the value of a request. Its type is the one that is given, else that of a list in
// the note, else the one that the user assigned to the name in this vault, else that of the value
// in the note, else that of the shape of the value. A value that does not fit the type is refused.
// The app goes by the shape alone, with which a number replaces a text.
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
		// A word for a day is no value of a date: no one has seen the date that it would become.
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

// in returns the value for the note at a path.
func (x propertyValue) in(at disk.Path, text []byte) (frontmatter.Value, error) {
	old := frontmatter.Get(text, x.name)
	as := old.Type()
	switch kind := old.Kind(); {
	case x.given, kind == frontmatter.Null, kind != frontmatter.List && x.assigned:
		return x.value, nil
	case kind == frontmatter.Map:
		return x.value, answer.Misuse(
			"The property %q of %q has properties of its own; type= replaces them.",
			answer.Verbatim(x.name),
			answer.Verbatim(at.String()),
		)
	case kind == frontmatter.List:
		as = frontmatter.TypeMultitext
	}
	value, err := frontmatter.ParseValue(x.typed, as)
	if err != nil {
		err = answer.Misuse(
			"%v. The property %q of %q is of the type %s; type= sets it to another.",
			err,
			answer.Verbatim(x.name),
			answer.Verbatim(at.String()),
			as,
		)
	}
	return value, err
}

// Set returns the text of the note at a path with the property set.
func (x propertyValue) Set(at disk.Path, text []byte) ([]byte, error) {
	value, err := x.in(at, text)
	if err != nil {
		return nil, err
	}
	edited, err := frontmatter.Set(text, x.name, value)
	return edited, propertyError(at, text, err)
}

// assignedType returns the type that a name has in a vault. The three that the
// app has for itself are lists everywhere.
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

// propertyError explains why the properties of a note cannot be changed, with the line
// of the note: those of the errors are counted from the start of the block. It is nil for no error.
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

// meansSet judges a property that was set. Without type= the app goes by what the
// value looks like, where this program goes by the type that the vault gives the
// name.
func meansSet(v *call.Vault, p call.Values, c change.AppChange) (change.Verdict, error) {
	asked, err := newValue(v, p)
	if err != nil {
		return change.Verdict{}, err
	}
	value, err := asked.in(disk.Path{}, c.Before.Text.ForProgram())
	if err != nil {
		return change.Verdict{}, err
	}
	// The app may have made of the request what its shape says where no type was named, a list with its
	// blanks, or null of an empty value.
	candidates := []frontmatter.Value{value}
	if shaped, err := frontmatter.ParseValue(p["value"], ""); err == nil && !p.Has("type") {
		candidates = append(candidates, shaped)
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
	left, err := change.PropertiesIn(c.Now.Text.ForProgram())
	if err != nil {
		return change.Verdict{}, nil
	}
	set, ok := left.Lookup(p["name"])
	if !ok || !slices.ContainsFunc(candidates, set.Value.Equal) {
		return change.Verdict{}, nil
	}
	return change.Beyond(c.Before.Text.ForProgram(), c.Now.Text.ForProgram(), "", p["name"]), nil
}

// listChange is what is done to the items of a list property.
type listChange struct {
	said  string // what the answer begins with
	items func(items, asked []frontmatter.Value) []frontmatter.Value
	// already is said of a note in which nothing changes, with the name of the property and its path; alreadyAll of
	// several, with the name and their number.
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

// changeList returns the command that changes the items of a list property, of one note or of several. A list is made
// if it is missing, and stays without any item. What is not a list is refused, unless the vault has the name as that of a list:
// then it is one of a single item.
func changeList(how listChange) func(*call.Vault, call.Values) (change.Proposal, error) {
	return func(v *call.Vault, p call.Values) (change.Proposal, error) {
		asked, err := frontmatter.ParseValue(p["value"], frontmatter.TypeMultitext)
		if err != nil {
			return change.Proposal{}, err
		}
		types, err := propertyTypes(v)
		if err != nil {
			return change.Proposal{}, err
		}
		as, _ := assignedType(types, p["name"])
		edit := func(at disk.Path, text []byte) ([]byte, error) {
			all, err := change.PropertiesIn(text)
			if err != nil {
				return nil, propertyError(at, text, err)
			}
			old, _ := all.Lookup(p["name"])
			items := slices.Clone(old.Value.List())
			switch kind := old.Value.Kind(); {
			case kind == frontmatter.List || kind == frontmatter.Null:
			case as == frontmatter.TypeMultitext && kind != frontmatter.Map:
				items = []frontmatter.Value{old.Value}
			default:
				kind := answer.BadValue.Advise("property:set with type=list makes it a list")
				return nil, kind.Failure(
					"The property %q of %q is not a list.",
					answer.Verbatim(p["name"]),
					answer.Verbatim(at.String()),
				)
			}
			now := how.items(items, asked.List())
			if len(now) == len(items) {
				return text, nil
			}
			edited, err := frontmatter.Set(text, p["name"], frontmatter.ListOf(now))
			return edited, propertyError(at, text, err)
		}
		if !p.Has("folder") && !p.Has("query") {
			t, text, err := v.MarkdownNote(p)
			if err != nil {
				return change.Proposal{}, err
			}
			edited, err := edit(t.Path, text)
			proposal := change.ProposeChange(
				t.Path,
				text,
				edited,
				how.said+p["name"]+": "+itemsChanged(text, edited, p, asked.List()),
			)
			name := answer.Verbatim(p["name"])
			note := answer.Verbatim(t.Path.String())
			proposal.Already = fmt.Sprintf(how.already, name, note)
			return proposal, err
		}
		notes, err := severalNotes(v, p)
		if err != nil {
			return change.Proposal{}, err
		}
		all, err := editAll(v, notes, how.said+p["name"]+": "+p["value"], edit)
		all.Outdated = outdatedWhere(p, all)
		all.Already = noneMeant
		if len(notes) > 0 {
			all.Already = fmt.Sprintf(how.alreadyAll, answer.Verbatim(p["name"]), len(notes))
		}
		return all, err
	}
}

// itemsChanged returns which of the items that were asked for were added to the list of a note or removed from it, and
// which were not.
func itemsChanged(before, after []byte, p call.Values, asked []frontmatter.Value) string {
	list := frontmatter.Get(before, p["name"]).Elements()
	old := textsOf(list)
	added := len(frontmatter.Get(after, p["name"]).Elements()) > len(list)
	var changed, kept []string
	for _, item := range asked {
		text := item.Text()
		if wasThere := old[text]; wasThere == added {
			kept = append(kept, text)
		} else {
			changed = append(changed, text)
		}
	}
	switch {
	case len(kept) == 0 || len(changed) == 0:
		return p["value"]
	case added:
		return strings.Join(changed, ", ") + "\nIn the list already: " + strings.Join(kept, ", ")
	}
	return strings.Join(changed, ", ") + "\nNot in the list: " + strings.Join(kept, ", ")
}

// likeItems returns items in the type that all items of a list have, where they fit it.
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
		if shaped, err := frontmatter.ParseValue(item.Text(), ""); err == nil && shaped.Kind() == kind {
			return shaped
		}
		return item
	})
}

// withItems returns a list with those of some items at its end whose texts it does not have.
func withItems(list, items []frontmatter.Value) []frontmatter.Value {
	all := slices.Clone(list)
	there := textsOf(list)
	for _, item := range items {
		if !there[itemText(item)] {
			all = append(all, item)
		}
		there[itemText(item)] = true
	}
	return all
}

// withoutItems returns a list without those of its elements that have the text of an item.
func withoutItems(list, items []frontmatter.Value) []frontmatter.Value {
	gone := textsOf(items)
	return slices.DeleteFunc(
		slices.Clone(list),
		func(element frontmatter.Value) bool { return gone[itemText(element)] || gone[element.String()] },
	)
}

// itemText returns an item as it is written, without its quotes.
func itemText(item frontmatter.Value) string { return cmp.Or(item.Text(), item.String()) }

// textsOf returns the texts of items, of numbers both as they are written and as they are printed.
func textsOf(list []frontmatter.Value) map[string]bool {
	texts := make(map[string]bool, len(list))
	for _, element := range list {
		texts[element.String()] = true
		texts[itemText(element)] = true
	}
	return texts
}

// severalNotes are those of a folder or a search.
func severalNotes(v *call.Vault, p call.Values) ([]disk.Path, error) {
	if call.NamesOneFile(p) {
		return nil, answer.Misuse(
			"Use file=<name> or path=<path> for one note, or folder=<path> and query=<text> for several, not both.",
		)
	}
	return notesFor(v, p)
}
