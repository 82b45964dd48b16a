package handlers

import (
	"cmp"
	"errors"
	"fmt"
	gopath "path"
	"slices"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/bases"
	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
)

func init() {
	register(
		Command{Name: "base:create", Plan: createInBase, Verify: filledIn("the app has filled in the note by itself")},
		Command{Name: "base:set", Plan: setInBase},
		Command{Name: "base:add-view", Plan: restructuring(addView)},
		Command{Name: "base:set-view", Plan: restructuring(setView)},
		Command{Name: "base:remove-view", Plan: restructuring(removeView)},
		Command{Name: "base:set-formula", Plan: restructuring(setFormula)},
	)
}

// createInBase plans a note that passes the filters of a view, as far as they state plainly what they require, with a
// key for each property that the view shows. Like the app, it accepts the name of a view that does not exist, appends a
// number to a note name that is in use, and reports the name without the folder.
func createInBase(v *call.Vault, p call.Values) (change.Proposal, error) {
	path, err := base(v, p)
	if err != nil {
		return change.Proposal{}, adviseNewBase(err)
	}
	base, _, err := readBase(v, path, "")
	if err != nil {
		return change.Proposal{}, adviseNewBase(err)
	}
	name := strings.TrimSuffix(cmp.Or(p["name"], "Untitled"), ".md")
	if strings.ContainsAny(name, `/\`) {
		return change.Proposal{}, answer.Misuse(
			"Invalid value for name: %s. It is a name without a folder.",
			answer.Verbatim(p["name"]),
		)
	}
	shown, err := base.View(p["view"])
	if err != nil {
		shown = bases.View{} // like the app, accept the name of a view that does not exist
	}
	implied := base.Implied(shown)
	folder := strings.Trim(cmp.Or(implied.Folder, gopath.Dir("/"+path.String())), "/")
	wanted := strings.TrimPrefix(folder+"/"+name, "/")
	target, err := freePath(v, wanted)
	if err != nil {
		return change.Proposal{}, err
	}
	text, err := withImplied([]byte(p["content"]), implied)
	if err != nil {
		return change.Proposal{}, answer.Failure("File %q cannot be created: %v.", answer.Verbatim(target.String()), err)
	}
	if p.Has("group") {
		if text, err = withGroup(v, shown, target, text, p["group"]); err != nil {
			return change.Proposal{}, err
		}
	}
	proposal := change.Proposal{Message: "Created: " + gopath.Base(target.String()), Note: target}
	text, proposal.Notice, err = fitToView(v, base, shown, path, target, text, implied.Links)
	proposal.Steps = []change.Step{{Path: target, After: change.Existing(text)}}
	return proposal, err
}

// freePath returns the path of a new note, given without extension. It appends a number if a file of that name exists.
func freePath(v *call.Vault, wanted string) (disk.Path, error) {
	for n := range maxNumbered {
		typed := wanted + ".md"
		if n > 0 {
			typed = wanted + " " + strconv.Itoa(n) + ".md"
		}
		target, err := v.PathOf(typed)
		if err != nil {
			return target, answer.Failure("File %q cannot be created: %v.", answer.Verbatim(typed), err)
		}
		isFree, err := v.Disk.IsFree(target)
		if err != nil {
			return target, answer.ReadError(target.String(), err)
		}
		if isFree {
			return target, nil
		}
	}
	return disk.Path{}, answer.AlreadyExists.Failure("File %q already exists.", answer.Verbatim(wanted+".md"))
}

// withGroup returns the text of a new note with the property by which a view groups set to a value.
func withGroup(v *call.Vault, shown bases.View, target disk.Path, text []byte, group string) ([]byte, error) {
	if shown.Group == nil {
		return nil, answer.BadValue.Failure("The view %q has no groups.", answer.Verbatim(shown.Name))
	}
	name := strings.TrimPrefix(shown.Group.Property, "note.")
	if strings.HasPrefix(name, "file.") || strings.HasPrefix(name, "formula.") {
		return nil, answer.BadValue.Failure(
			"The view groups by %q, and no note has that as a property.",
			answer.Verbatim(name),
		)
	}
	value, err := newValue(v, call.Values{"name": name, "value": group})
	if err != nil {
		return nil, err
	}
	return value.Set(target, text)
}

// adviseNewBase adds to the error for a missing base how to make one, because base:create makes a note.
func adviseNewBase(err error) error {
	if missing, ok := errors.AsType[*answer.Fault](err); ok && missing.Missing.Ext == baseExtension {
		missing.Kind = answer.NotFound.Advise(
			`"create" with path="NAME.base" makes a base; base:create makes a note in one`,
		)
	}
	return err
}

// fitToView adds the links that the filters require to the text of a new note. The notice names the filters that the
// note still does not pass.
func fitToView(
	v *call.Vault,
	base *bases.Base,
	shown bases.View,
	path, target disk.Path,
	text []byte,
	links []string,
) (fitting []byte, notice answer.Notice, err error) {
	files, err := baseFiles(v, path.String())
	if err != nil || base.Fatal() != nil {
		return text, answer.Notice{}, err
	}
	idx := files.Index
	evaluation := func() (formula.Environment, formula.Entry) {
		files.Index = idx.With(target, text, v.Clock())
		memory := new(bases.Memory).New(files.Config)
		return memory.Source().Environment, memory.Entry(target.String())
	}
	env, entry := evaluation()
	for _, link := range links {
		program, err := bases.ParseExpression("file.hasLink(" + strconv.Quote(link) + ")")
		if err != nil {
			continue
		}
		has, err := evaluated(v.Ctx, env, entry, program)
		if err != nil {
			return nil, answer.Notice{}, queryFailed(err)
		}
		if !has.Truthy() {
			text = edit.Append(text, "[["+link+"]]\n", edit.OwnLine)
			env, entry = evaluation()
		}
	}
	unmet, err := base.Unmet(v.Ctx, env, shown, entry)
	if len(unmet) > 0 {
		notice = answer.Remark("the view does not show the note: it does not pass %s", strings.Join(unmet, ", "))
	}
	return text, notice, queryFailed(err)
}

// withImplied adds the properties and tags that the filters of a view imply, except those that the text already has.
func withImplied(text []byte, implied bases.Implied) ([]byte, error) {
	properties, err := change.PropertiesIn(text)
	if err != nil {
		return nil, err
	}
	set := func(name string, value frontmatter.Value) (err error) {
		if _, has := properties.Lookup(name); !has {
			text, err = frontmatter.Set(text, name, value)
		}
		return err
	}
	literals := map[formula.Kind]frontmatter.Type{
		formula.Number: frontmatter.TypeNumber, formula.Boolean: frontmatter.TypeCheckbox, formula.String: frontmatter.TypeText,
	}
	for _, property := range implied.Properties {
		if property.Name == "tags" && len(implied.Tags) > 0 {
			continue
		}
		var value frontmatter.Value
		if as, isLiteral := literals[property.Value.Kind()]; isLiteral {
			if value, err = frontmatter.ParseValue(property.Value.Text(), as); err != nil {
				return nil, err
			}
		}
		if err := set(property.Name, value); err != nil {
			return nil, err
		}
	}
	if len(implied.Tags) > 0 {
		err = set("tags", frontmatter.ListOf(answer.Map(implied.Tags, textValue)))
	}
	return text, err
}

// maxNumbered is how many numbers are tried to make the name of a new note unique.
const maxNumbered = 10_000

// filledIn returns a verifier for a new note to which the app may add what the filters of a view or a template require.
func filledIn(style string) change.Verifier {
	return func(_ *call.Vault, p call.Values, c change.AppChange) (change.Verdict, error) {
		verdict := change.IsComposedOf(c.Now.Text.ForProgram(), edit.OwnLine, []byte(p["content"]))
		if !verdict.Done && change.AddsOnce(c.Now.Text.ForProgram(), nil, p["content"]) {
			return change.Verdict{Done: true, Style: style}, nil
		}
		return verdict, nil
	}
}

// setInBase plans a change of the notes among the rows of a view. It is one change: undo takes it back as a whole, and
// nothing is changed if one note cannot be.
func setInBase(v *call.Vault, p call.Values) (change.Proposal, error) {
	path, err := base(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	base, name, err := readBase(v, path, p["view"])
	if err != nil {
		return change.Proposal{}, err
	}
	names, err := expressionNames(v)
	if err != nil {
		return change.Proposal{}, err
	}
	names.Formulas = base.Formulas
	q, unknown, err := parseQuery(base, name, p, names)
	if err != nil {
		return change.Proposal{}, err
	}
	q.Columns = []bases.Column{}
	files, err := baseFiles(v, path.String())
	if err != nil {
		return change.Proposal{}, err
	}
	table, err := base.Run(v.Ctx, files.Source(), q)
	if err != nil {
		return change.Proposal{}, queryFailed(err)
	}
	if len(unknown) > 0 && len(table.Rows) > 0 {
		// If no note has a property, a filter on it passes all notes or none. To change all of them is not what was
		// meant.
		return change.Proposal{}, answer.BadValue.Failure("Nothing was changed: %s.", unknownProperties(unknown, names))
	}
	if _, err := oddities(table, nil); err != nil {
		return change.Proposal{}, err
	}
	value, err := newValue(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	var notes []disk.Path
	for _, row := range table.Rows {
		if !strings.HasSuffix(row.Path, ".md") {
			continue // only notes have properties
		}
		path, err := v.PathOf(row.Path)
		if err != nil {
			return change.Proposal{}, answer.NoSuchFile(row.Path, err)
		}
		notes = append(notes, path)
	}
	return setInAll(v, p, notes, value)
}

// restructuring returns the command that applies restructure to a base. Comments and unrelated keys keep their bytes.
// A change that adds a problem, such as an expression that does not parse, is refused; earlier problems may remain.
func restructuring(
	restructure func(text []byte, base *bases.Base, p call.Values) (edited []byte, message string, err error),
) func(*call.Vault, call.Values) (change.Proposal, error) {
	return func(v *call.Vault, p call.Values) (change.Proposal, error) {
		path, err := base(v, p)
		if err != nil {
			return change.Proposal{}, err
		}
		before, err := v.Disk.Read(path)
		if err != nil {
			return change.Proposal{}, answer.ReadError(path.String(), err)
		}
		old, err := parseBase(before)
		if err != nil {
			return change.Proposal{}, err
		}
		after, message, err := restructure(before, old, p)
		var refusal *frontmatter.Refusal
		var malformed *frontmatter.Malformed
		if errors.As(err, &refusal) || errors.As(err, &malformed) {
			err = answer.Failure("Base %q cannot be changed: %v", answer.Verbatim(path.String()), err)
		}
		if err != nil {
			return change.Proposal{}, err
		}
		now, err := parseBase(after)
		if err != nil {
			return change.Proposal{}, err
		}
		for _, problem := range now.Problems {
			problem.Line = 0
			if !slices.ContainsFunc(old.Problems, func(known bases.Problem) bool {
				return known.Text == problem.Text && known.Expression == problem.Expression
			}) {
				return change.Proposal{}, answer.BadValue.Advise("base:check lists what is wrong with a base").
					Failure("The change would break the base: %s", problem)
			}
		}
		names, err := expressionNames(v)
		if err != nil {
			return change.Proposal{}, err
		}
		doubts := slices.DeleteFunc(now.Doubts(names), func(doubt bases.Problem) bool {
			return slices.ContainsFunc(old.Doubts(names), func(known bases.Problem) bool {
				return known.Text == doubt.Text && known.Expression == doubt.Expression
			})
		})
		notice := answer.Notice{}.And(answer.Map(doubts, func(doubt bases.Problem) answer.Notice { return answer.Remark("%s", doubt.Text) })...)
		return change.Proposal{
			Steps:   []change.Step{{Path: path, Before: change.Existing(before), After: change.Existing(after)}},
			Message: message + " in " + path.String(),
			Note:    path,
			Notice:  notice,
			Already: fmt.Sprintf("%q says this already", answer.Verbatim(path.String())),
		}, nil
	}
}

func addView(text []byte, base *bases.Base, p call.Values) ([]byte, string, error) {
	if slices.ContainsFunc(base.Views, func(v bases.View) bool { return v.Name == p["name"] }) {
		return nil, "", answer.AlreadyExists.Advise("base:set-view changes it").
			Failure("View %q already exists.", answer.Verbatim(p["name"]))
	}
	keys, err := viewKeys(p)
	if err != nil {
		return nil, "", err
	}
	if !p.Has("type") {
		keys = append(frontmatter.Properties{{Key: "type", Value: textValue("table")}}, keys...)
	}
	view := slices.Insert(keys, 1, frontmatter.Property{Key: "name", Value: textValue(p["name"])}) // type is the first
	view = slices.DeleteFunc(view, func(k frontmatter.Property) bool { return k.Value.Kind() == frontmatter.Null })
	edited, err := frontmatter.AddTo(text, "views", frontmatter.Parts{Kind: frontmatter.Map, Fields: view}.Value())
	return edited, fmt.Sprintf("Added: view %q", answer.Verbatim(p["name"])), err
}

func setView(text []byte, base *bases.Base, p call.Values) ([]byte, string, error) {
	at, unknown := base.Place(p["view"])
	if unknown != nil {
		return nil, "", noView(unknown)
	}
	keys, err := viewKeys(p)
	if err != nil {
		return nil, "", err
	}
	if len(keys) == 0 {
		return nil, "", answer.Misuse("Nothing to change: give type, filters, order, sort, group, limit or summaries.")
	}
	for _, k := range keys {
		value := &k.Value
		if value.Kind() == frontmatter.Null {
			value = nil
		}
		if text, err = frontmatter.SetIn(text, []string{"views", strconv.Itoa(at)}, k.Key, value); err != nil {
			return nil, "", err
		}
	}
	return text, fmt.Sprintf("Changed: view %q", answer.Verbatim(base.Views[at].Name)), nil
}

func removeView(text []byte, base *bases.Base, p call.Values) ([]byte, string, error) {
	at, unknown := base.Place(p["view"])
	if unknown != nil {
		return nil, "", noView(unknown)
	}
	edited, err := frontmatter.RemoveFrom(text, "views", at)
	return edited, fmt.Sprintf("Removed: view %q", answer.Verbatim(base.Views[at].Name)), err
}

func setFormula(text []byte, base *bases.Base, p call.Values) ([]byte, string, error) {
	name := p["name"]
	_, known := base.Formulas[name]
	switch {
	case p.Has("remove") == p.Has("expr"):
		return nil, "", answer.Misuse("Use expr=<expression> or remove.")
	case p.Has("remove") && !known:
		return nil, "", answer.NotFoundNearest.Failure("Formula %q not found.", answer.Verbatim(name))
	case p.Has("remove"):
		edited, err := frontmatter.SetIn(text, []string{"formulas"}, name, nil)
		return edited, fmt.Sprintf("Removed: formula %q", answer.Verbatim(name)), err
	}
	for other := range base.Formulas {
		if !known && strings.EqualFold(other, name) {
			return nil, "", answer.AlreadyExists.Failure(
				"Formula %q already exists, with other capitals.",
				answer.Verbatim(other),
			)
		}
	}
	if _, err := bases.ParseExpression(p["expr"]); err != nil {
		_, _, err = bases.Judge(p["expr"], bases.Names{Formulas: base.Formulas})
		return nil, "", badExpression("expr", p["expr"], err)
	}
	value := textValue(p["expr"])
	edited, err := frontmatter.SetIn(text, []string{"formulas"}, name, &value)
	return edited, fmt.Sprintf("Set: formula %q", answer.Verbatim(name)), err
}

func textValue(text string) frontmatter.Value {
	return frontmatter.Parts{Kind: frontmatter.String, Text: text}.Value()
}

// noKey is the value of a parameter that removes the key from the view.
const noKey = "none"

// viewKeys returns the keys of a view that a request sets, as they are in the file. The value of a key that it
// removes is null.
func viewKeys(p call.Values) (keys frontmatter.Properties, err error) {
	for _, parameter := range []struct {
		param, key string
		read       func(text string) (frontmatter.Value, error)
	}{
		{"type", "type", func(text string) (frontmatter.Value, error) { return textValue(text), nil }},
		{"filters", "filters", viewFilters},
		{"order", "order", func(text string) (frontmatter.Value, error) {
			return frontmatter.ParseValue(text, frontmatter.TypeMultitext)
		}},
		{"sort", "sort", viewSort},
		{"group", "groupBy", viewKey},
		{"limit", "limit", viewLimit},
		{"summaries", "summaries", viewSummaries},
	} {
		if !p.Has(parameter.param) {
			continue
		}
		text := p[parameter.param]
		var value frontmatter.Value
		if text != noKey || parameter.param == "type" {
			if value, err = parameter.read(text); err != nil {
				return nil, badExpression(parameter.param, text, err)
			}
		}
		keys = append(keys, frontmatter.Property{Key: parameter.key, Value: value})
	}
	return keys, nil
}

// viewFilters parses the filters of a view: one expression; or, as JSON or YAML, a list of expressions that must all
// hold, or an object with and, or or not.
func viewFilters(text string) (frontmatter.Value, error) {
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "[") && !strings.HasPrefix(trimmed, "{") {
		_, err := bases.ParseExpression(text)
		if err != nil {
			_, _, err = bases.Judge(text, bases.Names{})
		}
		return textValue(text), err
	}
	v, err := frontmatter.ParseDocument([]byte(trimmed))
	if err == nil && v.Kind() == frontmatter.List {
		v = frontmatter.Parts{Kind: frontmatter.Map, Fields: frontmatter.Properties{{Key: "and", Value: v}}}.Value()
	}
	return v, err
}

// viewSort parses the properties by which a view sorts, separated by commas.
func viewSort(text string) (frontmatter.Value, error) {
	var list []frontmatter.Value
	for part := range strings.SplitSeq(text, ",") {
		key, err := viewKey(part)
		if err != nil {
			return key, err
		}
		list = append(list, key)
	}
	return frontmatter.ListOf(list), nil
}

// viewLimit parses the limit of a view. 0 removes it.
func viewLimit(text string) (frontmatter.Value, error) {
	if text == "0" {
		return frontmatter.Value{}, nil
	}
	if _, err := parseCount(text, 1); err != nil {
		return frontmatter.Value{}, err
	}
	return frontmatter.ParseValue(text, frontmatter.TypeNumber)
}

// viewSummaries parses the summaries of a view, such as "rating: Average", separated by commas.
func viewSummaries(text string) (frontmatter.Value, error) {
	var fields frontmatter.Properties
	for part := range strings.SplitSeq(text, ",") {
		id, summary, found := strings.Cut(part, ":")
		id = strings.TrimSpace(id)
		summary = strings.TrimSpace(summary)
		if !found || id == "" || summary == "" {
			return frontmatter.Value{}, fmt.Errorf("want property: summary, such as rating: Average")
		}
		fields = append(fields, frontmatter.Property{Key: id, Value: textValue(summary)})
	}
	return frontmatter.Parts{Kind: frontmatter.Map, Fields: fields}.Value(), nil
}

// viewKey parses a property, optionally followed by asc or desc, by which a view sorts or groups.
func viewKey(text string) (frontmatter.Value, error) {
	property, descending := bases.CutDirection(text)
	direction := "ASC"
	if descending {
		direction = "DESC"
	}
	if property == "" {
		return frontmatter.Value{}, errors.New("want a property, optionally followed by asc or desc")
	}
	return frontmatter.Parts{Kind: frontmatter.Map, Fields: frontmatter.Properties{
		{Key: "property", Value: textValue(property)}, {Key: "direction", Value: textValue(direction)},
	}}.Value(), nil
}
