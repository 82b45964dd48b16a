package frontmatter

import (
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/markdown"
)

// Tags returns the tags in the properties, each with its "#", in their order:
// those of the key tags, in any case, that are strings and tags by the rules
// for the body. Commas part nothing: "a, b" is no tag.
func Tags(p Properties) []string {
	var tags []string
	for _, text := range texts(p, "tags") {
		if name, ok := markdown.TagName(strings.TrimSpace(text)); ok {
			tags = append(tags, "#"+name)
		}
	}
	return tags
}

// Aliases returns the other names of the note: the strings of the key aliases,
// in any case, without empty ones.
func Aliases(p Properties) []string {
	var aliases []string
	for _, text := range texts(p, "aliases") {
		if alias := strings.TrimSpace(text); alias != "" {
			aliases = append(aliases, alias)
		}
	}
	return aliases
}

// texts returns the strings that are the values of a name, or in their lists.
func texts(p Properties, name string) []string {
	var out []string
	for _, property := range p {
		if !strings.EqualFold(property.Key, name) {
			continue
		}
		for _, value := range property.Value.each() {
			if value.kind == String {
				out = append(out, value.text)
			}
		}
	}
	return out
}

// each returns the elements of a list, or the one value that v is.
func (v Value) each() []Value {
	if v.kind == List {
		return v.List()
	}
	return []Value{v}
}

// Link is a link in a property.
type Link struct {
	// Key is the name of the property; for an element of a list its place,
	// counted from 0, follows behind a dot.
	Key  string
	Link markdown.Link
}

// Links returns the links in the properties: the values and elements of lists
// that are strings and consist of one link. Without quotes a wikilink is a list
// within a list to YAML, and therefore none.
func Links(p Properties) []Link {
	var links []Link
	for _, property := range p {
		for i, value := range property.Value.each() {
			link, ok := markdown.ParseLink(value.text)
			if value.kind != String || !ok {
				continue
			}
			key := property.Key
			if property.Value.kind == List {
				key += "." + strconv.Itoa(i)
			}
			links = append(links, Link{key, link})
		}
	}
	return links
}
