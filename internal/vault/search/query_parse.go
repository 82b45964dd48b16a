package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
)

// The limits of a query.
const (
	maxLength = 4 << 10 // bytes; queries are typed, or pasted sentences
	maxDepth  = 32      // of nested parentheses, dashes and operators; it bounds the stack
	maxScopes = 4       // of nested operators that divide a text; each may multiply the work by the depth of headings
	maxTerms  = 256     // each can cost a pass over the text
)

// parser reads a query from left to right without backtracking. Its methods report errors by
// panicking with a [*ParseError], which [ParseQuery] recovers.
type parser struct {
	text      string
	at        int
	terms     int
	hasSyntax bool // there is more than plain words
	sections  int  // section operators so far
}

// alternatives reads groups of adjacent terms that are separated by OR.
func (p *parser) alternatives(set setting) node {
	var sides []node
	for {
		var terms []node
		for p.skipBlanks(); !p.atEnd(set) && !p.atOR(); p.skipBlanks() {
			terms = append(terms, p.term(set))
		}
		switch {
		case len(terms) == 1:
			sides = append(sides, terms[0])
		case len(terms) > 1:
			sides = append(sides, newGroup(terms))
		case len(sides) > 0 || p.atOR():
			p.failLonelyOR()
		case p.at < len(p.text) && p.text[p.at] == ']':
			p.fail(
				p.at,
				"property_valueless",
				"a property with a colon and no value",
				"leave the colon out, or write [name:null] for a property without a value",
			)
		default:
			p.fail(
				p.at,
				"group_empty",
				"there is nothing in the parentheses",
				"write terms between them, or \"()\" for the text",
			)
		}
		if !p.atOR() {
			break
		}
		p.hasSyntax = true
		p.at += len("OR")
	}
	if len(sides) == 1 {
		return sides[0]
	}
	return newAlternatives(sides)
}

// term reads one term. At least one character is left.
func (p *parser) term(set setting) node {
	set.depth++
	if set.depth > maxDepth || set.scopes > maxScopes {
		p.fail(
			p.at,
			"query_too_deep",
			"too many parts inside of each other",
			"use fewer parentheses and operators inside of each other",
		)
	}
	if p.atOR() {
		p.failLonelyOR()
	}
	switch p.text[p.at] {
	case '-':
		return p.negation(set)
	case '(':
		return p.group(set)
	case '[':
		p.hasSyntax = true
		return p.property(set)
	case ']':
		p.failUnopened()
	}
	if name, inside := p.operator(set); name != "" {
		p.hasSyntax = true
		return p.operatorTerm(name, inside, set)
	}
	p.refuseUnknown(set)
	return p.leaf(set)
}

// negation reads a dash and the term that it negates.
func (p *parser) negation(set setting) node {
	p.hasSyntax = true
	start := p.at
	p.at++
	if p.atEnd(set) || p.atBlank() {
		p.fail(
			start,
			"dash_alone",
			"a dash with nothing behind it",
			"write -term to exclude a term, or \"-\" for the dash itself",
		)
	}
	return not{p.term(set)}
}

// group reads terms in parentheses.
func (p *parser) group(set setting) node {
	p.hasSyntax = true
	open := p.failure(p.at, "group_open", "a parenthesis is not closed", "add \")\", or put the text in quotes")
	p.at++
	inner := p.within(set, open)
	if !p.accept(')') {
		panic(open)
	}
	return inner
}

// operatorTerm reads the term of an operator, whose name and colon have been read. inside is the setting of the term,
// and set that of the operator.
func (p *parser) operatorTerm(name string, inside, set setting) node {
	if p.atEnd(set) || p.atBlank() {
		p.fail(
			p.at-1,
			"operator_empty",
			fmt.Sprintf("operator %q has no term", name+":"),
			fmt.Sprintf(
				"write %[1]s:term without a blank, %[1]s:\"\" for any text, or \"%[1]s:\" in quotes for the text itself",
				name,
			),
		)
	}
	before := p.sections
	op := operator{name: name, node: p.term(inside)}
	k, divides := dividers[name]
	if !divides {
		return &op
	}
	if k == sections {
		if p.sections > before {
			k = deepSections
		}
		p.sections++
	}
	return &part{operator: op, kind: k}
}

// within reads the terms in a bracket. If the query ends there, the error is open, which reports that
// the bracket is not closed.
func (p *parser) within(set setting, open *ParseError) node {
	p.skipBlanks()
	if p.done() {
		panic(open)
	}
	return p.alternatives(set)
}

// operator reads the name and colon of an operator and returns the setting for its term. If there is
// no known operator, it reads nothing and returns "".
func (p *parser) operator(set setting) (name string, inside setting) {
	size := strings.IndexFunc(p.text[p.at:], func(r rune) bool { return r != '-' && !isASCIILetter(r) })
	if set.field == inValues || size < 0 || p.text[p.at+size] != ':' {
		return "", set
	}
	name = strings.ToLower(p.text[p.at : p.at+size])
	switch name {
	case "file":
		set.field = inName
	case "path":
		set.field = inPath
	case "content":
		set.field = inText
	case "tag":
		set.field = inTags
	case "match-case":
		set.letters = matchCase
	case "ignore-case":
		set.letters = ignoreCase
	default:
		if _, divides := dividers[name]; !divides {
			return "", set
		}
		set.field = inText
		set.scopes++
	}
	p.at += size + 1
	return name, set
}

// countTerm fails if the query has too many terms.
func (p *parser) countTerm() {
	p.terms++
	if p.terms > maxTerms {
		p.fail(p.at, "query_too_long", "too many terms", "write a shorter query")
	}
}

// leaf reads a word, a phrase or a regex.
func (p *parser) leaf(set setting) node {
	p.countTerm()
	start := p.at
	pattern, text := p.pattern(set)
	switch set.field {
	case inTags:
		if _, isRegex := pattern.(*regexTerm); isRegex {
			return &tagTerm{pattern: pattern}
		}
		if text == "#" {
			p.fail(start, "operator_empty", "a tag without a name", "write tag:#name, or tag:\"\" for any tag")
		}
		return &tagTerm{pattern: pattern, name: foldString(strings.TrimSuffix(strings.TrimPrefix(text, "#"), "/"))}
	case inValues:
		if _, isWord := pattern.(wordPattern); !isWord {
			return &valueTerm{pattern: pattern}
		}
		return p.valueWord(pattern, text, start)
	}
	return &term{pattern: pattern, field: set.field}
}

// pattern reads the pattern of a term, and returns the text of a word or phrase with it.
func (p *parser) pattern(set setting) (found pattern, text string) {
	isPhrase := false
	switch p.text[p.at] {
	case '/':
		return p.regex(set.letters), ""
	case '"':
		isPhrase = true
		text = p.quoted()
	default:
		text = p.word(set)
	}
	searched := text // note texts are not normalized, but paths are in normal form C
	if set.field == inName || set.field == inPath {
		searched = norm.NFC.String(text)
	}
	word := wordPattern{needle: newNeedle(searched, set.letters), raw: text}
	if isPhrase {
		return phrase{word}, text
	}
	return word, text
}

// word reads a word.
func (p *parser) word(set setting) string {
	ends := `()"`
	if set.field == inValues {
		ends = `()"[]`
	}
	start := p.at
	for !p.done() && !p.atBlank() && strings.IndexByte(ends, p.text[p.at]) < 0 {
		_, size := utf8.DecodeRuneInString(p.text[p.at:])
		p.at += size
	}
	return p.text[start:p.at]
}

// valueWord returns the term of a word at an offset in the value of a property. Some words have a special meaning:
// null, true, false, and comparisons such as <5 and >5.
func (p *parser) valueWord(pattern pattern, text string, start int) *valueTerm {
	v := &valueTerm{pattern: pattern}
	switch {
	case strings.EqualFold(text, "null"):
		v.ignoresPattern = true
		v.fits = func(v frontmatter.Value) bool { return v.Kind() == frontmatter.Null }
	case strings.EqualFold(text, "true"), strings.EqualFold(text, "false"):
		v.fits = func(v frontmatter.Value) bool {
			return v.Kind() == frontmatter.Bool && strings.EqualFold(v.String(), text)
		}
	case text[0] == '<', text[0] == '>':
		limit, err := strconv.ParseFloat(text[1:], 64)
		if err != nil {
			p.fail(
				start,
				"comparison_without_number",
				fmt.Sprintf("%q compares with no number", text),
				"write a number directly behind < or >, or quotes for the text",
			)
		}
		v.ignoresPattern = true
		v.fits = func(v frontmatter.Value) bool {
			if v.Kind() != frontmatter.Number {
				return false
			}
			if text[0] == '<' {
				return v.Float() < limit
			}
			return v.Float() > limit
		}
	}
	return v
}

// quoted reads a phrase and returns its text without the escapes.
func (p *parser) quoted() string {
	start := p.at
	var text strings.Builder
	for p.at++; !p.done(); p.at++ {
		c := p.text[p.at]
		if c == '"' {
			p.at++
			return text.String()
		}
		after := p.text[p.at+1:]
		isEscape := strings.HasPrefix(after, `"`) || strings.HasPrefix(after, `\`)
		if c == '\\' && isEscape {
			p.at++
			c = p.text[p.at]
		}
		text.WriteByte(c)
	}
	panic(
		p.failure(
			start,
			"quote_open",
			"a quote is not closed",
			`add a quote at the end; a quote in a phrase is written \"`,
		),
	)
}

// regex reads a regex with its flags.
func (p *parser) regex(letters letterCase) *regexTerm {
	start := p.at
	end := start + 1
	for end < len(p.text) && p.text[end] != '/' {
		end = formula.NextInRegex(p.text, end)
	}
	if end >= len(p.text) {
		p.fail(start, "regex_open", "a regex is not closed", "add \"/\", or put the text in quotes if it is not one")
	}
	source := p.text[start+1 : end]
	p.at = end + 1
	if source == "" {
		p.fail(start, "regex_empty", "a regex without a pattern", "put the text in quotes if it is not one")
	}
	flags := p.at
	for ; !p.done() && !p.atBlank() && strings.IndexByte(`()"[]:`, p.text[p.at]) < 0; p.at++ {
		c := p.text[p.at]
		if strings.IndexByte("dgimsu", c) < 0 || strings.IndexByte(p.text[flags:p.at], c) >= 0 {
			p.fail(
				p.at,
				"regex_flag",
				"a regex with a flag that is not known here",
				"the flags are d, g, i, m, s and u; put the text in quotes if it is not a regex, and a path, too",
			)
		}
	}
	re, err := newRegex(source, p.text[flags:p.at], letters)
	if err != nil {
		problem, _, _ := strings.Cut(err.Error(), " in `") // the engine repeats the regex
		p.fail(
			start,
			"regex_bad",
			"not a regex: "+strings.TrimPrefix(problem, "error parsing regexp: "),
			"write it as in JavaScript, or put the text in quotes if it is not one",
		)
	}
	return re
}

// atEnd reports whether the query ends or the next character closes the bracket.
func (p *parser) atEnd(set setting) bool {
	if p.done() || p.text[p.at] == ')' {
		return true
	}
	return p.text[p.at] == ']' && set.field == inValues
}

// atOR reports whether the next word is OR.
func (p *parser) atOR() bool {
	rest, ok := strings.CutPrefix(p.text[p.at:], "OR")
	if !ok {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || unicode.IsSpace(next) || strings.ContainsRune(`()"[]`, next)
}

func isASCIILetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' }

func (p *parser) skipBlanks() {
	for !p.done() && p.atBlank() {
		_, size := utf8.DecodeRuneInString(p.text[p.at:])
		p.at += size
	}
}

func (p *parser) atBlank() bool {
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return unicode.IsSpace(r)
}

func (p *parser) done() bool { return p.at >= len(p.text) }

// accept reads c if it is the next character, and reports whether it was.
func (p *parser) accept(c byte) bool {
	if p.done() || p.text[p.at] != c {
		return false
	}
	p.at++
	return true
}

func (p *parser) failLonelyOR() {
	p.fail(p.at, "or_alone", "OR needs a term on each side", "add a term, or put \"OR\" in quotes for the word itself")
}

// failUnopened fails at a closing bracket without an opening one.
func (p *parser) failUnopened() {
	p.fail(
		p.at,
		"group_unopened",
		fmt.Sprintf("%q closes nothing", p.text[p.at:p.at+1]),
		"remove it, or put the text in quotes",
	)
}

func (p *parser) fail(at int, code, reason, hint string) { panic(p.failure(at, code, reason, hint)) }

// failure returns an error at an offset in bytes.
func (p *parser) failure(at int, code, reason, hint string) *ParseError {
	return &ParseError{code: code, At: 1 + utf8.RuneCountInString(p.text[:at]), Reason: reason, hint: hint}
}

// property reads [name], [name:value] or several names separated by OR.
func (p *parser) property(set setting) node {
	start := p.at
	if set.field == inValues {
		p.fail(start, "property_in_property", "a bracket inside of a property", "put the value in quotes")
	}
	p.at++
	prop := &property{names: p.names(start, set.depth)}
	if p.accept(':') {
		set.field = inValues
		prop.value = p.within(set, p.propertyOpen(start))
	}
	if p.accept(']') {
		return prop
	}
	if !p.done() && p.text[p.at] == ')' {
		p.failUnopened()
	}
	panic(p.propertyOpen(start))
}

// propertyOpen returns the error that the bracket at an offset is not closed.
func (p *parser) propertyOpen(start int) *ParseError {
	return p.failure(
		start,
		"property_open",
		"a bracket is not closed",
		"write [name] or [name:value], or put the text in quotes",
	)
}

// names reads the names of a property, with or without parentheses.
func (p *parser) names(start, depth int) []propertyName {
	depth++
	if depth > maxDepth {
		p.fail(p.at, "query_too_deep", "too many parts inside of each other", "use fewer parentheses")
	}
	var names []propertyName
	for {
		p.skipBlanks()
		if p.accept('(') {
			open := p.failure(
				p.at-1,
				"group_open",
				"a parenthesis is not closed",
				"add \")\", or put the name in quotes",
			)
			names = append(names, p.names(start, depth)...)
			if !p.accept(')') {
				panic(open)
			}
		} else {
			names = append(names, p.name(start))
			p.countTerm()
		}
		p.skipBlanks()
		if !p.atOR() {
			return names
		}
		p.at += len("OR")
	}
}

// name reads one name of a property. The bracket of the property is at start.
func (p *parser) name(start int) propertyName {
	if !p.done() && p.text[p.at] == '"' {
		raw := p.quoted()
		return propertyName{pattern: phrase{wordPattern{raw: raw}}, name: foldString(raw)}
	}
	if !p.done() && p.text[p.at] == '/' {
		return propertyName{pattern: p.regex(ignoreCase)}
	}
	var parts []string
	for p.skipBlanks(); !p.done() && !p.atOR(); p.skipBlanks() {
		start := p.at
		for !p.done() && !p.atBlank() && strings.IndexByte(`()"[]:`, p.text[p.at]) < 0 {
			p.at++
		}
		if p.at == start {
			break
		}
		parts = append(parts, p.text[start:p.at])
	}
	raw := strings.Join(parts, " ")
	if raw == "" && p.done() {
		panic(p.propertyOpen(start))
	}
	if raw == "" || !p.done() && p.text[p.at] == '[' {
		p.fail(
			start,
			"property_unnamed",
			"a bracket that begins no property",
			"write [name] or [name:value], or put the text in quotes",
		)
	}
	return propertyName{pattern: wordPattern{raw: raw}, name: foldString(raw)}
}

// operators are the names of all operators, without their colons.
var operators = []string{
	"file", "path", "content", "tag", "line", "block", "section", "task", "task-todo", "task-done",
	"match-case", "ignore-case",
}

// refuseUnknown fails, with advice, if the next word looks like an operator but is unknown.
func (p *parser) refuseUnknown(set setting) {
	if set.field != anywhere && set.field != inText {
		return
	}
	rest := p.text[p.at:]
	length := strings.IndexFunc(rest, func(r rune) bool { return !isASCIILetter(r) && !strings.ContainsRune("-_.", r) })
	if length < 2 || rest[:length] == "OR" { // a single letter names a drive
		return
	}
	after, isNamed := strings.CutPrefix(rest[length:], ":")
	if !isNamed || after == "" || strings.IndexByte(" \t\r\n/\\:)", after[0]) >= 0 {
		return
	}
	name := rest[:length]
	value := rest[length+1:]
	if end := endOfValue(value); end > 0 {
		value = value[:end]
	}
	replaceTerm := func(term string) string { // returns the query with another term in place of this one
		return excerpt.Short(p.text[:p.at] + term + rest[length+1+len(value):])
	}
	lower := strings.ToLower(name)
	advice := fmt.Sprintf("did you mean the property %s?", quoted(replaceTerm("["+name+":"+value+"]")))
	meant := excerpt.Nearest(lower, operators)
	if operator := operatorNamed(lower); operator != "" {
		meant = operator
	}
	switch {
	case slices.Contains(dates, lower):
		advice = "the search language has no dates: use the command \"recent\" with since=, or \"query\" with where="
	case meant != "":
		advice = fmt.Sprintf("did you mean %s?", quoted(replaceTerm(meant+":"+value)))
	}
	p.fail(p.at, CodeNoOperator, fmt.Sprintf("there is no operator %q", excerpt.Short(name)+":"),
		advice+"; operators: "+strings.Join(operators, ": ")+":; [name:value] finds a property, quotes a text")
}

// endOfValue returns the offset at which the value of an operator ends, or -1 if it is all of text.
func endOfValue(text string) int {
	if rest, isQuoted := strings.CutPrefix(text, "\""); isQuoted {
		if end := strings.IndexByte(rest, '"'); end >= 0 {
			return end + len(`""`)
		}
	}
	return strings.IndexAny(text, " ()")
}

// quoted returns a query in quotation marks, with its own quotation marks escaped.
func quoted(query string) string { return strconv.Quote(query) }

// CodeNoOperator is the code of a [ParseError] about an operator that does not exist.
const CodeNoOperator = "operator_unknown"

// otherNames lists, for each operator, its names in other programs.
var otherNames = map[string][]string{
	"tag":       {"tags", "hashtag", "label", "labels", "is"},
	"file":      {"title", "name", "filename", "file-name", "note", "intitle", "basename"},
	"path":      {"folder", "dir", "directory", "in", "folders", "inpath"},
	"content":   {"body", "text", "contents", "contains", "intext"},
	"section":   {"heading", "headline", "header", "h"},
	"task-todo": {"todo", "open"},
	"task-done": {"done", "completed"},
	"task":      {"tasks"},
	"line":      {"lines"},
	"block":     {"blocks", "paragraph"},
}

// operatorNamed returns the operator that has a name in another program, or "".
func operatorNamed(otherName string) string {
	for operator, names := range otherNames {
		if slices.Contains(names, otherName) {
			return operator
		}
	}
	return ""
}

// dates are names of date filters in other programs. The search language has no operator for dates.
var dates = []string{
	"modified", "mtime", "updated", "changed", "edited", "since", "after", "before", "date", "day", "created",
	"ctime", "on", "newer", "older", "last-modified", "file.mtime",
	"file.ctime", "modified_at", "updated_at", "created_at",
}
