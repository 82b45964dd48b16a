// Package guard finds keys, tokens and passwords in texts, and replaces them by marks
// that can be turned back into what they replace.
//
// The patterns are those of gitleaks (table.go) and a few of our own; the scanner is ours:
// all keywords are looked for in one pass, and a pattern is matched only where its keyword
// is.
package guard

//go:generate go test -run TestTheTableIsFresh -update .

import (
	"bytes"
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Span is a secret in a text: the bytes from Start to End, on one line.
type Span struct {
	Start, End int
	Kind       string // such as "github-pat"

	secret []byte // as a decoder makes it of these bytes
	isHTML bool   // secret has characters that are entities in the text
}

// rule finds the secrets of one kind.
type rule struct {
	kind       string
	keywords   []string // in lower case; each match has one of them
	needs      []string // in lower case, nil for none: each match has one of them after the keyword
	pattern    string   // begins at the keyword, unless before is set
	group      int      // which submatch is the secret; 0: the longest, or all
	boundary   bool     // no letter, digit or _ is before the match
	contextual bool     // the keyword names a service, and the secret is the value assigned to it
	before     int      // the match can begin that many bytes before the keyword
	least      int      // a match has at least that many bytes of tokens, 0 if it has others
	most       int      // a match has at most that many bytes, 0 for no limit
	entropy    float64  // of the secret, in bits a character
	allow      string   // what is no secret although it matches
	// by finds the secret at a keyword, from at to end, in place of the pattern.
	by func(s *scan, at, end int)

	once            sync.Once
	matcher, except *regexp.Regexp
}

// Limits of one match, in bytes.
const (
	longestValue    = 512      // from a name to the end of its value
	leastToken      = 20       // token that has its keyword in it
	longestToken    = 16 << 10 // a JWT with a chain of certificates
	longestPassword = 200
	longestKey      = 64 << 10 // from the first to the last line of a private key
	longestCut      = 8 << 10  // of a private key whose last line is missing
)

// Scope says what is a secret.
type Scope int

// The scopes.
const (
	Secrets           Scope = iota // keys, tokens, passwords and the like
	SecretsAndNumbers              // also numbers of cards and accounts
)

// Find returns the secrets of a text, in order and without overlaps; one of several lines
// is a span for each. A secret with escapes in it is found as well.
//
// The time is linear in the length of the text: a pattern is matched where its keyword is,
// and against a bounded piece of text.
func Find(text []byte, scope Scope) []Span {
	found, _ := find(text, scope, nil) // nothing is charged
	return found
}

// Spend charges a caller for steps of less than a microsecond each. Its error ends the search.
type Spend func(steps int64) error

// find is Find that is charged: a nil spend charges nothing. The text is searched as it is and as decoders make it,
// and what any of the searches finds is a secret.
func find(text []byte, scope Scope, spend Spend) ([]Span, error) {
	if HasMark(text) { // nothing is looked for in a mark
		text = markPattern().ReplaceAllFunc(text, func(mark []byte) []byte {
			return append([]byte("‹"), bytes.Repeat([]byte{1}, len(mark)-len("‹"))...)
		})
	}
	found, err := search(text, scope, spend)
	if err != nil {
		return nil, err
	}
	levels, without := levelsOf(text)
	for _, l := range levels {
		more, err := search(l.text, scope, spend)
		if err != nil {
			return nil, err
		}
		for _, f := range more {
			if f.secret == nil {
				f.secret = l.text[f.Start:f.End]
			}
			start, end := l.origin(f.Start, f.End)
			isHTML := l.isHTML && !bytes.Equal(f.secret, text[start:end])
			found = append(found, divided(text, Span{start, end, f.Kind, f.secret, isHTML})...)
		}
	}
	found = united(without.align(found, len(text)))
	for i, f := range found {
		switch {
		case f.secret != nil:
		case len(without) > 0:
			found[i].secret = without[0].made(f.Start, f.End)
		default:
			found[i].secret = text[f.Start:f.End]
		}
	}
	return found, nil
}

// search returns the secrets of a text as it is, in order and without overlaps, those that are spelled otherwise than
// they are with what they are.
func search(text []byte, scope Scope, spend Spend) ([]Span, error) {
	s := scan{text: text, spend: spend}
	s.charge(len(text) / 16) // for all passes
	s.keywords(secretWords())
	s.searchEncoded()
	if scope == SecretsAndNumbers {
		s.numbers()
	}
	var all []Span
	for _, f := range s.found {
		all = append(all, trimmed(text, f)...)
	}
	return united(all), s.err
}

// trimmed divides a span at the ends of lines, and leaves out what is around a secret on a line.
func trimmed(text []byte, f Span) (all []Span) {
	for start := f.Start; start < f.End; {
		line := text[start:f.End]
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n]
		}
		piece := bytes.Trim(line, " \t\r>\\")
		switch {
		case len(piece) == f.End-f.Start || f.secret != nil && len(line) == f.End-f.Start:
			all = append(all, f)
		case len(piece) > 0:
			from := start + bytes.Index(line, piece)
			all = append(all, Span{Start: from, End: from + len(piece), Kind: f.Kind})
		}
		start += len(line) + len("\n")
	}
	return all
}

// divided divides a span of what a decoder made at the ends of lines of the text that it was made from.
func divided(text []byte, f Span) []Span {
	if bytes.IndexByte(text[f.Start:f.End], '\n') < 0 {
		return []Span{f}
	}
	f.secret = nil
	return trimmed(text, f)
}

// united returns spans in order. Those that overlap are one, of the kind of the first, and so are those without
// anything between them.
func united(found []Span) (all []Span) {
	slices.SortStableFunc(found, func(a, b Span) int {
		return cmp.Or(a.Start-b.Start, b.End-a.End, generic[a.Kind]-generic[b.Kind])
	})
	for _, f := range found {
		if len(all) == 0 || f.Start > all[len(all)-1].End {
			all = append(all, f)
			continue
		}
		last := &all[len(all)-1]
		switch {
		case f.End > last.End:
			last.End = f.End
			last.secret = nil
		case f.isHTML && f.Start == last.Start && f.End == last.End: // it is decoded further
			last.secret = f.secret
		}
	}
	return all
}

// scan is one search.
type scan struct {
	text    []byte
	found   []Span
	keysEnd int // a private key that begins before this place has been found
	// runEnd is where the token ends that was looked at last; see tokenEnd. noEnd is up to where
	// no private key ends, and scanned up to where nothing more is to be looked for of a rule.
	runEnd, noEnd int
	scanned       map[*rule]int
	columnsEnd    map[tableColumn]int // up to where the cells of a column are known
	// commentEnd is where the comment ends that was looked at last, runsEnd the run of invisible
	// characters.
	commentEnd, runsEnd int
	lower               [512]byte // the text from lowerFrom to lowerEnd in lower case
	lowerFrom, lowerEnd int
	allRegions          []region
	// lineBegins is where the line begins that has the place lineKnown.
	lineBegins, lineKnown int
	hasRegions            bool // they were looked for
	// firstTag is the place of the first "<" of the text, and hasFirstTag that it was looked for.
	firstTag    int
	hasFirstTag bool
	spend       Spend
	err         error // of spend: the search has ended
}

// charge charges the caller for looking at so many bytes with a pattern.
func (s *scan) charge(bytes int) {
	if s.spend != nil && s.err == nil {
		s.err = s.spend(1 + int64(bytes)/bytesOfStep)
	}
}

// generic are the kinds that say least.
var generic = map[string]int{"secret": 1, "password": 1}

// bytesOfStep is how many bytes are matched in a step.
const bytesOfStep = 64

func (s *scan) add(start, end int, kind string) {
	s.found = append(s.found, Span{Start: start, End: end, Kind: kind})
}

// addAs is add for a secret that is spelled otherwise in the text.
func (s *scan) addAs(start, end int, kind string, secret []byte) {
	s.found = append(s.found, Span{Start: start, End: end, Kind: kind, secret: secret})
}

// keywords tries each rule where one of its keywords is.
func (s *scan) keywords(k *keywords) {
	k.each(s.text, func(r *rule, at, end int) bool {
		s.try(r, at, end)
		return s.err == nil
	})
}

// try looks for a secret of the rule, whose keyword is from the place at to the place end.
func (s *scan) try(r *rule, at, end int) {
	if r.needs != nil && (s.has(r.kind) || !s.follows(r, at)) {
		return
	}
	if r.by != nil {
		r.by(s, at, end)
		return
	}
	if at < s.scanned[r] || r.boundary && at > 0 && isWord(s.text[at-1]) {
		return
	}
	most := r.most
	if most == 0 || most > longestValue && r.contextual {
		most = longestValue
		if r.least > 0 {
			most = longestToken
		}
	}
	start := at
	named := end
	end = min(len(s.text), at+most+1) // and the byte that ends it
	switch {
	case r.before > 0:
		start = max(0, at-r.before)
		end = min(len(s.text), at+2*most)
		s.passed(r, end-most)
	case !r.contextual && r.least > 0:
		run := s.tokenEnd(at)
		if run-at < r.least {
			if s.lineEnd(run) > 0 {
				s.joined(r, at, at+most+64)
			}
			return
		}
		end = min(end, run+1)
	}
	if r.contextual && r.before == 0 && s.tokenEnd(at)-at < leastToken && !s.isAssigned(at, named) {
		return // neither a token nor the name of one
	}
	if s.charge(end - start); s.err != nil {
		return
	}
	from, to, ok := r.match(s.text[start:end])
	for ok && r.before > 0 && start+to <= at { // that of the keyword before
		start += to
		from, to, ok = r.match(s.text[start:end])
	}
	if ok {
		s.add(start+from, start+to, r.kind)
		s.passed(r, start+to)
	} else if r.contextual && bytes.Contains(s.text[start:end], []byte("\\\n")) {
		s.joined(r, start, end)
	} else if !r.contextual && r.before == 0 && r.least > 0 && s.lineEnd(end-1) > 0 {
		s.joined(r, start, start+most+64)
	}
}

// passed says that nothing more of a rule is to be looked for up to a place.
func (s *scan) passed(r *rule, to int) {
	if s.scanned == nil {
		s.scanned = map[*rule]int{}
	}
	s.scanned[r] = to
}

// isAssigned reports whether what assigns a value may follow the name of a service with a keyword: all
// contextual patterns allow 25 bytes between the two.
func (s *scan) isAssigned(at, named int) bool {
	for i, c := range s.text[at:min(len(s.text), named+26)] {
		if !isWordByte[c] && !betweenNames[c] {
			return at+i >= named && strings.IndexByte("=:|>?,", c) >= 0
		}
	}
	return false
}

// lineStart returns where the line begins that has a place. The places of the keywords of a text are asked for in order,
// so that a long line is looked at once.
func (s *scan) lineStart(at int) int {
	if at < s.lineKnown {
		s.lineBegins = 0
		s.lineKnown = 0
	}
	if n := bytes.LastIndexAny(s.text[s.lineKnown:at], "\r\n"); n >= 0 {
		s.lineBegins = s.lineKnown + n + 1
	}
	s.lineKnown = at
	return s.lineBegins
}

// isAfterTag reports whether a "<" is somewhere before a place. In most texts there is none.
func (s *scan) isAfterTag(at int) bool {
	if !s.hasFirstTag {
		s.hasFirstTag = true
		s.firstTag = bytes.IndexByte(s.text, '<')
	}
	return s.firstTag >= 0 && s.firstTag < at
}

// tokenEnd returns where the token ends that has the place at.
func (s *scan) tokenEnd(at int) int {
	if at < s.runEnd {
		return s.runEnd
	}
	end := at
	for end < len(s.text) && isToken[s.text[end]] {
		end++
	}
	s.runEnd = end
	return end
}

// joined tries a rule on a piece of text without the ends of lines in it: those after a "\", and
// in a token all of them.
func (s *scan) joined(r *rule, at, end int) {
	var whole []byte
	var places []int // of its bytes in the text
	isFound := func() bool {
		if s.charge(len(whole)); s.err != nil || len(whole) < r.least {
			return false
		}
		from, to, ok := r.match(whole)
		if ok {
			s.add(places[from], places[to-1]+1, r.kind)
		}
		return ok
	}
	for lines := 0; at < min(len(s.text), end) && lines < 8; {
		c := s.text[at]
		if next := s.lineEnd(at); next > 0 && (c == '\\' || !r.contextual) {
			if !r.contextual && isFound() {
				return
			}
			at = next
			lines = lines + 1
			continue
		}
		if !r.contextual && !isToken[c] {
			break
		}
		whole = append(whole, c)
		places = append(places, at)
		at++
	}
	isFound()
}

// lineEnd returns where a text continues after a line break at the place at, with or without a "\"
// before it, 0 if there is none.
func (s *scan) lineEnd(at int) int {
	for _, c := range []byte("\\\r") {
		if at < len(s.text) && s.text[at] == c {
			at++
		}
	}
	if at >= len(s.text) || s.text[at] != '\n' {
		return 0
	}
	for at++; at < len(s.text) && (s.text[at] == ' ' || s.text[at] == '\t' || s.text[at] == '>'); at++ {
	}
	return at
}

func isWord(c byte) bool { return isWordByte[c] }

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

// isWordByte, isToken and isBase64 say which bytes a word, a token and a text in base64 can have, and
// betweenNames which others are between the name of a service and what assigns a value to it.
var isWordByte, isToken, isBase64, betweenNames = bytesOf(
	letters,
), bytesOf(
	letters + "-.+/=~%",
), bytesOf(
	letters + "+/-",
), bytesOf(
	" \t\n\f\r.-'\"`*_\\",
)

func bytesOf(set string) (is [256]bool) {
	for _, c := range []byte(set) {
		is[c] = true
	}
	return is
}

// match returns where the secret is in a piece of text.
func (r *rule) match(piece []byte) (from, to int, ok bool) {
	r.once.Do(func() {
		r.matcher = regexp.MustCompile(r.pattern)
		if r.allow != "" {
			r.except = regexp.MustCompile(r.allow)
		}
	})
	m := r.matcher.FindSubmatchIndex(piece)
	if m == nil {
		return 0, 0, false
	}
	from = m[0]
	to = m[1]
	if r.group > 0 {
		from = m[2*r.group]
		to = m[2*r.group+1]
	} else if a, b := longest(m[2:]); r.contextual || 2*(b-a) >= to-from {
		from = a
		to = b
	}
	for r.group == 0 && to > from && !isToken[piece[to-1]] && !r.contextual {
		to-- // what ended it
	}
	secret := piece[from:to]
	isWord := r.contextual && !isMixed(secret)
	if isWord || entropyOf(secret) < r.entropy {
		return 0, 0, false
	}
	if r.except != nil && r.except.Match(secret) {
		return 0, 0, false
	}
	return from, to, to > from
}

func longest(m []int) (from, to int) {
	for i := 0; i+1 < len(m); i += 2 {
		if m[i+1]-m[i] > to-from {
			from = m[i]
			to = m[i+1]
		}
	}
	return from, to
}

// entropyOf returns the entropy of a text by its bytes, in bits a byte.
func entropyOf(text []byte) (bits float64) {
	var count [256]int
	for _, c := range text {
		count[c]++
	}
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// isMixed reports whether a text has a digit and a letter.
func isMixed(text []byte) bool {
	digit := false
	letter := false
	for _, c := range text {
		digit = digit || '0' <= c && c <= '9'
		letter = letter || 'a' <= c|0x20 && c|0x20 <= 'z'
	}
	return digit && letter
}
