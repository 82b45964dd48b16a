package formula

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dlclark/regexp2/v2"
)

// Regexp is a compiled regular expression. A match that exceeds its limits of time or memory is an error.
type Regexp = regexp2.Regexp

// Match is a match with its groups.
type Match = regexp2.Match

// RegexFlags are the flags of a regular expression that change what it matches.
type RegexFlags struct {
	IgnoreCase, Multiline, DotAll, Unicode bool
}

// The engine has one clock for all matches, which advances in these steps. A match may exceed its limit by
// one step.
func init() { regexp2.SetTimeoutCheckPeriod(10 * time.Millisecond) }

// maxStack is the maximum size of the backtracking stack of a match, in integers. It takes 32 MiB.
const maxStack = 4 << 20

// maxBroad is the maximum number of negated escapes in classes. The engine may need 15 milliseconds to compile
// each.
const maxBroad = 32

// CompileRegex compiles a JavaScript regular expression for a backtracking engine. It rejects constructs that
// JavaScript does not have. The engine matches characters, whereas JavaScript without the flag u matches UTF-16 code
// units. limit is the approximate time limit of a match.
func CompileRegex(source string, flags RegexFlags, limit time.Duration) (*Regexp, error) {
	// Reject groups that JavaScript does not have, and regexes that take too long to compile. folding is an
	// equivalent regex that compiles in microseconds: if case is ignored, broad classes are cheap only as
	// negations of narrow ones.
	broad := 0
	var folding strings.Builder
	for at := 0; at < len(source); {
		next := NextInRegex(source, at)
		token := source[at:next]
		if token[0] == '[' {
			broad += strings.Count(token, `\W`) + strings.Count(token, `\S`) + strings.Count(token, `\D`)
		}
		if rest, isGroup := strings.CutPrefix(source[at:], "(?"); isGroup && !isKnownGroup(rest) {
			return nil, errors.New("unknown kind of group")
		}
		switch {
		case token == `\W` || token == `\S` || token == `\D`:
			token = `[^\` + strings.ToLower(token[1:]) + "]"
		case token == "." && !flags.DotAll:
			token = `[^\n\r\u2028\u2029]`
		}
		folding.WriteString(token)
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

// isKnownGroup reports whether JavaScript has a group that begins with "(?" and rest: a lookaround, a named group, or a
// group with or without flags before a colon.
func isKnownGroup(rest string) bool {
	if rest != "" && strings.IndexByte("=!<:", rest[0]) >= 0 {
		return true
	}
	flags, _, hasColon := strings.Cut(rest, ":")
	return hasColon && strings.Trim(flags, "ims-") == ""
}

// WithinLimit returns re with the lower of its own time limit and limit.
func WithinLimit(re *Regexp, limit time.Duration) *Regexp {
	if limit >= re.MatchTimeout {
		return re
	}
	limited := *re
	limited.MatchTimeout = limit
	return &limited
}

// EachMatch calls visit for the matches in a text from an offset in bytes on, until visit returns false. limit
// is the time limit for all matches together, in place of that of re.
func EachMatch(re *Regexp, text string, from int, limit time.Duration, visit func(*Match) bool) error {
	start := time.Now()
	limited := *re
	limited.MatchTimeout = limit
	m, err := limited.FindStringMatchStartingAt(text, from)
	for err == nil && m != nil && visit(m) {
		limited.MatchTimeout = max(0, limit-time.Since(start))
		m, err = limited.FindNextMatch(m)
	}
	return err
}

// NextInRegex returns the offset after the byte, escape or class at an offset.
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

// Template is a replacement as in JavaScript, a sequence of texts and groups.
type Template []piece

// piece is a text or a group of a template.
type piece struct {
	text  string
	group int // number of the group, or one of the constants below
}

const (
	groupLiteral = -1 - iota
	groupBefore  // the text before the match
	groupAfter   // the text after the match
)

// NewTemplate parses a template for the matches of re: $1 to $99 and $<name> are groups, $& is the match, and
// $$ is a dollar sign. Everything else is literal, including groups that re does not have; unknown is the
// first of these, or "".
func NewTemplate(re *Regexp, source string) (t Template, unknown string) {
	return readTemplate(re, source, nil)
}

// newAroundTemplate is NewTemplate with $` and $' for the texts before and after the match.
func newAroundTemplate(re *Regexp, source string) Template {
	t, _ := readTemplate(re, source, map[byte]int{'`': groupBefore, '\'': groupAfter})
	return t
}

// readTemplate parses a template. special maps the characters that may follow a dollar sign, besides those, to a group.
func readTemplate(re *Regexp, source string, special map[byte]int) (t Template, unknown string) {
	for source != "" {
		text, rest, found := strings.Cut(source, "$")
		t = append(t, piece{text, groupLiteral})
		if !found {
			break
		}
		p := piece{"$", groupLiteral}
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
			p.group, known = special[rest[0]]
			if known {
				size = 1
				break
			}
			p.group, size, known = reference(re, rest)
			if !known {
				if size > 0 && unknown == "" {
					unknown = "$" + rest[:size]
				}
				p.group = groupLiteral
				size = 0
			}
		}
		t = append(t, p)
		source = rest[size:]
	}
	return t, unknown
}

// reference parses the group after a dollar sign. size is the length in bytes of its number or name, or 0 if
// there is no group. known reports whether re has the group.
func reference(re *Regexp, rest string) (group, size int, known bool) {
	numbers := re.GetGroupNumbers()
	names := re.GetGroupNames()
	if rest[0] == '<' {
		name, _, closed := strings.Cut(rest[1:], ">")
		if !closed {
			return 0, 0, false
		}
		if place := slices.Index(names, name); place >= 0 && name != "" { // "" is the name of groups without a name
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

// WriteTo writes the replacement of a match in text, the text that was searched. It stops and returns false if out
// would become longer than limit bytes.
func (t Template) WriteTo(out *strings.Builder, text string, m *Match, limit int) bool {
	start, length := m.ByteRange()
	for _, p := range t {
		part := p.text
		switch p.group {
		case groupLiteral:
		case groupBefore:
			part = text[:start]
		case groupAfter:
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
