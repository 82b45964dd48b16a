package guard

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// Prose and headings put a value after its name in other ways than code does: "the password for guests is …",
// "password → …", a heading "Password" and the value below it. In these forms, the value must look like a password or
// a key to be reported.

var (
	// proseValue matches the text after a name up to and including its value, on the same line. Group 1 is the value.
	proseValue = lazily(
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
	// valueBelow matches from such a name to a value that has one of the next lines to itself. Group 1 is the value, as
	// in the patterns below.
	valueBelow = lazily(
		`^s?[*_]{0,3}[ \t]*(?:(?:is|was|ist|war|lautet)\b)?[ \t]*:?[*_]{0,3}[ \t]*(?:\r?\n[ \t>]*(?:=+|-+)[ \t]*)?(?:\r?\n[ \t>]*){1,3}(?:(?:` + "```" + `|~~~)\w*\r?\n[ \t>]*)?` +
			`(?:[-*+:][ \t]+|\d{1,3}[.)][ \t]+)?[*_` + "`" + `"']{0,3}([^\s` + "`" + `"'|<>()\[\]]+)[*_` + "`" + `"']{0,3}[ \t]*(?:\r?\n|$)`,
	)
	// phraseValue matches a verb after a name and the quoted phrase that follows it.
	phraseValue = lazily(
		`(?i)^[ \t]+(?:is|was|ist|war|lautet|heißt|est|es)[ \t]*:?[ \t]*(?:["'` + "`" + `“„«]|<code>|<kbd>)` +
			`([^"'` + "`" + `“”„«»<>\n]{4,})["'` + "`" + `“”»<]`,
	)
	// adjacentValue matches a value that follows its name after nothing but blanks, a comma or a parenthesis.
	adjacentValue = lazily(`^(?:,? |[ \t]{1,8})\(?["'` + "`" + `*_]{0,3}([^\s` + "`" + `"'|<>()\[\]]+)`)
	// htmlCellValue matches a value in the next HTML element after that of its name, such as a table cell, possibly on
	// another line.
	htmlCellValue = lazily(`^s?:?</\w+>\s*(?:</?\w[^<>]*>\s*){0,3}<\w[^<>]*>([^\s<>]+)</`)
	// htmlSiblingValue matches a value that follows the closing tag of its name's element.
	htmlSiblingValue = lazily(`^s?:?(?:</\w+>\s*){1,2}:?\s*(?:</?\w[^<>]*>\s*){0,3}["'` + "`" + `]?([^\s<>"'` + "`" + `]+)`)
	// valueBefore matches a value that precedes its name, as in "… is the password", up to the name. Group 1 is the
	// value.
	valueBefore = lazily(
		`(?i)(?:^|[\s"'` + "`" + `*_(“„«])([^\s"'` + "`" + `*_(“„«”»<>]+)["'` + "`" + `*_)”»]{0,3}[ \t]+(?:is|as|was|ist|als)[ \t]+` +
			`(?:(?:the|a|my|our|your|its|their|das|unser|mein)[ \t]+)?(?:[\pL-]+[ \t]+){0,2}[\pL-]*$`,
	)
	// afterName matches what may follow the name in such a sentence.
	afterName = lazily(`(?i)^(?:[.,;:!?)"'*_]|\s*$|[ \t]+(?:of|for|to|on|at|from|in|and|now|until|since|für|zu|von)\b)`)
	// identifier matches numbered names, calls and quantities, which are no secrets: key2, len(x, 30%.
	identifier = lazily(`^(?:[A-Za-z_-]+\d{1,3}|[\w.]+\(.*|[\d.,]+[\pL%-]*)$`)
	// harmlessTerm matches words with letters and digits that are common in prose about passwords and keys: sha256,
	// 12-character, config.yaml.
	harmlessTerm = lazily(
		`(?i)^(?:(?:sha|md|base|utf-?|bcrypt|argon|pbkdf|aes|rsa|rot|oauth|auth|ipv|http|mp|web|iso|rfc|pkcs|x\.|tls|ssl|v|erc|adr|cve|python|windows|office|hmac-?sha)-?\d{1,5}[a-z]{0,2}(?:[-_./][\w.-]*)?` +
			`|\d{1,5}[- ]?(?:char(?:acter)?|digit|letter|word|bit|byte|day|week|month|year|hour|minute|second|symbol|sign|zeichen)s?(?:-\pL+)*` +
			`|[\d.:/+-]+(?:th|st|nd|rd|am|pm|utc|z|t[\d.:+-]+z?)?` +
			`|.*-(?:hash|encod|encrypt|bas|generat|protect)ed|\d?password\d?|.*\.(?:md|txt|pdf|ya?ml|json|go|py|js|ts|sh|env|toml|ini|html?|png|jpe?g|kdbx|csv|docx?|com|org|net|dev|io|test))$`,
	)
)

// Limits of the search around a name, in bytes.
const (
	maxDistance      = 100 // from a name to a value on its line
	maxDistanceBelow = 200 // from a name to a value on one of the next lines
	maxTitleRest     = 16  // after the name in a heading or list item that consists of it
)

// findInProse looks for the value of the name at s.text[at:end], in prose or below a heading. line is the rest of the line
// after the name.
func (s *scan) findInProse(at, end int, line []byte, kind string, isSecret func([]byte) bool) {
	line = line[:min(len(line), maxDistance)]
	s.charge(len(line))
	if mayEndWithVerb(s.text[max(0, at-maxDistance):at]) && s.findBeforeName(at, line, kind, isSecret) {
		return
	}
	if mayHaveValue(line) {
		s.findOnLine(end, line, kind, isSecret)
		return
	}
	if mayHavePhrase(line) {
		m := phraseValue().FindSubmatchIndex(line)
		if m != nil {
			words := line[m[2]:m[3]]
			if kind == "password" && (isQuotedPhrase(words) || isPlainPassword(words)) {
				s.add(end+m[2], end+m[3], kind)
			}
			return
		}
	}
	if len(line) > 0 && line[0] == '<' {
		s.findInMarkup(end, kind, isSecret)
		return
	}
	if s.wordOfSentence(end, line, kind) {
		return
	}
	if len(line) >= maxTitleRest {
		return
	}
	isTitle := isAll(withoutVerb(line), &isTitleByte)
	if isTitle {
		s.findBelow(at, end, kind, isSecret)
	}
}

// verbsAtEnd are verbs with which a line can end before a value that follows below.
var verbsAtEnd = []string{"is", "was", "ist", "war", "lautet"}

// withoutVerb returns a text, which follows a name, without the verb that it begins with.
func withoutVerb(line []byte) []byte {
	at := skipBlanks(line, 0)
	if at == 0 {
		return line
	}
	for _, verb := range verbsAtEnd {
		rest, found := bytes.CutPrefix(line[at:], []byte(verb))
		if found && (len(rest) == 0 || !isWord(rest[0])) {
			return rest
		}
	}
	return line
}

// findInMarkup looks for the value in the HTML elements after a name that ends at end.
func (s *scan) findInMarkup(end int, kind string, isSecret func([]byte) bool) {
	piece := s.text[end:min(len(s.text), end+maxDistanceBelow)]
	if !mayHaveValue(piece) {
		return
	}
	s.charge(len(piece))
	if s.addMatch(end, htmlCellValue().FindSubmatchIndex(piece), kind, isSecret) {
		return
	}
	s.addAdjacentMatch(end, piece, htmlSiblingValue().FindSubmatchIndex(piece), kind, isSecret)
}

// findBelow looks for the value on the lines below the name at s.text[at:end], if it has its line to itself.
func (s *scan) findBelow(at, end int, kind string, isSecret func([]byte) bool) {
	piece := s.text[end:min(len(s.text), end+maxDistanceBelow)]
	if !mayHaveValue(piece) || !s.isAlone(at) {
		return
	}
	s.charge(len(piece))
	s.addMatch(end, valueBelow().FindSubmatchIndex(piece), kind, isSecret)
}

// isTitleByte is the set of bytes that may follow a name on a line of its own.
var isTitleByte = bytesOf("s*_: \t\r")

// isAll reports whether a text has only bytes of a set.
func isAll(text []byte, set *[256]bool) bool {
	for _, c := range text {
		if !set[c] {
			return false
		}
	}
	return true
}

// mayHavePhrase is a fast check before phraseValue: it returns false only if that cannot match, as for most sentences.
func mayHavePhrase(line []byte) bool {
	at := skipBlanks(line, 0)
	if at == 0 {
		return false
	}
	for at < len(line) && line[at] < utf8.RuneSelf && isWordByte[line[at]] { // the verb
		at++
	}
	at = skipBlanks(line, at)
	if at < len(line) && line[at] == ':' {
		at = skipBlanks(line, at+1)
	}
	// Quotes and the letters of some verbs may be non-ASCII: let the pattern decide.
	return at < len(line) && (line[at] >= utf8.RuneSelf || isQuoteOrTag[line[at]])
}

// isQuoteOrTag is the set of ASCII bytes with which a quoted phrase can begin.
var isQuoteOrTag = bytesOf("\"'`<")

// skipBlanks returns the index of the first byte at or after at that is not a blank.
func skipBlanks(line []byte, at int) int {
	for at < len(line) && (line[at] == ' ' || line[at] == '\t') {
		at++
	}
	return at
}

// findOnLine looks for the value in line, the rest of the line after a name that ends at end.
func (s *scan) findOnLine(end int, line []byte, kind string, isSecret func([]byte) bool) {
	if s.addMatch(end, proseValue().FindSubmatchIndex(line), kind, isSecret) {
		return
	}
	if s.addMatch(end, htmlCellValue().FindSubmatchIndex(line), kind, isSecret) {
		return
	}
	rest := adjacentValue
	if len(line) > 0 && line[0] == '<' {
		rest = htmlSiblingValue
	}
	s.addAdjacentMatch(end, line, rest().FindSubmatchIndex(line), kind, isSecret)
}

// addAdjacentMatch adds group 1 of match like addMatch, for a value that no verb or sign introduces: an identifier is
// no secret then.
func (s *scan) addAdjacentMatch(end int, piece []byte, match []int, kind string, isSecret func([]byte) bool) {
	if match == nil {
		return
	}
	value := bytes.TrimRight(piece[match[2]:match[3]], trailingPunctuation)
	if !identifier().Match(value) {
		s.addMatch(end, match, kind, isSecret)
	}
}

// trailingPunctuation may follow a value in a sentence, and is no part of it.
const trailingPunctuation = ".,;:!?*_)"

// findBeforeName looks for a value before the name at at, as in "… is the password". line is the rest of the line
// after the name. It returns whether a value was added.
func (s *scan) findBeforeName(at int, line []byte, kind string, isSecret func([]byte) bool) bool {
	start := max(0, at-maxDistance)
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
	match := valueBefore().FindSubmatchIndex(before)
	if match == nil || !afterName().Match(line) || identifier().Match(before[match[2]:match[3]]) {
		return false
	}
	return s.addMatch(start, match, kind, isSecret)
}

// mayEndWithVerb is a fast check before valueBefore: it returns false only if that cannot match. Between the verb and
// the end there are only letters, hyphens and blanks, and each verb (is, as, was, ist, als) has one of i, a, l, then s,
// then optionally t.
func mayEndWithVerb(before []byte) bool {
	for at := len(before) - 1; at > 0; at-- {
		c := before[at]
		if !isWordOrBlank[c] {
			return c >= utf8.RuneSelf // a non-ASCII byte may be part of a letter
		}
		if c|0x20 == 's' && isBeforeS[before[at-1]] && endsVerb(before[at+1:]) {
			return true
		}
	}
	return false
}

// endsVerb reports whether a text, which follows the "s" of a verb, begins with a blank, or with a "t" and a blank.
func endsVerb(rest []byte) bool {
	if len(rest) > 0 && rest[0]|0x20 == 't' {
		rest = rest[1:]
	}
	return len(rest) > 0 && (rest[0] == ' ' || rest[0] == '\t')
}

var (
	isBeforeS     = bytesOf("iIaAlL") // the letters before the "s" of a verb
	isWordOrBlank = bytesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz- \t")
)

// mayHaveValue reports whether a text has a word with both letters and digits, of at least minPasswordLength bytes, that
// is no URL: only such words can be secrets here.
func mayHaveValue(text []byte) bool {
	if !hasDigit(text) {
		return false
	}
	start := 0
	for i, c := range text {
		if !isBetweenWords[c] {
			continue
		}
		if isCandidate(text[start:i]) {
			return true
		}
		start = i + 1
	}
	return isCandidate(text[start:])
}

// isCandidate reports whether a word is long and mixed enough for a secret, and no URL.
func isCandidate(word []byte) bool {
	return len(word) >= minPasswordLength && isMixed(word) && !bytes.Contains(word, schemeSign)
}

// hasDigit reports whether a text has a digit. It tests eight bytes at a time, because most prose has none.
func hasDigit(text []byte) bool {
	const each = 0x0101010101010101
	for ; len(text) >= 8; text = text[8:] {
		// A byte of x is 0 to 9 exactly where the text has a digit. Adding 0x76 sets the high bit of every other byte
		// below 0x80; or-ing x sets it for the rest.
		x := binary.LittleEndian.Uint64(text) ^ '0'*each
		nonDigits := (x&(0x7f*each) + (0x80-10)*each) | x
		if nonDigits&(0x80*each) != 0x80*each {
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

// minPasswordLength is the length in bytes from which a word is recognized as a password by its looks.
const minPasswordLength = 6

var (
	schemeSign     = []byte("://")
	isBetweenWords = bytesOf(" \t\r\n\"'`|<>()[]")
)

// addMatch adds group 1 of match, whose indexes are relative to offset, if it is a secret. It returns whether it is.
func (s *scan) addMatch(offset int, match []int, kind string, isSecret func([]byte) bool) bool {
	if match == nil {
		return false
	}
	from := offset + match[2]
	value := bytes.TrimRight(s.text[from:offset+match[3]], trailingPunctuation)
	isHarmless := placeholder().Match(value) || harmlessTerm().Match(value) || bytes.Contains(value, schemeSign)
	if isHarmless || len(value) < minPasswordLength || !isSecret(value) {
		return false
	}
	s.addPieces(from, from+len(value), kind, isSecret)
	return true
}

// isAlone reports whether only the start of a title or list item precedes the name at at on its line.
func (s *scan) isAlone(at int) bool {
	start := s.lineStart(at)
	return at-start < maxTitleStart && nameBefore().Match(s.text[start:at])
}

// maxTitleStart is the maximum length in bytes of what precedes a name in a title.
const maxTitleStart = 80
