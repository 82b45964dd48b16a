package query

import (
	"bytes"
	"strings"
	"unicode"

	"vaultwicket/cmd/internal/vault/query/trigram"
)

// tag is a tag with its "#", and where in the text it is; -1 if it is in the
// frontmatter.
type tag struct {
	text []byte
	at   int
}

// propertyTags returns the tags of the property of that name. Text that cannot
// be a tag is none, a list in one string included.
func propertyTags(p Property) []tag {
	var tags []tag
	for _, v := range p.Values {
		name := strings.TrimPrefix(v.Text, "#")
		if v.Kind == Words && name != "" && !strings.ContainsFunc(name, unfitForTag) {
			tags = append(tags, tag{text: []byte("#" + name), at: -1})
		}
	}
	return tags
}

func unfitForTag(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("!\"#$%&'()*+,.:;<=>?@[\\]^{|}~`", r)
}

// tagTerm matches where one of the tags does.
type tagTerm struct {
	pattern        // as written
	name    []byte // folded, without "#"; nil for a regex
}

func (t *tagTerm) match(s *search, in scope) bool {
	found := false
	for _, tag := range s.tagsOf() {
		if !in.whole && (tag.at < in.start || tag.at >= in.end) || !t.fits(s, tag.text) {
			continue
		}
		found = true
		if tag.at >= 0 {
			s.put(tag.at)
		}
		if !s.collects {
			break
		}
	}
	return found
}

// fits reports whether a tag is the wanted one or nested in it.
func (t *tagTerm) fits(s *search, text []byte) bool {
	if t.name == nil {
		return (&term{pattern: t.pattern}).foundIn(s, text)
	}
	have := foldString(string(text[1:]))
	rest, ok := bytes.CutPrefix(have, t.name)
	return ok && (len(rest) == 0 || len(t.name) == 0 || rest[0] == '/')
}

// foresee knows nothing: the name of a tag in the frontmatter may be escaped there.
func (t *tagTerm) foresee(*search, trigram.Filter) Outlook { return Perhaps }

func (t *tagTerm) possible([]byte) bool { return true }
func (t *tagTerm) cost() cost           { return max(looksAtIndex, t.pattern.cost()) }
func (t *tagTerm) needsText() bool      { return true }

// tagName returns the name by which a tag is compared. It is not nil.
func tagName(text string) []byte {
	return foldString(strings.TrimSuffix(strings.TrimPrefix(text, "#"), "/"))
}
