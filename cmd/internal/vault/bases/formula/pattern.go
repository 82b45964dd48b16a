package formula

import (
	"strings"
	"time"

	"vaultwicket/cmd/internal/vault/regex"
)

// pattern is a regular expression literal in the dialect of JavaScript, compiled.
type pattern struct {
	body, flags string
	compiled    *regex.Regexp
}

// eachMatch visits the first match of a regular expression or all. Running out of budget is an
// error that ends the session.
func (r *Row) eachMatch(re Value, text string, all bool, visit func(*regex.Match) bool) Value {
	alive := r.alive
	defer func() { r.let(alive) }()
	r.alive += 5 * int64(len(text)) // the engine takes its characters apart
	if r.hold(Value{}) {
		r.err = r.budget.Match(re.Text(), func(left time.Duration) error {
			begun, engine := time.Now(), *re.ref.(*pattern).compiled
			engine.MatchTimeout = left
			match, err := engine.FindStringMatch(text)
			for err == nil && match != nil && visit(match) && all && r.spend(4) {
				engine.MatchTimeout = max(0, left-time.Since(begun))
				match, err = engine.FindNextMatch(match)
			}
			return err
		})
	}
	if r.err != nil {
		return r.ended()
	}
	return Value{}
}

// replaceMatches replaces the first match, or with the flag g all, by an expanded template.
func (c *call) replaceMatches(re Value, text, template string) Value {
	var out strings.Builder
	end := 0
	failed := c.row.eachMatch(re, text, strings.Contains(re.ref.(*pattern).flags, "g"), func(m *regex.Match) bool {
		start, length := m.ByteRange()
		out.WriteString(text[end:start])
		expand(&out, template, text, m)
		end = start + length
		return out.Len() <= maxText
	})
	if failed.IsError() {
		return failed
	}
	out.WriteString(text[end:])
	return bounded(out.String())
}

// expand writes a template: $1 to $99 and $<name> are groups, $& is the match, $` and $' are
// the text before and after it, $$ is a dollar sign. All else is literal. It stops when the
// text exceeds maxText.
func expand(out *strings.Builder, template, text string, m *regex.Match) {
	for out.Len() <= maxText {
		i := strings.IndexByte(template, '$')
		if i < 0 || i+1 == len(template) {
			out.WriteString(template)
			return
		}
		out.WriteString(template[:i])
		with, size := reference(template[i+1:], text, m)
		if size == 0 {
			with = "$"
		}
		out.WriteString(with)
		template = template[i+1+size:]
	}
}

// reference returns the replacement for the characters after a dollar sign and how many they
// are, 0 if they are literal.
func reference(rest, text string, m *regex.Match) (with string, size int) {
	start, length := m.ByteRange()
	switch rest[0] {
	case '$':
		return "$", 1
	case '&':
		return m.String(), 1
	case '`':
		return text[:start], 1
	case '\'':
		return text[start+length:], 1
	case '<':
		name, _, closed := strings.Cut(rest[1:], ">")
		named := false // whether a group has a name of its own
		for _, g := range m.Groups() {
			named = named || strings.Trim(g.Name, "0123456789") != ""
		}
		if g := m.GroupByName(name); closed && g != nil && named {
			return g.String(), len(name) + 2
		}
		return "", 0
	}
	for digits := 2; digits > 0; digits-- {
		if n, ok := groupNumber(rest, digits); ok && n > 0 && n < m.GroupCount() {
			return m.GroupByNumber(n).String(), digits
		}
	}
	return "", 0
}

func groupNumber(text string, digits int) (n int, ok bool) {
	if len(text) < digits {
		return 0, false
	}
	for _, c := range []byte(text[:digits]) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// splitMatches splits text at the matches. As in JavaScript, groups are parts of their own, and
// empty matches at the ends do not split.
func (c *call) splitMatches(re Value, text string) Value {
	var parts []Value
	end := 0
	failed := c.row.eachMatch(re, text, true, func(m *regex.Match) bool {
		start, length := m.ByteRange()
		if length == 0 && (start == 0 && end == 0 || start >= len(text) || start == end && start == 0) {
			return true
		}
		parts = append(parts, OfText(text[end:start]))
		for _, g := range m.Groups()[1:] {
			if len(g.Captures) == 0 {
				parts = append(parts, Value{})
				continue
			}
			parts = append(parts, OfText(g.String()))
		}
		end = start + length
		return len(parts) < maxElements
	})
	if failed.IsError() {
		return failed
	}
	return OfList(append(parts, OfText(text[end:])))
}
