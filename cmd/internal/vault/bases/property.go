package bases

import (
	"net/url"
	"strings"

	"vaultwicket/cmd/internal/vault/bases/formula"
	"vaultwicket/cmd/internal/vault/frontmatter"
)

// property returns the value of a property of the note at a path.
func (v *Vault) property(p frontmatter.Property, from string) formula.Value {
	name := strings.ToLower(p.Key)
	switch name {
	case "tags", "tag":
		return tagList(p.Value)
	case "aliases", "cssclasses":
		return v.value(p.Value, verbatim, from)
	}
	return v.value(p.Value, v.Types[name], from)
}

// verbatim is the type of a property whose texts are not converted: an alias may look like
// a date.
const verbatim = "verbatim"

// value converts a value of a note. declared is the type that the user assigned to the
// property, "" for none.
func (v *Vault) value(w frontmatter.Value, declared, from string) formula.Value {
	switch w.Kind() {
	case frontmatter.Bool:
		return formula.OfBool(w.IsTrue())
	case frontmatter.Number:
		return formula.OfNumber(w.Float())
	case frontmatter.List:
		if declared != verbatim { // a type that is assigned to the property is not that of its elements
			declared = ""
		}
		items := make([]formula.Value, 0, len(w.List()))
		for _, item := range w.List() {
			items = append(items, v.value(item, declared, from))
		}
		return formula.OfList(items)
	case frontmatter.Map:
		fields := &formula.Fields{}
		for _, field := range w.Fields() {
			fields.Keys = append(fields.Keys, field.Key)
			fields.Values = append(fields.Values, v.value(field.Value, "", from))
		}
		return formula.OfFields(fields)
	case frontmatter.String:
		return v.text(w.Text(), declared, from)
	}
	return formula.Value{}
}

// text converts a text by its form, or by its declared type.
func (v *Vault) text(text, declared, from string) formula.Value {
	switch declared {
	case verbatim:
		return formula.OfText(text)
	case "number":
		if n, ok := formula.ParseNumber(text); ok && strings.TrimSpace(text) != "" {
			return formula.OfNumber(n)
		}
	case "checkbox":
		if text == "true" || text == "false" {
			return formula.OfBool(text == "true")
		}
	}
	if text == "" {
		return formula.OfText(text)
	}
	if t, ok := formula.ParseLink(text, from); ok {
		return formula.OfTarget(t)
	}
	if c := text[0]; c >= '0' && c <= '9' && declared != "text" {
		if m, ok := formula.ParseProperty(text, v.Now.Location()); ok {
			return formula.OfMoment(m)
		}
	}
	if isAddress(text) {
		return formula.OfURL(text)
	}
	return formula.OfText(text)
}

// isAddress reports whether a text is an absolute URL.
func isAddress(text string) bool {
	if !strings.Contains(text, "://") || strings.ContainsAny(text, " \t\n") {
		return false
	}
	u, err := url.Parse(text)
	return err == nil && u.Scheme != "" && u.Host != ""
}

// tagList returns tags with their "#", from a list or from one text.
func tagList(w frontmatter.Value) formula.Value {
	var tags []formula.Value
	add := func(text string) {
		for _, tag := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || formula.IsSpace(r) }) {
			tags = append(tags, formula.OfTag("#"+strings.TrimPrefix(tag, "#")))
		}
	}
	switch w.Kind() {
	case frontmatter.Null:
		return formula.Value{}
	case frontmatter.List:
		for _, item := range w.List() {
			add(item.String())
		}
	default:
		add(w.String())
	}
	return formula.OfList(tags)
}
