package vault

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/outcome"
)

func propertyWriteCommands() []command {
	name := param{name: "name", hint: "name", required: true, about: "The property"}
	return []command{
		{
			name: "property:set", about: "Set a property of a note",
			params: append([]param{
				name,
				// A short value, not content: paths and formulas hold backslashes.
				{name: "value", hint: "value", required: true, about: "Its value; commas separate the items of a list"},
				{name: "type", oneOf: []string{"text", "list", "number", "checkbox", "date", "datetime"}, about: "Its type; else the vault's, or what the value looks like"},
			}, targetParams()...),
			plan: setProperty, meant: meansSet,
		},
		{
			name: "property:remove", about: "Remove a property from a note",
			params: append([]param{name}, targetParams()...),
			plan:   removeProperty, meant: meansRemoved,
		},
	}
}

// setProperty changes the lines of one property. The app writes the whole block
// anew, which loses comments and every other form.
func setProperty(v *vault, p params) (proposal, error) {
	t, text, err := v.markdownNote(p)
	if err != nil {
		return proposal{}, err
	}
	value, err := v.typedValue(p)
	if err != nil {
		return proposal{}, err
	}
	edited, err := frontmatter.Set(text, p["name"], value)
	if err != nil {
		return proposal{}, unset(t, text, err)
	}
	return changing(t.path, text, edited, "Set "+p["name"]+": "+p["value"]), nil
}

// removeProperty says the same of a property that is not there: like the app, and
// because a note without it is what was asked for.
func removeProperty(v *vault, p params) (proposal, error) {
	t, text, err := v.markdownNote(p)
	if err != nil {
		return proposal{}, err
	}
	edited, _, err := frontmatter.Remove(text, p["name"])
	if err != nil {
		return proposal{}, unset(t, text, err)
	}
	return changing(t.path, text, edited, "Removed: "+p["name"]), nil
}

// typedValue reads the value of a request. Its type is the one that is given,
// else the one that the user assigned to the name in this vault, else that of
// the shape of the value. The app goes by the shape alone, with which a number
// becomes the text that the user once made it; a value that does not fit the
// assigned type is refused.
func (v *vault) typedValue(p params) (frontmatter.Value, error) {
	as, assigned := frontmatter.Type(p["type"]), false
	if !p.has("type") {
		types, err := v.propertyTypes()
		if err != nil {
			return frontmatter.Value{}, err
		}
		as, assigned = assignedType(types, p["name"])
	}
	value, err := frontmatter.ParseValue(p["value"], as)
	switch {
	case err == nil:
		return value, nil
	case assigned:
		return value, misuse("%v. In this vault %q is of the type %s; type= sets it to another.", err, verbatim(p["name"]), as)
	}
	return value, misuse("%v", err)
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
	if slices.Contains(always[:], name) {
		return frontmatter.TypeMultitext, true
	}
	return "", false
}

// unset explains why the properties of a note cannot be changed, with the line
// of the note: those of the errors are counted from the start of the block.
func unset(t target, text []byte, err error) error {
	line, reason := 0, err.Error()
	var malformed *frontmatter.Malformed
	var refusal *frontmatter.Refusal
	switch {
	case errors.As(err, &malformed):
		line, reason = malformed.Line, malformed.Reason
	case errors.As(err, &refusal):
		line, reason = refusal.Line, refusal.Reason
	}
	if line == 0 {
		return failure("The properties of %q cannot be changed: %s.", verbatim(t.path.String()), reason)
	}
	line += bytes.Count(text[:markdown.Scan(text).Frontmatter.Start], []byte("\n"))
	return failure("The properties of %q cannot be changed: line %d: %s.", verbatim(t.path.String()), line, reason)
}

// meansSet judges a property that was set. Without type= the app goes by what the
// value looks like, where this program goes by the type that the vault gives the
// name.
func meansSet(v *vault, p params, c appChange) (outcome.Verdict, error) {
	value, err := v.typedValue(p)
	if err != nil {
		return outcome.Verdict{}, err
	}
	for i, candidate := range append([]frontmatter.Value{value}, likeTheApp(p, value)...) {
		wanted, err := frontmatter.Set(c.before.text, p["name"], candidate)
		if err != nil {
			continue
		}
		if verdict := outcome.Properties(wanted, c.now.text); verdict.Done {
			if i > 0 && !candidate.Equal(value) {
				verdict.Style = "the app has given the property another type than vaultwicket would have"
			}
			return verdict, nil
		}
	}
	return outcome.Verdict{}, nil
}

// likeTheApp are the values that the app may have made of a request: that of the
// shape where no type was named, a list with its blanks, an empty value as null.
func likeTheApp(p params, value frontmatter.Value) (others []frontmatter.Value) {
	if !p.has("type") {
		if shaped, err := frontmatter.ParseValue(p["value"], ""); err == nil {
			others = append(others, shaped)
		}
	}
	if value.Kind() == frontmatter.List {
		if elements, err := json.Marshal(strings.Split(p["value"], ",")); err == nil {
			if spaced, err := frontmatter.ParseValue(string(elements), frontmatter.TypeMultitext); err == nil {
				others = append(others, spaced)
			}
		}
	}
	if p["value"] == "" && value.Kind() == frontmatter.String {
		others = append(others, frontmatter.Value{})
	}
	return others
}

// meansRemoved judges a note without a property.
func meansRemoved(_ *vault, p params, c appChange) (outcome.Verdict, error) {
	wanted, _, err := frontmatter.Remove(c.before.text, p["name"])
	if err != nil {
		return outcome.Verdict{}, nil
	}
	return outcome.Properties(wanted, c.now.text), nil
}
