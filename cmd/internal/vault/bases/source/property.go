package source

import (
	"net/url"
	"strings"

	"vaultwicket/cmd/internal/vault/bases/value"
	"vaultwicket/cmd/internal/vault/frontmatter"
)

// property returns the value of a property of the note at a path.
func (v *Vault) property(p frontmatter.Property, from string) value.Value {
	name := strings.ToLower(p.Key)
	switch name {
	case "tags", "tag":
		return tagList(p.Value)
	case "aliases", "cssclasses":
		return v.value(p.Value, verbatim, from)
	}
	return v.value(p.Value, v.Types[name], from)
}

// verbatim stands for the type of a property whose texts stay texts, whatever
// they look like: a name of a note can look like a date.
const verbatim = "verbatim"

// value converts what is written in a note. declared is the type that the user
// assigned to the property, "" for none.
func (v *Vault) value(w frontmatter.Value, declared, from string) value.Value {
	switch w.Kind() {
	case frontmatter.Bool:
		return value.OfBool(w.IsTrue())
	case frontmatter.Number:
		return value.OfNumber(w.Float())
	case frontmatter.List:
		items := make([]value.Value, 0, len(w.List()))
		for _, item := range w.List() {
			items = append(items, v.value(item, elementType(declared), from))
		}
		return value.OfList(items)
	case frontmatter.Map:
		fields := &value.Fields{}
		for _, field := range w.Fields() {
			fields.Keys = append(fields.Keys, field.Key)
			fields.Values = append(fields.Values, v.value(field.Value, "", from))
		}
		return value.OfFields(fields)
	case frontmatter.String:
		return v.text(w.Text(), declared, from)
	}
	return value.Value{}
}

// elementType is the type of what is in a list: one that is assigned to a property
// says nothing of it.
func elementType(declared string) string {
	if declared == verbatim {
		return verbatim
	}
	return ""
}

// text converts a text by what it looks like, or by its declared type.
func (v *Vault) text(text, declared, from string) value.Value {
	switch declared {
	case verbatim:
		return value.OfText(text)
	case "number":
		if n, ok := value.ParseNumber(text); ok && strings.TrimSpace(text) != "" {
			return value.OfNumber(n)
		}
	case "checkbox":
		if text == "true" || text == "false" {
			return value.OfBool(text == "true")
		}
	}
	if text == "" {
		return value.OfText(text)
	}
	if t, ok := value.ParseLink(text, from); ok {
		return value.OfTarget(t)
	}
	if c := text[0]; c >= '0' && c <= '9' && declared != "text" {
		if m, ok := value.ParseProperty(text, v.Now.Location()); ok {
			return value.OfMoment(m)
		}
	}
	if isAddress(text) {
		return value.OfURL(text)
	}
	return value.OfText(text)
}

// isAddress reports whether a text is one absolute address with a scheme and
// nothing else.
func isAddress(text string) bool {
	if !strings.Contains(text, "://") || strings.ContainsAny(text, " \t\n") {
		return false
	}
	u, err := url.Parse(text)
	return err == nil && u.Scheme != "" && u.Host != ""
}

// tagList returns tags with their "#", also of what is written as one text.
func tagList(w frontmatter.Value) value.Value {
	var tags []value.Value
	add := func(text string) {
		for _, tag := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || value.IsSpace(r) }) {
			tags = append(tags, value.OfTag("#"+strings.TrimPrefix(tag, "#")))
		}
	}
	switch w.Kind() {
	case frontmatter.Null:
		return value.Value{}
	case frontmatter.List:
		for _, item := range w.List() {
			add(item.String())
		}
	default:
		add(w.String())
	}
	return value.OfList(tags)
}
