package access

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Private names the properties and tags with which a note restricts access to itself. The value of
// such a property is the level; each such tag means the level none. The names are folded and sorted.
// The zero Private names nothing.
type Private struct{ Properties, Tags []string }

// keyProperties and keyTags take the place of paths in the text of rules. No path begins with a slash.
const (
	keyProperties = "//properties"
	keyTags       = "//tags"
)

// MaxPrivateName is the maximum length of the name of a property or tag, in bytes.
const MaxPrivateName = 100

// NewPrivate returns the names in their folded form. Tags may begin with "#". It returns an error for
// a name that no property or tag can have.
func NewPrivate(properties, tags []string) (p Private, err error) {
	for _, name := range properties {
		name = strings.TrimSpace(name)
		hasLength := name != "" && len(name) <= MaxPrivateName
		if !hasLength || strings.ContainsFunc(name, unicode.IsControl) {
			return Private{}, fmt.Errorf(
				"%q is not the name of a property: want 1 to %d bytes without control characters",
				name,
				MaxPrivateName,
			)
		}
		folded := Fold(name)
		if folded == "" {
			return Private{}, fmt.Errorf("%q is not the name of a property: it has no visible character", name)
		}
		p.Properties = append(p.Properties, folded)
	}
	for _, tag := range tags {
		name := strings.TrimPrefix(strings.TrimSpace(tag), "#")
		if !isTagName(name) {
			return Private{}, fmt.Errorf("%q is not a tag: want letters, digits, - and _, parts separated by /", tag)
		}
		p.Tags = append(p.Tags, Fold(strings.TrimSuffix(name, "/")))
	}
	return p.Union(Private{}), nil
}

// IsZero reports whether p names nothing, so that no note restricts access to itself.
func (p Private) IsZero() bool { return len(p.Properties)+len(p.Tags) == 0 }

// Within reports whether every name of p is one of q.
func (p Private) Within(q Private) bool {
	areIn := func(names, all []string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(all, name) })
	}
	return areIn(p.Properties, q.Properties) && areIn(p.Tags, q.Tags)
}

// Union returns the names of p and q.
func (p Private) Union(q Private) Private {
	union := func(a, b []string) []string {
		all := slices.Concat(a, b)
		slices.Sort(all)
		return slices.Compact(all)
	}
	return Private{union(p.Properties, q.Properties), union(p.Tags, q.Tags)}
}

// Covers reports whether a tag, without "#", is one of the tags or below one.
func (p Private) Covers(tag string) bool {
	tag = Fold(tag)
	return slices.ContainsFunc(p.Tags, func(private string) bool {
		rest, ok := strings.CutPrefix(tag, private)
		return ok && (rest == "" || rest[0] == '/')
	})
}

// Names reports whether a property is one of the properties.
func (p Private) Names(property string) bool {
	return slices.Contains(p.Properties, Fold(strings.TrimSpace(property)))
}

// Private returns the properties and tags with which notes restrict access to themselves.
func (r Rules) Private() Private { return r.private }

// WithPrivate returns the rules under which notes can also restrict access to themselves with p.
func (r Rules) WithPrivate(p Private) Rules {
	if p.Within(r.private) {
		return r
	}
	return rulesOf(r.layers, r.private.Union(p))
}

// isTagName reports whether a text can be the name of a tag without "#".
func isTagName(name string) bool {
	hasLetter := strings.Trim(name, "/0123456789") != ""
	if !hasLetter || len(name) > MaxPrivateName || Fold(name) == "" {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		isPunctuation := strings.ContainsRune("#,.;:!?'\"()[]{}<>|\\`^*+=&%$@~", r)
		return isPunctuation || unicode.IsSpace(r) || unicode.IsControl(r)
	})
}
