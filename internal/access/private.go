package access

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Private names what narrows the access to a note in the note itself: properties, of which the
// value is the level, and tags, of which each is the level none. The names are folded and sorted.
// The zero Private is nothing.
type Private struct{ Properties, Tags []string }

// keyProperties and keyTags are in place of paths in the text of rules. No path begins with a slash.
const keyProperties, keyTags = "//properties", "//tags"

// MaxPrivateName is the longest name of a property or tag, in bytes.
const MaxPrivateName = 100

// NewPrivate returns the names as they are compared. Tags may have their "#". The error names one
// that no property or tag can have.
func NewPrivate(properties, tags []string) (p Private, err error) {
	for _, name := range properties {
		if name = strings.TrimSpace(name); name == "" || len(name) > MaxPrivateName ||
			strings.ContainsFunc(name, unicode.IsControl) {
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

// IsZero reports whether no note narrows access.
func (p Private) IsZero() bool { return len(p.Properties)+len(p.Tags) == 0 }

// Within reports whether every name of p is one of q.
func (p Private) Within(q Private) bool {
	in := func(some, all []string) bool {
		return !slices.ContainsFunc(some, func(name string) bool { return !slices.Contains(all, name) })
	}
	return in(p.Properties, q.Properties) && in(p.Tags, q.Tags)
}

// Union returns the names of both.
func (p Private) Union(q Private) Private {
	both := func(a, b []string) []string {
		all := slices.Concat(a, b)
		slices.Sort(all)
		return slices.Compact(all)
	}
	return Private{both(p.Properties, q.Properties), both(p.Tags, q.Tags)}
}

// Covers reports whether a tag without "#" is a private one, or below one.
func (p Private) Covers(tag string) bool {
	tag = Fold(tag)
	return slices.ContainsFunc(p.Tags, func(private string) bool {
		rest, ok := strings.CutPrefix(tag, private)
		return ok && (rest == "" || rest[0] == '/')
	})
}

// Names reports whether a property narrows access by its value.
func (p Private) Names(property string) bool {
	return slices.Contains(p.Properties, Fold(strings.TrimSpace(property)))
}

// Private returns what notes narrow access to themselves by.
func (r Rules) Private() Private { return r.private }

// WithPrivate returns the rules under which notes narrow access to themselves by p, too.
func (r Rules) WithPrivate(p Private) Rules {
	if p.Within(r.private) {
		return r
	}
	return rulesOf(r.layers, r.private.Union(p))
}

// isTagName reports whether a text can be the name of a tag, without its "#".
func isTagName(name string) bool {
	hasLetter := strings.Trim(name, "/0123456789") != ""
	if !hasLetter || len(name) > MaxPrivateName || Fold(name) == "" {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		isMark := strings.ContainsRune("#,.;:!?'\"()[]{}<>|\\`^*+=&%$@~", r)
		return isMark || unicode.IsSpace(r) || unicode.IsControl(r)
	})
}
