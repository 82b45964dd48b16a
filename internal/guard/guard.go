// Package guard finds keys, tokens and passwords in texts, and replaces them with marks
// that can be turned back into the secrets.
//
// The patterns are those of gitleaks (table.go) and a few of our own; the scanner is ours:
// it looks for all keywords in one pass, and matches a pattern only at its keyword.
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

	secret []byte // the decoded text of these bytes
	isHTML bool   // secret has characters that are entities in the text
}

// rule finds the secrets of one kind.
type rule struct {
	kind       string
	keywords   []string // in lower case; each match contains one of them
	needs      []string // in lower case, nil for none: each match contains one of them after the keyword
	pattern    string   // begins at the keyword, unless before is set
	group      int      // which submatch is the secret; 0: the longest, or the whole match
	boundary   bool     // no letter, digit or _ precedes the match
	contextual bool     // the keyword names a service, and the secret is the value assigned to it
	before     int      // how many bytes before the keyword the match may begin
	least      int      // minimum length of a match that is a token, in bytes; 0 if a match may have other characters
	most       int      // maximum length of a match, in bytes; 0 for no limit
	entropy    float64  // minimum entropy of the secret, in bits per character
	allow      string   // pattern of matches that are no secrets
	// find replaces the pattern: it looks for a secret at the keyword s.text[at:end].
	find func(s *scan, at, end int)

	once            sync.Once
	matcher, except *regexp.Regexp
}

// Limits of one match, in bytes.
const (
	longestValue    = 512      // from a name to the end of its value
	minToken        = 20       // of a token that contains its keyword
	longestToken    = 16 << 10 // a JWT with a chain of certificates
	longestPassword = 200
	longestKey      = 64 << 10 // from the first to the last line of a private key
	longestCut      = 8 << 10  // of a private key whose last line is missing
)

// Scope selects what counts as a secret.
type Scope int

// The scopes.
const (
	Secrets           Scope = iota // keys, tokens, passwords and the like
	SecretsAndNumbers              // also card and account numbers
)

// Find returns the secrets of a text, in order and without overlaps; a secret of several
// lines has a span for each line. Secrets with escapes in them are found as well.
//
// The time is linear in the length of the text: a pattern is matched only at its keyword,
// against a bounded piece of text.
func Find(text []byte, scope Scope) []Span {
	found, _ := find(text, scope, nil) // only spend returns errors
	return found
}

// Spend charges a caller for steps of less than a microsecond each. If it returns an error, the search ends with it.
type Spend func(steps int64) error

// find is Find with a budget; a nil spend charges nothing. It searches the text itself and its decoded forms, and
// returns the secrets of all these searches.
func find(text []byte, scope Scope, spend Spend) ([]Span, error) {
	if HasMark(text) { // marks contain no secrets
		text = markPattern().ReplaceAllFunc(text, func(mark []byte) []byte {
			return append([]byte("‹"), bytes.Repeat([]byte{1}, len(mark)-len("‹"))...)
		})
	}
	found, err := search(text, scope, spend)
	if err != nil {
		return nil, err
	}
	levels, without := levelsOf(text)
	for _, level := range levels {
		more, err := search(level.text, scope, spend)
		if err != nil {
			return nil, err
		}
		for _, f := range more {
			if f.secret == nil {
				f.secret = level.text[f.Start:f.End]
			}
			start, end := level.origin(f.Start, f.End)
			isHTML := level.isHTML && !bytes.Equal(f.secret, text[start:end])
			found = append(found, splitDecoded(text, Span{start, end, f.Kind, f.secret, isHTML})...)
		}
	}
	found = merge(without.align(found, len(text)))
	for i, f := range found {
		if f.secret != nil {
			continue
		}
		found[i].secret = text[f.Start:f.End]
		if len(without) > 0 {
			found[i].secret = without[0].decoded(f.Start, f.End)
		}
	}
	return found, nil
}

// search returns the secrets of an undecoded text, in order and without overlaps. Their secret is set only if its
// spelling in the text differs.
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
		all = append(all, splitLines(text, f)...)
	}
	return merge(all), s.err
}

// splitLines splits a span at line ends, and leaves out blanks and quote markers around the secret on each line.
func splitLines(text []byte, span Span) (spans []Span) {
	for start := span.Start; start < span.End; {
		line := text[start:span.End]
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n]
		}
		piece := bytes.Trim(line, " \t\r>\\")
		switch {
		case len(piece) == span.End-span.Start, span.secret != nil && len(line) == span.End-span.Start:
			spans = append(spans, span)
		case len(piece) > 0:
			from := start + bytes.Index(line, piece)
			spans = append(spans, Span{Start: from, End: from + len(piece), Kind: span.Kind})
		}
		start += len(line) + len("\n")
	}
	return spans
}

// splitDecoded splits a span that was found in a decoded text at the line ends of the original text.
func splitDecoded(text []byte, f Span) []Span {
	if bytes.IndexByte(text[f.Start:f.End], '\n') < 0 {
		return []Span{f}
	}
	f.secret = nil
	return splitLines(text, f)
}

// merge returns spans in order. It joins spans that overlap or touch into one of the kind of the first; a span that
// was extended has no secret.
func merge(found []Span) (merged []Span) {
	slices.SortStableFunc(found, func(a, b Span) int {
		return cmp.Or(a.Start-b.Start, b.End-a.End, generic[a.Kind]-generic[b.Kind])
	})
	for _, f := range found {
		if len(merged) == 0 || f.Start > merged[len(merged)-1].End {
			merged = append(merged, f)
			continue
		}
		last := &merged[len(merged)-1]
		switch {
		case f.End > last.End:
			last.End = f.End
			last.secret = nil
		case f.isHTML && f.Start == last.Start && f.End == last.End: // it is decoded further
			last.secret = f.secret
		}
	}
	return merged
}

// scan is one search.
type scan struct {
	text    []byte
	found   []Span
	keysEnd int // private keys that begin before this offset have been found
	// runEnd is the end of the last token that tokenEnd looked at. No private key ends before noEnd. scanned has
	// for a rule the offset up to which it was searched.
	runEnd, noEnd int
	scanned       map[*rule]int
	columnsEnd    map[tableColumn]int // offset up to which the cells of a column were searched
	// commentEnd is the end of the last comment that was looked at, runsEnd that of the last run of invisible
	// characters.
	commentEnd, runsEnd int
	lower               [512]byte // s.text[lowerFrom:lowerEnd] in lower case
	lowerFrom, lowerEnd int
	regionCache         []region
	// lineBegins is the start of the line that contains the offset lineKnown.
	lineBegins, lineKnown int
	hasRegionCache        bool // regionCache is set
	// firstTag is the offset of the first "<" of the text; it is set if hasFirstTag is.
	firstTag    int
	hasFirstTag bool
	depth       int // how often the text was decoded from base64 or hexadecimal digits
	spend       Spend
	err         error // of spend: the search has ended
}

// charge charges the caller for matching a pattern against so many bytes.
func (s *scan) charge(bytes int) {
	if s.spend != nil && s.err == nil {
		s.err = s.spend(1 + int64(bytes)/bytesOfStep)
	}
}

// generic ranks the kinds by how little they tell: a more specific kind wins.
var generic = map[string]int{"secret": 1, "password": 1}

// bytesOfStep is how many bytes of matching cost one step.
const bytesOfStep = 64

func (s *scan) add(start, end int, kind string) {
	s.found = append(s.found, Span{Start: start, End: end, Kind: kind})
}

// addAs adds a secret whose spelling in the text differs from its value.
func (s *scan) addAs(start, end int, kind string, secret []byte) {
	s.found = append(s.found, Span{Start: start, End: end, Kind: kind, secret: secret})
}

// keywords tries each rule at its keywords.
func (s *scan) keywords(k *keywords) {
	k.each(s.text, func(r *rule, at, end int) bool {
		s.try(r, at, end)
		return s.err == nil
	})
}

// try looks for a secret of the rule whose keyword is s.text[at:end].
func (s *scan) try(r *rule, at, end int) {
	if r.needs != nil && (s.has(r.kind) || !s.meetsNeeds(r, at)) {
		return
	}
	if r.find != nil {
		r.find(s, at, end)
		return
	}
	continuesWord := at > 0 && isWord(s.text[at-1])
	if at < s.scanned[r] || r.boundary && continuesWord {
		return
	}
	maxBytes := r.maxBytes()
	start := at
	nameEnd := end
	end = min(len(s.text), at+maxBytes+1) // with the byte after the match
	switch {
	case r.before > 0:
		start = max(0, at-r.before)
		end = min(len(s.text), at+2*maxBytes)
		s.markScanned(r, end-maxBytes)
	case !r.contextual && r.least > 0:
		run := s.tokenEnd(at)
		if run-at < r.least {
			if s.afterBreak(run) > 0 {
				s.tryJoined(r, at, at+maxBytes+64)
			}
			return
		}
		end = min(end, run+1)
	}
	namesSecret := r.contextual && r.before == 0
	if namesSecret && s.tokenEnd(at)-at < minToken && !s.isAssigned(at, nameEnd) {
		return // neither a token nor the name of one that is assigned a value
	}
	s.charge(end - start)
	if s.err != nil {
		return
	}
	from, to, ok := r.match(s.text[start:end])
	for ok && r.before > 0 && start+to <= at { // it belongs to an earlier keyword
		start += to
		from, to, ok = r.match(s.text[start:end])
	}
	if ok {
		s.add(start+from, start+to, r.kind)
		s.markScanned(r, start+to)
		return
	}
	isToken := !r.contextual && r.before == 0 && r.least > 0
	switch {
	case r.contextual && bytes.Contains(s.text[start:end], []byte("\\\n")):
		s.tryJoined(r, start, end)
	case isToken && s.afterBreak(end-1) > 0:
		s.tryJoined(r, start, start+maxBytes+64)
	}
}

// maxBytes returns the maximum length of a match in bytes.
func (r *rule) maxBytes() int {
	isBounded := r.most > 0
	isTooLong := r.contextual && r.most > longestValue
	switch {
	case isBounded && !isTooLong:
		return r.most
	case r.least > 0:
		return longestToken
	}
	return longestValue
}

// markScanned records that a rule need not be tried again before an offset.
func (s *scan) markScanned(r *rule, to int) {
	if s.scanned == nil {
		s.scanned = map[*rule]int{}
	}
	s.scanned[r] = to
}

// isAssigned reports whether a sign that assigns a value may follow the name of a service that contains the keyword
// s.text[at:nameEnd]. All contextual patterns allow 25 bytes between the two.
func (s *scan) isAssigned(at, nameEnd int) bool {
	for i, c := range s.text[at:min(len(s.text), nameEnd+26)] {
		if !isWordByte[c] && !betweenNames[c] {
			return at+i >= nameEnd && strings.IndexByte("=:|>?,", c) >= 0
		}
	}
	return false
}

// lineStart returns the start of the line that contains the offset at. Callers ask in the order of the keywords, so
// that a long line is searched only once.
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

// isAfterTag reports whether a "<" is somewhere before an offset. Most texts have none.
func (s *scan) isAfterTag(at int) bool {
	if !s.hasFirstTag {
		s.hasFirstTag = true
		s.firstTag = bytes.IndexByte(s.text, '<')
	}
	return s.firstTag >= 0 && s.firstTag < at
}

// tokenEnd returns the end of the token that contains the offset at.
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

// tryJoined tries a rule on a piece of text whose lines are joined: those that end with "\", and
// in a token all of them.
func (s *scan) tryJoined(r *rule, at, end int) {
	var joined []byte
	var origins []int // for each byte of joined, its offset in the text
	find := func() bool {
		s.charge(len(joined))
		if s.err != nil || len(joined) < r.least {
			return false
		}
		from, to, ok := r.match(joined)
		if ok {
			s.add(origins[from], origins[to-1]+1, r.kind)
		}
		return ok
	}
	for lines := 0; at < min(len(s.text), end) && lines < 8; {
		c := s.text[at]
		if next := s.afterBreak(at); next > 0 && (c == '\\' || !r.contextual) {
			if !r.contextual && find() {
				return
			}
			at = next
			lines++
			continue
		}
		if !r.contextual && !isToken[c] {
			break
		}
		joined = append(joined, c)
		origins = append(origins, at)
		at++
	}
	find()
}

// afterBreak returns where a text continues after a line break at the offset at, with or without a "\"
// before it, or 0 if there is none.
func (s *scan) afterBreak(at int) int {
	for _, c := range []byte("\\\r") {
		if at < len(s.text) && s.text[at] == c {
			at++
		}
	}
	if at >= len(s.text) || s.text[at] != '\n' {
		return 0
	}
	at++
	for at < len(s.text) && isQuoteOrBlank(s.text[at]) {
		at++
	}
	return at
}

// isQuoteOrBlank reports whether a byte may precede the text of a quoted or indented line.
func isQuoteOrBlank(c byte) bool { return c == ' ' || c == '\t' || c == '>' }

func isWord(c byte) bool { return isWordByte[c] }

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

// isWordByte, isToken and isBase64 are the sets of bytes of words, tokens and base64. betweenNames has the other bytes
// that may be between the name of a service and the sign that assigns a value.
var (
	isWordByte   = bytesOf(letters)
	isToken      = bytesOf(letters + "-.+/=~%")
	isBase64     = bytesOf(letters + "+/-")
	betweenNames = bytesOf(" \t\n\f\r.-'\"`*_\\")
)

// bytesOf returns the set of the bytes of a string.
func bytesOf(bytes string) (isMember [256]bool) {
	for _, c := range []byte(bytes) {
		isMember[c] = true
	}
	return isMember
}

// match returns the start and end of the secret in a piece of text.
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
	hasByteBehind := r.group == 0 && !r.contextual
	for hasByteBehind && to > from && !isToken[piece[to-1]] {
		to--
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

// longest returns the start and end of the longest of the submatches in m.
func longest(m []int) (from, to int) {
	for i := 0; i+1 < len(m); i += 2 {
		if m[i+1]-m[i] > to-from {
			from = m[i]
			to = m[i+1]
		}
	}
	return from, to
}

// entropyOf returns the entropy of the bytes of a text, in bits per byte.
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
