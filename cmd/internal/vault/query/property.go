package query

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/query/trigram"
)

// property matches where one of the properties of that name has a fitting value.
type property struct {
	names []propertyName
	value node // nil if the name is enough
}

func (p *property) match(s *search, _ scope) bool {
	return slices.ContainsFunc(s.propertiesOf(), func(have Property) bool {
		return p.named(s, have.Name) && (p.value == nil || p.value.match(s, scope{whole: true, values: have.Values}))
	})
}

func (p *property) named(s *search, name string) bool {
	return slices.ContainsFunc(p.names, func(n propertyName) bool { return n.fits(s, name) })
}

// foresee knows nothing: names and values may be escaped in the frontmatter.
func (p *property) foresee(*search, trigram.Filter) Outlook { return Perhaps }

func (p *property) possible([]byte) bool { return true }
func (p *property) cost() cost           { return looksAtIndex }
func (p *property) needsText() bool      { return true }

func (p *property) write(to []byte) []byte {
	to = append(to, '[')
	for i, name := range p.names {
		if i > 0 {
			to = append(to, " OR "...)
		}
		to = name.write(to)
	}
	if p.value != nil {
		to = p.value.write(append(to, ':'))
	}
	return append(to, ']')
}

// propertyName is one of the names a property may have.
type propertyName struct {
	pattern        // as written
	name    []byte // folded; nil for a regex
}

func (n propertyName) fits(s *search, name string) bool {
	if n.name == nil {
		return (&term{pattern: n.pattern}).foundIn(s, []byte(name))
	}
	return bytes.Equal(foldString(name), n.name)
}

// valueTerm matches where one of the values of a property does.
type valueTerm struct {
	pattern
	fits func(Value) bool // decides before the pattern, if not nil
	only bool             // decides alone
}

func (v *valueTerm) match(s *search, in scope) bool {
	return slices.ContainsFunc(in.values, func(have Value) bool {
		if v.fits != nil && v.fits(have) {
			return true
		}
		return !v.only && have.Kind != Nothing && (&term{pattern: v.pattern}).foundIn(s, []byte(have.Text))
	})
}

func (v *valueTerm) foresee(*search, trigram.Filter) Outlook { return Perhaps }

func (v *valueTerm) possible([]byte) bool { return true }
func (v *valueTerm) needsText() bool      { return true }

// newValueWord gives meaning to the words that stand for no text: null, TRUE,
// FALSE, <5 and >5. It fails on a comparison without a number.
func newValueWord(w words) (*valueTerm, bool) {
	switch {
	case strings.EqualFold(w.raw, "null"):
		return &valueTerm{pattern: w, only: true, fits: func(v Value) bool { return v.Kind == Nothing }}, true
	case strings.EqualFold(w.raw, "true"), strings.EqualFold(w.raw, "false"):
		return &valueTerm{pattern: w, fits: func(v Value) bool { return v.Kind == Truth && strings.EqualFold(v.Text, w.raw) }}, true
	case w.raw[0] == '<', w.raw[0] == '>':
		limit, err := strconv.ParseFloat(w.raw[1:], 64)
		return &valueTerm{pattern: w, only: true, fits: compares(w.raw[0], limit)}, err == nil
	}
	return &valueTerm{pattern: w}, true
}

func compares(sign byte, limit float64) func(Value) bool {
	return func(v Value) bool {
		return v.Kind == Number && (sign == '<' && v.Number < limit || sign == '>' && v.Number > limit)
	}
}
