package frontmatter

import (
	"encoding/json"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/markdown"
)

// RewriteTags returns the note text with other tags in its properties, those that
// [Tags] finds. change is asked for each, without its "#", and returns the name to
// stand in its place, or "" to leave it. A tag keeps its quotes and its "#", and
// nothing else changes; only where one would then be there twice, in whatever case,
// the list is written anew without the second.
//
// A tag that cannot be changed so is a *[Refusal]; a block that cannot be read has
// no tags.
func RewriteTags(text []byte, change func(name string) string) (edited []byte, changed int, err error) {
	found := markdown.Scan(text)
	block := text[found.Frontmatter.Start:found.Frontmatter.End]
	rewritten, changed, left := rewriteTexts(block, isTags, func(text string, _ int) string { return renamedTag(text, change) })
	switch {
	case len(left) > 0:
		return nil, 0, &Refusal{left[0].line, "tag " + left[0].text + " cannot be changed where it is"}
	case changed == 0:
		return text, 0, nil
	}
	edited = splice(text, found.Frontmatter, string(rewritten))
	return withoutTwins(text, edited, changed)
}

func isTags(key string) bool { return strings.EqualFold(key, "tags") }

// renamedTag returns the string for another tag with the "#" and the blanks of text.
func renamedTag(text string, change func(name string) string) string {
	bare := strings.TrimSpace(text)
	name, ok := markdown.TagName(bare)
	if !ok {
		return ""
	}
	to := change(name)
	if to == "" || to == name {
		return ""
	}
	if strings.HasPrefix(bare, "#") {
		to = "#" + to
	}
	lead := strings.Index(text, bare)
	return text[:lead] + to + text[lead+len(bare):]
}

// withoutTwins writes the list of tags anew where a change has made two of one.
func withoutTwins(text, edited []byte, changed int) ([]byte, int, error) {
	before, now := tagList(text), tagList(edited)
	once := unique(now)
	if len(once) == len(now) || len(unique(before)) < len(before) {
		return edited, changed, nil
	}
	list, err := json.Marshal(once)
	if err != nil {
		return nil, 0, err
	}
	value, err := ParseValue(string(list), TypeMultitext)
	if err != nil {
		return nil, 0, err
	}
	edited, err = Set(edited, "tags", value)
	return edited, changed, err
}

// tagList returns the elements of the property tags if it is a list of strings.
func tagList(text []byte) (elements []string) {
	block := markdown.Scan(text).Frontmatter
	properties, err := Parse(text[block.Start:block.End])
	if err != nil {
		return nil
	}
	tags, _ := properties.Lookup("tags")
	for _, value := range tags.Value.List() {
		if value.Kind() != String {
			return nil
		}
		elements = append(elements, value.Text())
	}
	return elements
}

// unique returns tags without those that are there already in whatever case.
func unique(tags []string) (once []string) {
	for _, tag := range tags {
		same := func(other string) bool {
			return strings.EqualFold(strings.TrimPrefix(strings.TrimSpace(other), "#"), strings.TrimPrefix(strings.TrimSpace(tag), "#"))
		}
		if !slices.ContainsFunc(once, same) {
			once = append(once, tag)
		}
	}
	return once
}
