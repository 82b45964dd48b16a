package guard

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// In prose and in headings a value follows its name otherwise than in code: "the password for guests is …", "password
// → …", a heading "Password" and the value below it. There the value has to look like a password or a key.

var (
	// spokenRest matches the text after a name up to and including its value, on the same line. Group 1 is the value.
	spokenRest = lazily(
		`(?i)^s?[*_` + "`" + `"']{0,3}(?:</\w+>)?` +
			`(?: ?\([^()\n]+\))?` +
			`(?:[ \t]+(?:for|of|to|on|at|from|in|by|with|für|zu|zum|zur|vom|von|des|der|pour|de|du|para)[ \t][^\n.:;=|<>→]+?)?` +
			`(?:[ \t]+(?:is|was|are|were|will be|becomes|reads|says|equals|ist|war|lautet|lauten|heißt|est|es|sera)\b` +
			`(?:[ \t]+(?:now|still|currently|always|simply|just|set to|jetzt|noch|nun))?[ \t]*:?[ \t]*` +
			`|[ \t]*(?:->|=>|→|⇒|➜|--|:[ \t]*\w+[ \t]*=|[–—:=|：＝≔]|[-~][ \t])[ \t]*)` +
			`(?:<\w[^<>]*>)?[*_` + "`" + `"'“„«(\[]{0,3}([^\s` + "`" + `"'|<>()\[\]“”«»]+)`,
	)
	// nameBefore matches what may precede a name that has a line to itself: quote, heading or list markers, and up to
	// four words.
	nameBefore = lazily(`^[ \t>]*(?:\[![\w-]+\][+-]? )?(?:#{1,6} |[-*+] |\d{1,3}[.)] )?(?:\[[ xX]\] )?[*_]{0,3}(?:[\pL\pN_.&'’-]+ ){0,4}$`)
	// belowRest matches from such a name to a value that has one of the next lines to itself.
	belowRest = lazily(
		`^s?[*_]{0,3}[ \t]*:?[*_]{0,3}[ \t]*(?:\r?\n[ \t>]*(?:=+|-+)[ \t]*)?(?:\r?\n[ \t>]*){1,3}(?:(?:` + "```" + `|~~~)\w*\r?\n[ \t>]*)?` +
			`(?:[-*+:][ \t]+|\d{1,3}[.)][ \t]+)?[*_` + "`" + `"']{0,3}([^\s` + "`" + `"'|<>()\[\]]+)[*_` + "`" + `"']{0,3}[ \t]*(?:\r?\n|$)`,
	)
	// spokenWordsRest matches a verb after a name and the quoted phrase that follows it.
	spokenWordsRest = lazily(
		`(?i)^[ \t]+(?:is|was|ist|war|lautet|heißt|est|es)[ \t]*:?[ \t]*(?:["'` + "`" + `“„«]|<code>|<kbd>)` +
			`([^"'` + "`" + `“”„«»<>\n]{4,})["'` + "`" + `“”»<]`,
	)
	// nextRest matches a value that follows its name after nothing but blanks, a comma or a parenthesis.
	nextRest = lazily(`^(?:,? |[ \t]{1,8})\(?["'` + "`" + `*_]{0,3}([^\s` + "`" + `"'|<>()\[\]]+)`)
	// cellsRest matches a value in the next HTML element after that of its name, such as a table cell, possibly on
	// another line.
	cellsRest = lazily(`^s?:?</\w+>\s*(?:</?\w[^<>]*>\s*){0,3}<\w[^<>]*>([^\s<>]+)</`)
	// tagsRest matches a value that follows the closing tag of its name's element.
	tagsRest = lazily(`^s?:?(?:</\w+>\s*){1,2}:?\s*(?:</?\w[^<>]*>\s*){0,3}["'` + "`" + `]?([^\s<>"'` + "`" + `]+)`)
	// valueBefore is a value in front of "is the password", and what is between the two.
	valueBefore = lazily(
		`(?i)(?:^|[\s"'` + "`" + `*_(“„«])([^\s"'` + "`" + `*_(“„«”»<>]+)["'` + "`" + `*_)”»]{0,3}[ \t]+(?:is|as|was|ist|als)[ \t]+` +
			`(?:(?:the|a|my|our|your|its|their|das|unser|mein)[ \t]+)?(?:[\pL-]+[ \t]+){0,2}[\pL-]*$`,
	)
	// behindName matches what may follow the name in such a sentence.
	behindName = lazily(`(?i)^(?:[.,;:!?)"'*_]|\s*$|[ \t]+(?:of|for|to|on|at|from|in|and|now|until|since|für|zu|von)\b)`)
	// identifier matches numbered names, calls and quantities, which are no secrets: key2, len(x, 30%.
	identifier = lazily(`^(?:[A-Za-z_-]+\d{1,3}|[\w.]+\(.*|[\d.,]+[\pL%-]*)$`)
	// knownName is what has letters and digits in prose about passwords and keys.
	knownName = lazily(
		`(?i)^(?:(?:sha|md|base|utf-?|bcrypt|argon|pbkdf|aes|rsa|rot|oauth|auth|ipv|http|mp|web|iso|rfc|pkcs|x\.|tls|ssl|v|erc|adr|cve|python|windows|office|hmac-?sha)-?\d{1,5}[a-z]{0,2}(?:[-_./][\w.-]*)?` +
			`|\d{1,5}[- ]?(?:char(?:acter)?|digit|letter|word|bit|byte|day|week|month|year|hour|minute|second|symbol|sign|zeichen)s?(?:-\pL+)*` +
			`|[\d.:/+-]+(?:th|st|nd|rd|am|pm|utc|z|t[\d.:+-]+z?)?` +
			`|.*-(?:hash|encod|encrypt|bas|generat|protect)ed|\d?password\d?|.*\.(?:md|txt|pdf|ya?ml|json|go|py|js|ts|sh|env|toml|ini|html?|png|jpe?g|kdbx|csv|docx?|com|org|net|dev|io|test))$`,
	)
)

// How far from its name a value is looked for, in bytes: on its line, and on one of the next ones.
const (
	farthest      = 100
	farthestBelow = 200
	// shortRest is how long what follows a name is at most in a heading or an item that is a name.
	shortRest = 16
)

// spoken looks for the value of the name at s.text[at:end], in prose or below a heading. line is the rest of the line
// after the name.
func (s *scan) spoken(at, end int, line []byte, kind string, isSecret func([]byte) bool) {
	line = line[:min(len(line), farthest)]
	s.charge(len(line))
	if mayEndWithVerb(s.text[max(0, at-farthest):at]) && s.spokenBefore(at, line, kind, isSecret) {
		return
	}
	if mayHaveValue(line) {
		s.spokenOn(end, line, kind, isSecret)
		return
	}
	if maySayWords(line) {
		if m := spokenWordsRest().FindSubmatchIndex(line); m != nil {
			words := line[m[2]:m[3]]
			if kind == "password" && (isQuotedPhrase(words) || isPlainPassword(words)) {
				s.add(end+m[2], end+m[3], kind)
			}
			return
		}
	}
	isMarkup := len(line) > 0 && line[0] == '<'
	if !isMarkup && (len(line) >= shortRest || !isAll(line, &isOfTitle)) {
		return
	}
	piece := s.text[end:min(len(s.text), end+farthestBelow)]
	if !mayHaveValue(piece) || !isMarkup && !s.isAlone(at) {
		return
	}
	s.charge(len(piece))
	if isMarkup {
		if !s.spokenIn(end, cellsRest().FindSubmatchIndex(piece), kind, isSecret) {
			s.spokenNext(end, piece, tagsRest().FindSubmatchIndex(piece), kind, isSecret)
		}
		return
	}
	s.spokenIn(end, belowRest().FindSubmatchIndex(piece), kind, isSecret)
}

// isOfTitle has the bytes that may follow a name on a line of its own.
var isOfTitle = bytesOf("s*_: \t\r")

// isAll reports whether a text has only bytes of a set.
func isAll(text []byte, set *[256]bool) bool {
	for _, c := range text {
		if !set[c] {
			return false
		}
	}
	return true
}

// maySayWords is a fast test for spokenWordsRest: it is false only where that cannot match, as in most sentences.
func maySayWords(line []byte) bool {
	at := afterBlanks(line, 0)
	if at == 0 {
		return false
	}
	for ; at < len(line) && line[at] < utf8.RuneSelf && isWordByte[line[at]]; at++ { // the verb
	}
	at = afterBlanks(line, at)
	if at < len(line) && line[at] == ':' {
		at = afterBlanks(line, at+1)
	}
	// Quotes and the letters of some verbs may be non-ASCII: let the pattern decide.
	return at < len(line) && (line[at] >= utf8.RuneSelf || isQuoteOrTag[line[at]])
}

// isQuoteOrTag says which bytes of ASCII words begin with that are quoted.
var isQuoteOrTag = bytesOf("\"'`<")

// afterBlanks returns the place of the first byte at or behind a place that is no blank.
func afterBlanks(line []byte, at int) int {
	for at < len(line) && (line[at] == ' ' || line[at] == '\t') {
		at++
	}
	return at
}

// spokenOn is spoken for the rest of a line.
func (s *scan) spokenOn(end int, line []byte, kind string, isSecret func([]byte) bool) {
	found := s.spokenIn(end, spokenRest().FindSubmatchIndex(line), kind, isSecret) ||
		s.spokenIn(end, cellsRest().FindSubmatchIndex(line), kind, isSecret)
	if found {
		return
	}
	rest := nextRest
	if len(line) > 0 && line[0] == '<' {
		rest = tagsRest
	}
	s.spokenNext(end, line, rest().FindSubmatchIndex(line), kind, isSecret)
}

// spokenNext is spokenIn for a value with no verb or sign before it, which therefore must not be an identifier.
func (s *scan) spokenNext(end int, piece []byte, match []int, kind string, isSecret func([]byte) bool) {
	if match == nil || identifier().Match(bytes.TrimRight(piece[match[2]:match[3]], ".,;:!?*_)")) {
		return
	}
	s.spokenIn(end, match, kind, isSecret)
}

// spokenBefore is spoken for a value in front of the name at a place, as in "… is the password": line is what follows
// the name.
func (s *scan) spokenBefore(at int, line []byte, kind string, isSecret func([]byte) bool) bool {
	start := max(0, at-farthest)
	before := s.text[start:at]
	if !hasDigit(before) {
		return false
	}
	if n := bytes.LastIndexByte(before, '\n'); n >= 0 {
		start += n + 1
		before = s.text[start:at]
	}
	if !mayHaveValue(before) {
		return false
	}
	s.charge(len(before))
	m := valueBefore().FindSubmatchIndex(before)
	if m == nil || !behindName().Match(line) || identifier().Match(before[m[2]:m[3]]) {
		return false
	}
	return s.spokenIn(start, m, kind, isSecret)
}

// mayEndWithVerb is a fast test for valueBefore: it is false only where that cannot match. Only letters, hyphens and
// blanks are between its verb and the end, and each of its verbs has an "s" behind "i", "a" or "l", and at most a "t"
// behind that.
func mayEndWithVerb(before []byte) bool {
	for at := len(before) - 1; at > 0; at-- {
		c := before[at]
		if !isOfWords[c] {
			return c >= utf8.RuneSelf // it is a letter or not
		}
		if c|0x20 == 's' && isBeforeS[before[at-1]] && mayEndVerb(before[at+1:]) {
			return true
		}
	}
	return false
}

// mayEndVerb reports whether a text begins with a blank, or with a "t" and a blank.
func mayEndVerb(rest []byte) bool {
	if len(rest) > 0 && rest[0]|0x20 == 't' {
		rest = rest[1:]
	}
	return len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t')
}

var isBeforeS, isOfWords = bytesOf("iIaAlL"), bytesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz- \t")

// mayHaveValue reports whether a text has a word with both letters and digits, of at least leastPassword bytes, that
// is no URL: only such words can be secrets here.
func mayHaveValue(text []byte) bool {
	if !hasDigit(text) {
		return false
	}
	const digit, letter, both = 1, 2, 3
	has := 0
	size := 0
	for i := 0; i <= len(text); i++ {
		if i == len(text) || isBetweenWords[text[i]] {
			if has == both && size >= leastPassword && !bytes.Contains(text[i-size:i], schemeSign) {
				return true
			}
			has = 0
			size = 0
			continue
		}
		size++
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			has |= digit
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			has |= letter
		}
	}
	return false
}

// hasDigit reports whether a text has a digit. It tests eight bytes at a time, because most prose has none.
func hasDigit(text []byte) bool {
	const each = 0x0101010101010101
	for ; len(text) >= 8; text = text[8:] {
		x := binary.LittleEndian.Uint64(text) ^ '0'*each
		if isNone := (x&(0x7f*each) + (0x80-10)*each) | x; isNone&(0x80*each) != 0x80*each {
			return true
		}
	}
	for _, c := range text {
		if '0' <= c && c <= '9' {
			return true
		}
	}
	return false
}

// leastPassword is how many characters a password has at least that is recognized by its looks.
const leastPassword = 6

var (
	schemeSign     = []byte("://")
	isBetweenWords = bytesOf(" \t\r\n\"'`|<>()[]")
)

// spokenIn reports group 1 of match, whose indexes are relative to end, if it is a secret. It returns whether it is
// one.
func (s *scan) spokenIn(end int, match []int, kind string, isSecret func([]byte) bool) bool {
	if match == nil {
		return false
	}
	from := end + match[2]
	value := bytes.TrimRight(s.text[from:end+match[3]], ".,;:!?*_)")
	isKnown := placeholder().Match(value) || knownName().Match(value) || bytes.Contains(value, []byte("://"))
	if isKnown || len(value) < leastPassword || !isSecret(value) {
		return false
	}
	s.addPieces(from, from+len(value), kind, isSecret)
	return true
}

// isAlone reports whether nothing but words of a title is in front of a name in its line.
func (s *scan) isAlone(at int) bool {
	start := s.lineStart(at)
	return at-start < 80 && nameBefore().Match(s.text[start:at])
}
