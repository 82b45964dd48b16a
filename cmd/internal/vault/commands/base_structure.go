package commands

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/bases"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/frontmatter"
)

func init() {
	register(
		command.Command{Name: "base:add-view", Plan: restructuring(addView)},
		command.Command{Name: "base:set-view", Plan: restructuring(setView)},
		command.Command{Name: "base:remove-view", Plan: restructuring(removeView)},
		command.Command{Name: "base:set-formula", Plan: restructuring(setFormula)},
	)
}

// restructuring returns the command that changes a base in one way. Comments, and keys that the
// change is not about, keep their bytes. A change that the engine has something against, such as
// an expression that does not parse, is refused; what was wrong before may stay so.
func restructuring(change func(text []byte, base *bases.Base, p command.Values) (edited []byte, said string, err error)) func(*command.Vault, command.Values) (command.Proposal, error) {
	return func(v *command.Vault, p command.Values) (command.Proposal, error) {
		path, err := base(v, p)
		if err != nil {
			return command.Proposal{}, err
		}
		before, err := v.Disk.Read(path)
		if err != nil {
			return command.Proposal{}, command.ReadError(path.String(), err)
		}
		old, err := parseBase(before)
		if err != nil {
			return command.Proposal{}, err
		}
		after, said, err := change(before, old, p)
		var refusal *frontmatter.Refusal
		var malformed *frontmatter.Malformed
		if errors.As(err, &refusal) || errors.As(err, &malformed) {
			err = command.Failure("Base %q cannot be changed: %v", command.Verbatim(path.String()), err)
		}
		if err != nil {
			return command.Proposal{}, err
		}
		now, err := parseBase(after)
		if err != nil {
			return command.Proposal{}, err
		}
		for _, problem := range now.Problems {
			problem.Line = 0
			if !slices.ContainsFunc(old.Problems, func(known bases.Problem) bool {
				return known.Text == problem.Text && known.Expression == problem.Expression
			}) {
				return command.Proposal{}, command.BadValue.Advise("base:check lists what is wrong with a base").Failure("The change would break the base: %s", problem)
			}
		}
		return command.Proposal{Steps: []command.Step{{Path: path, Before: command.Existing(before), After: command.Existing(after)}}, Message: said + " in " + path.String(), Note: path}, nil
	}
}

func addView(text []byte, base *bases.Base, p command.Values) ([]byte, string, error) {
	if slices.ContainsFunc(base.Views, func(v bases.View) bool { return v.Name == p["name"] }) {
		return nil, "", command.AlreadyExists.Advise("base:set-view changes it").Failure("View %q already exists.", command.Verbatim(p["name"]))
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
	return edited, fmt.Sprintf("Added: view %q", command.Verbatim(p["name"])), err
}

func setView(text []byte, base *bases.Base, p command.Values) ([]byte, string, error) {
	at, name, err := viewAt(base, p["view"])
	if err != nil {
		return nil, "", err
	}
	keys, err := viewKeys(p)
	if err != nil {
		return nil, "", err
	}
	if len(keys) == 0 {
		return nil, "", command.Misuse("Nothing to change: give type, filters, order, sort, group, limit or summaries.")
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
	return text, fmt.Sprintf("Changed: view %q", command.Verbatim(name)), nil
}

func removeView(text []byte, base *bases.Base, p command.Values) ([]byte, string, error) {
	at, name, err := viewAt(base, p["view"])
	if err != nil {
		return nil, "", err
	}
	edited, err := frontmatter.RemoveFrom(text, "views", at)
	return edited, fmt.Sprintf("Removed: view %q", command.Verbatim(name)), err
}

func setFormula(text []byte, base *bases.Base, p command.Values) ([]byte, string, error) {
	name := p["name"]
	_, known := base.Formulas[name]
	switch {
	case p.Has("remove") == p.Has("expr"):
		return nil, "", command.Misuse("Use expr=<expression> or remove.")
	case p.Has("remove") && !known:
		return nil, "", command.NotFoundNearest.Failure("Formula %q not found.", command.Verbatim(name))
	case p.Has("remove"):
		edited, err := frontmatter.SetIn(text, []string{"formulas"}, name, nil)
		return edited, fmt.Sprintf("Removed: formula %q", command.Verbatim(name)), err
	}
	for other := range base.Formulas {
		if !known && strings.EqualFold(other, name) {
			return nil, "", command.AlreadyExists.Failure("Formula %q already exists, with other capitals.", command.Verbatim(other))
		}
	}
	if _, err := bases.ParseExpression(p["expr"]); err != nil {
		return nil, "", command.Misuse("Invalid value for expr: %s: %v", command.Verbatim(p["expr"]), err)
	}
	value := textValue(p["expr"])
	edited, err := frontmatter.SetIn(text, []string{"formulas"}, name, &value)
	return edited, fmt.Sprintf("Set: formula %q", command.Verbatim(name)), err
}

// viewAt finds a view by its name, or by its number from 1 if none has that name.
func viewAt(base *bases.Base, name string) (at int, exact string, err error) {
	var known []string
	for i, v := range base.Views {
		if v.Name == name {
			return i, name, nil
		}
		known = append(known, v.Name)
	}
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(base.Views) {
		return n - 1, base.Views[n-1].Name, nil
	}
	return 0, "", noView(&bases.UnknownView{Name: name, Known: known})
}

func textValue(text string) frontmatter.Value {
	return frontmatter.Parts{Kind: frontmatter.String, Text: text}.Value()
}

// noKey is the value of a parameter that takes the key out of the view.
const noKey = "none"

// viewKeys returns the keys of a view that a request gives, as they are in the file; null is for
// one that it takes out.
func viewKeys(p command.Values) (keys frontmatter.Properties, err error) {
	for _, of := range []struct {
		param, key string
		read       func(text string) (frontmatter.Value, error)
	}{
		{"type", "type", func(text string) (frontmatter.Value, error) { return textValue(text), nil }},
		{"filters", "filters", viewFilters},
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
			return frontmatter.Parts{Kind: frontmatter.List, List: list}.Value(), nil
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
				if id, summary = strings.TrimSpace(id), strings.TrimSpace(summary); !found || id == "" || summary == "" {
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
				return nil, command.Misuse("Invalid value for %s: %s: %v", of.param, command.Verbatim(text), err)
			}
		}
		keys = append(keys, frontmatter.Property{Key: of.key, Value: value})
	}
	return keys, nil
}

// viewKey reads a property, optionally followed by asc or desc, for the order of a view.
func viewKey(text string) (frontmatter.Value, error) {
	property, direction := strings.TrimSpace(text), "ASC"
	if i := strings.LastIndexByte(property, ' '); i > 0 {
		if last := strings.ToUpper(property[i+1:]); last == "ASC" || last == "DESC" {
			property, direction = strings.TrimSpace(property[:i]), last
		}
	}
	if property == "" {
		return frontmatter.Value{}, errors.New("want a property, optionally followed by asc or desc")
	}
	return frontmatter.Parts{Kind: frontmatter.Map, Fields: frontmatter.Properties{
		{Key: "property", Value: textValue(property)}, {Key: "direction", Value: textValue(direction)},
	}}.Value(), nil
}

// viewFilters reads filters: one expression, or in JSON or YAML a list of which all have to
// hold, or an object with and, or or not.
func viewFilters(text string) (frontmatter.Value, error) {
	trimmed := strings.TrimSpace(text)
	if !strings.HasPrefix(trimmed, "[") && !strings.HasPrefix(trimmed, "{") {
		_, err := bases.ParseExpression(text)
		return textValue(text), err
	}
	v, err := frontmatter.ParseDocument([]byte(trimmed))
	if err == nil && v.Kind() == frontmatter.List {
		v = frontmatter.Parts{Kind: frontmatter.Map, Fields: frontmatter.Properties{{Key: "and", Value: v}}}.Value()
	}
	return v, err
}
