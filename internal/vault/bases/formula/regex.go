package formula

// [CompileRegex] compiles regular expressions of JavaScript for a backtracking engine, with bounds for the time and
// memory of a match.
//
// It refuses constructs that JavaScript does not have. The engine works on characters, where JavaScript without the
// flag u works on UTF-16 code units.

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// Regexp is a compiled regular expression. A match that exceeds its time or memory is an error.
type Regexp = regexp2.Regexp

// Match is a match with its groups.
type Match = regexp2.Match

// RegexFlags of a regular expression that change what it matches.
type RegexFlags struct {
	IgnoreCase, Multiline, DotAll, Unicode bool
}

// The engine has one clock for all matches, which advances in these steps: a match may end that
// much after its limit.
func init() { regexp2.SetTimeoutCheckPeriod(10 * time.Millisecond) }

// maxStack bounds the backtracking stack of a match, in integers: 32 MiB.
const maxStack = 4 << 20

// CompileRegex compiles source. limit bounds the time of one match, approximately.
func CompileRegex(source string, flags RegexFlags, limit time.Duration) (*Regexp, error) {
	// Groups that JavaScript does not have are refused, and regexes that take too long to compile. folding is
	// an equivalent regex that compiles in microseconds: with case ignored, broad classes are cheap only as
	// the negation of narrow ones.
	broad := 0
	var folding strings.Builder
	for at := 0; at < len(source); {
		next := NextInRegex(source, at)
		piece := source[at:next]
		if len(piece) > len(`\W`) {
			broad += strings.Count(piece, `\W`) + strings.Count(piece, `\S`) + strings.Count(piece, `\D`)
		}
		if rest, ok := strings.CutPrefix(source[at:], "(?"); ok &&
			(rest == "" || strings.IndexByte("=!<:", rest[0]) < 0) {
			if flags, _, found := strings.Cut(rest, ":"); !found || strings.Trim(flags, "ims-") != "" {
				return nil, errors.New("unknown kind of group")
			}
		}
		switch {
		case piece == `\W` || piece == `\S` || piece == `\D`:
			piece = `[^\` + strings.ToLower(piece[1:]) + "]"
		case piece == "." && !flags.DotAll:
			piece = `[^\n\r\u2028\u2029]`
		}
		folding.WriteString(piece)
		at = next
	}
	if broad > maxBroad {
		return nil, errors.New(`too many of \W, \S and \D in classes`)
	}

	options := regexp2.ECMAScript
	if flags.Multiline {
		options |= regexp2.Multiline
	}
	if flags.DotAll {
		options |= regexp2.Singleline
	}
	if flags.Unicode {
		options |= regexp2.Unicode
	}
	if flags.IgnoreCase {
		options |= regexp2.IgnoreCase
		source = folding.String()
	}
	compiled, err := regexp2.Compile(source, options, regexp2.OptionMaxBacktrackingStackSize(maxStack))
	if err != nil {
		return nil, err
	}
	compiled.MatchTimeout = limit
	return compiled, nil
}

// WithinLimit returns re with the lower of its limit and this one.
func WithinLimit(re *Regexp, limit time.Duration) *Regexp {
	if limit >= re.MatchTimeout {
		return re
	}
	limited := *re
	limited.MatchTimeout = limit
	return &limited
}

// EachMatch visits the matches in a text, from an offset in bytes on, until visit returns false. limit
// bounds the time of all of them together.
func EachMatch(re *Regexp, text string, from int, limit time.Duration, visit func(*Match) bool) error {
	begun := time.Now()
	limited := *re
	limited.MatchTimeout = limit
	m, err := limited.FindStringMatchStartingAt(text, from)
	for err == nil && m != nil && visit(m) {
		limited.MatchTimeout = max(0, limit-time.Since(begun))
		m, err = limited.FindNextMatch(m)
	}
	return err
}

// maxBroad is the maximum number of negated escapes inside classes: each can take the engine 15
// milliseconds to compile.
const maxBroad = 32

// NextInRegex returns the offset after the character, escape or class at an offset.
func NextInRegex(source string, at int) int {
	switch source[at] {
	case '\\':
		return min(at+2, len(source))
	case '[':
		for at++; at < len(source) && source[at] != ']'; at++ {
			if source[at] == '\\' {
				at++
			}
		}
	}
	return min(at+1, len(source))
}

// Template is a replacement of JavaScript: texts and groups in turn.
type Template []piece

type piece struct {
	text  string
	group int // whose text is meant, or one of those below
}

const (
	literal = -1 - iota
	before  // all of the text before the match
	after   // and after it
)

// NewTemplate reads a template for the matches of re: $1 to $99 and $<name> are groups, $& is
// the match and $$ a dollar sign. All else is literal, also a group that re does not have, the
// first of which is unknown.
func NewTemplate(re *Regexp, source string) (t Template, unknown string) {
	return readTemplate(re, source, nil)
}

// newAroundTemplate is NewTemplate in which $` and $' are the text before and after the match.
func newAroundTemplate(re *Regexp, source string) Template {
	t, _ := readTemplate(re, source, map[byte]int{'`': before, '\'': after})
	return t
}

// readTemplate reads a template in which a dollar sign and one of these further characters are a group.
func readTemplate(re *Regexp, source string, further map[byte]int) (t Template, unknown string) {
	for source != "" {
		text, rest, found := strings.Cut(source, "$")
		t = append(t, piece{text, literal})
		if !found {
			break
		}
		p := piece{"$", literal}
		size := 0
		switch {
		case rest == "":
		case rest[0] == '$':
			size = 1
		case rest[0] == '&':
			p.group = 0
			size = 1
		default:
			var known bool
			if p.group, known = further[rest[0]]; known {
				size = 1
				break
			}
			if p.group, size, known = reference(re, rest); !known {
				if size > 0 && unknown == "" {
					unknown = "$" + rest[:size]
				}
				p.group = literal
				size = 0
			}
		}
		t = append(t, p)
		source = rest[size:]
	}
	return t, unknown
}

// reference reads the group that is named after a dollar sign, and how long its name is written:
// 0 if it is none.
func reference(re *Regexp, rest string) (group, size int, known bool) {
	numbers := re.GetGroupNumbers()
	names := re.GetGroupNames()
	if rest[0] == '<' {
		name, _, closed := strings.Cut(rest[1:], ">")
		if !closed {
			return 0, 0, false
		}
		if place := slices.Index(names, name); place >= 0 && name != "" { // which is that of all groups without one
			return numbers[place], len(name) + 2, true
		}
		return 0, len(name) + 2, false
	}
	for _, digits := range []int{2, 1} {
		if len(rest) < digits || strings.Trim(rest[:digits], "0123456789") != "" {
			continue
		}
		n, err := strconv.Atoi(rest[:digits])
		if err == nil && n > 0 && slices.Contains(numbers, n) {
			return n, digits, true
		}
	}
	if rest[0] >= '1' && rest[0] <= '9' {
		return 0, 1, false
	}
	return 0, 0, false
}

// WriteTo writes what t puts in the place of a match in a text. It is false, and something is
// missing, if out would be longer than limit.
func (t Template) WriteTo(out *strings.Builder, text string, m *Match, limit int) bool {
	start, length := m.ByteRange()
	for _, p := range t {
		part := p.text
		switch p.group {
		case literal:
		case before:
			part = text[:start]
		case after:
			part = text[start+length:]
		default:
			part = m.GroupByNumber(p.group).String()
		}
		if out.Len()+len(part) > limit {
			return false
		}
		out.WriteString(part)
	}
	return true
}
