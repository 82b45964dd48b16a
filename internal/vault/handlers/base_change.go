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

// createInBase makes a note that the filters of a view take, as far as they say
// plainly what they ask for, with a key for each property that the view shows. Like
// the app it takes every name of a view, puts a number after a name that is taken,
// and confirms without the folder.
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
		shown = bases.View{}
	}
	implied := base.Implied(shown)
	folder := strings.Trim(cmp.Or(implied.Folder, gopath.Dir("/"+path.String())), "/")
	asked := strings.TrimPrefix(folder+"/"+name, "/")
	var made disk.Path
	for n := 0; ; n++ {
		typed := asked + ".md"
		if n > 0 {
			typed = asked + " " + strconv.Itoa(n) + ".md"
		}
		if n == maxNumbered {
			return change.Proposal{}, answer.AlreadyExists.Failure(
				"File %q already exists.",
				answer.Verbatim(asked+".md"),
			)
		}
		if made, err = v.PathOf(typed); err != nil {
			return change.Proposal{}, answer.Failure("File %q cannot be created: %v.", answer.Verbatim(typed), err)
		}
		isFree, err := v.Disk.IsFree(made)
		if err != nil {
			return change.Proposal{}, answer.ReadError(made.String(), err)
		}
		if isFree {
			break
		}
	}
	text, err := withImplied([]byte(p["content"]), implied)
	if err != nil {
		return change.Proposal{}, answer.Failure("File %q cannot be created: %v.", answer.Verbatim(made.String()), err)
	}
	if p.Has("group") {
		if shown.Group == nil {
			return change.Proposal{}, answer.BadValue.Failure("The view %q has no groups.", answer.Verbatim(shown.Name))
		}
		name := strings.TrimPrefix(shown.Group.Property, "note.")
		if strings.HasPrefix(name, "file.") || strings.HasPrefix(name, "formula.") {
			return change.Proposal{}, answer.BadValue.Failure(
				"The view groups by %q, and no note has that as a property.",
				answer.Verbatim(name),
			)
		}
		value, err := newValue(v, call.Values{"name": name, "value": p["group"]})
		if err == nil {
			text, err = value.Set(made, text)
		}
		if err != nil {
			return change.Proposal{}, err
		}
	}
	proposal := change.Proposal{Message: "Created: " + gopath.Base(made.String()), Note: made}
	text, proposal.Notice, err = madeToFit(v, base, shown, path, made, text, implied.Links)
	proposal.Steps = []change.Step{{Path: made, After: change.Existing(text)}}
	return proposal, err
}

// adviseNewBase says of a base that is missing what makes one, because base:create makes a note.
func adviseNewBase(err error) error {
	if missing, ok := errors.AsType[*answer.Fault](err); ok && missing.Missing.Ext == baseExtension {
		missing.Kind = answer.NotFound.Advise(
			`"create" with path="NAME.base" makes a base; base:create makes a note in one`,
		)
	}
	return err
}

// madeToFit adds the links that the filters ask for to the text of a new note, and says which
// filters it does not pass then.
func madeToFit(
	v *call.Vault,
	base *bases.Base,
	shown bases.View,
	path, made disk.Path,
	text []byte,
	links []string,
) (fitting []byte, notice string, err error) {
	files, err := baseFiles(v, path.String())
	if err != nil || base.Fatal() != nil {
		return text, "", err
	}
	x := files.Index
	planned := func() (formula.Environment, formula.Entry) {
		files.Index = x.With(made, text, v.Clock())
		all := new(bases.Memory).New(files.Config)
		return all.Source().Environment, all.Entry(made.String())
	}
	env, entry := planned()
	for _, link := range links {
		program, err := bases.ParseExpression("file.hasLink(" + strconv.Quote(link) + ")")
		if err != nil {
			continue
		}
		has, err := evaluated(v.Ctx, env, entry, program)
		if err != nil {
			return nil, "", queryFailed(err)
		}
		if !has.Truthy() {
			text = edit.Append(text, "[["+link+"]]\n", edit.OwnLine)
			env, entry = planned()
		}
	}
	unmet, err := base.Unmet(v.Ctx, env, shown, entry)
	if len(unmet) > 0 {
		notice = "the view does not show the note: it does not pass " + strings.Join(unmet, ", ")
	}
	return text, notice, queryFailed(err)
}

// withImplied returns a text with the properties that are asked for and that it
// does not have.
func withImplied(text []byte, i bases.Implied) ([]byte, error) {
	found, err := change.PropertiesIn(text)
	if err != nil {
		return nil, err
	}
	set := func(name string, value frontmatter.Value) (err error) {
		if _, known := found.Lookup(name); !known {
			text, err = frontmatter.Set(text, name, value)
		}
		return err
	}
	literals := map[formula.Kind]frontmatter.Type{
		formula.Number: frontmatter.TypeNumber, formula.Boolean: frontmatter.TypeCheckbox, formula.String: frontmatter.TypeText,
	}
	for _, property := range i.Properties {
		if property.Name == "tags" && len(i.Tags) > 0 {
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
	if len(i.Tags) > 0 {
		err = set("tags", frontmatter.ListOf(answer.Map(i.Tags, textValue)))
	}
	return text, err
}

// maxNumbered is how many notes of one name are told apart by numbers.
const maxNumbered = 10_000

// filledIn judges a new note, in which the app fills in what the filters of a view or a template ask
// for.
func filledIn(style string) change.Verifier {
	return func(_ *call.Vault, p call.Values, c change.AppChange) (change.Verdict, error) {
		verdict := change.IsComposedOf(c.Now.Text.ForProgram(), edit.OwnLine, []byte(p["content"]))
		if !verdict.Done && change.AddsOnce(c.Now.Text.ForProgram(), nil, p["content"]) {
			return change.Verdict{Done: true, Style: style}, nil
		}
		return verdict, nil
	}
}

// setInBase changes the notes among the rows of a view, as one change that undo
// takes back as a whole. Nothing is changed if one of them cannot be.
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
		// Where a property is missing in all notes, a filter takes all of them or none, and a change of all is not meant.
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
	return settingAll(v, p, notes, value)
}

// restructuring returns the command that changes a base in one way. Comments, and keys that the
// change is not about, keep their bytes. A change that the engine has something against, such as
// an expression that does not parse, is refused; what was wrong before may stay so.
func restructuring(
	restructure func(text []byte, base *bases.Base, p call.Values) (edited []byte, said string, err error),
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
		after, said, err := restructure(before, old, p)
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
		notice := strings.Join(answer.Map(doubts, func(doubt bases.Problem) string { return doubt.Text }), "; ")
		return change.Proposal{
			Steps:   []change.Step{{Path: path, Before: change.Existing(before), After: change.Existing(after)}},
			Message: said + " in " + path.String(),
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

// noKey is the value of a parameter that takes the key out of the view.
const noKey = "none"

// viewKeys returns the keys of a view that a request gives, as they are in the file; null is for
// one that it takes out.
func viewKeys(p call.Values) (keys frontmatter.Properties, err error) {
	for _, of := range []struct {
		param, key string
		read       func(text string) (frontmatter.Value, error)
	}{
		{"type", "type", func(text string) (frontmatter.Value, error) { return textValue(text), nil }},
		// One expression, or in JSON or YAML a list of which all have to hold, or an object with and, or or not.
		{"filters", "filters", func(text string) (frontmatter.Value, error) {
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
		}},
		{"order", "order", func(text string) (frontmatter.Value, error) {
			return frontmatter.ParseValue(text, frontmatter.TypeMultitext)
		}},
		{"sort", "sort", func(text string) (frontmatter.Value, error) {
			var list []frontmatter.Value
			for part := range strings.SplitSeq(text, ",") {
				key, err := viewKey(part)
				if err != nil {
					return key, err
				}
				list = append(list, key)
			}
			return frontmatter.ListOf(list), nil
		}},
		{"group", "groupBy", viewKey},
		{"limit", "limit", func(text string) (frontmatter.Value, error) {
			if text == "0" {
				return frontmatter.Value{}, nil
			}
			if _, err := parseCount(text, 1); err != nil {
				return frontmatter.Value{}, err
			}
			return frontmatter.ParseValue(text, frontmatter.TypeNumber)
		}},
		{"summaries", "summaries", func(text string) (frontmatter.Value, error) {
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
		}},
	} {
		if !p.Has(of.param) {
			continue
		}
		var value frontmatter.Value
		if text := p[of.param]; text != noKey || of.param == "type" {
			if value, err = of.read(text); err != nil {
				return nil, badExpression(of.param, text, err)
			}
		}
		keys = append(keys, frontmatter.Property{Key: of.key, Value: value})
	}
	return keys, nil
}

// viewKey reads a property, optionally followed by asc or desc, for the order of a view.
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
