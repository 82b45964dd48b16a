package guard

import (
	"bytes"
	"regexp"
)

// Codes that open an account without a password are no tokens of a service: the number of a card, the codes that are kept
// for the day when a phone is lost, the words of a wallet. They are secrets next to their names, and only there.

var (
	// pinRest is a number with its name.
	pinRest = lazily(
		`^(?i:pin|puk)(?i:[ -]?codes?| number)?(?: ?\([^()\n]{1,40}\))?[*_` + "`" + `"']{0,3}[ \t]*(?:(?i:is|ist|lautet)\b:?|[:=]|：)[ \t]*[*_` + "`" + `"']{0,3}(\d{4,8})(?:[^\w./:-]|[.,]?[ \t\r\n]|\.?$)`,
	)
	// year is a number that is more often something else than a PIN.
	year = lazily(`^(?:19|20)\d\d$`)
	// codesOnLine are codes behind their name.
	codesOnLine = lazily(`^s?(?: ?\([^()\n]{1,40}\))?[*_` + "`" + `"']{0,3}[ \t]*(?:(?:is|are|ist|sind|lautet|lauten)\b:?|[:=]|：)[ \t]*`)
	// aCode is a code: characters in groups, or digits in groups with blanks between them.
	aCode = lazily(`\b(?:\d{3,6}(?: \d{3,6}){1,7}|[A-Za-z0-9]{3,12}(?:-[A-Za-z0-9]{3,12}){0,7})\b`)
	// markOfItem is what is in front of the text of an item of a list, and besideCodes what a line with nothing but codes has
	// beside them.
	markOfItem  = lazily(`^[ \t>]*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?(?:\[[ xX]\][ \t]+)?`)
	besideCodes = lazily(`[\s,;|*_~` + "`" + `"']+`)
	// fence is a line of a block of code.
	fence = lazily("^[ \\t>]*(?:```|~~~)\\w*[ \\t\\r]*$")
	// seedWords are the words of a wallet.
	seedWords = lazily(`^[*_` + "`" + `"']{0,3}((?:[a-z]{3,8}[ ,]+){11,23}[a-z]{3,8})[*_` + "`" + `"'.]{0,3}[ \t\r]*(?:\n|$)`)
	// seedRest is what is between their name and them.
	seedRest = lazily(`^s?[*_` + "`" + `"']{0,3}[ \t]*(?:(?:is|are)\b:?|[:=-]|：)?[ \t]*(?:\r?\n[ \t>]*){0,2}(?:[-*+][ \t]+)?`)
	// otpRest is the key of a program that makes one-time passwords.
	otpRest = lazily(`^(?i:totp|2fa|otp)(?i:[ _-]?(?:secret|key|seed|code)s?)?[*_` + "`" + `"']{0,3}[ \t]*(?:(?i:is)\b:?|[:=]|：)[ \t]*[*_` + "`" + `"']{0,3}([A-Z2-7]{16,64})=*(?:[^\w-]|$)`)
	// networkRest is the key of a network.
	networkRest = lazily(`^(?i:wi-?fi|wlan|wpa[23]?|network|netzwerk|router)[ _-]?(?i:key|schlüssel|code|psk)[*_` + "`" + `"']{0,3}[ \t]*(?:(?i:is|ist)\b:?|[:=]|：)[ \t]*[*_` + "`" + `"']{0,3}([^\s` + "`" + `"'|<>*]+)`)
)

// codes are the rules for them.
var codes = []rule{
	{kind: "pin", keywords: []string{"pin:", "pin=", "pin =", "puk =", "pin is ", "pin ist ", "pin code", "pin-code", "pin (", "pin** ", "pin**:", "puk:", "puk is ", "puk code"}, find: (*scan).pin},
	{
		kind: "recovery-code",
		keywords: []string{
			"recovery code", "recovery-code", "recovery_code", "recovery key", "backup code", "backup-code", "backup_code",
			"rescue code", "bitlocker", "wiederherstellungscode", "wiederherstellungsschlüssel", "ersatzcode",
		},
		find: (*scan).recoveryCodes,
	},
	{kind: "seed-phrase", keywords: []string{"seed phrase", "seed words", "recovery phrase", "secret phrase", "mnemonic", "seed:", "seed\n"}, find: (*scan).seed},
	{kind: "one-time-password-key", keywords: []string{"totp", "2fa:", "2fa ", "2fa-", "2fa_", "2fa=", "otp secret", "otp key", "otp seed"}, find: (*scan).otpKey},
	{kind: "password", keywords: []string{"wifi key", "wi-fi key", "wlan-schlüssel", "wlan key", "wpa key", "wpa2 key", "wpa-key", "wpa2-key", "wpa-psk", "wpa2-psk", "network key", "router key", "router code"}, find: (*scan).networkKey},
}

// submatch returns where the first submatch of a pattern is that matches at a place.
func (s *scan) submatch(pattern func() *regexp.Regexp, at, most int) (from, to int, ok bool) {
	piece := s.text[at:min(len(s.text), at+most)]
	s.charge(len(piece))
	m := pattern().FindSubmatchIndex(piece)
	if m == nil {
		return 0, 0, false
	}
	return at + m[2], at + m[3], true
}

// isInWord reports whether a place is in a word, behind its beginning.
func (s *scan) isInWord(at int) bool { return at > 0 && isWord(s.text[at-1]) && isWord(s.text[at]) }

// isNamedBy reports whether a keyword begins a name: no letter or digit is in front of it.
func (s *scan) isNamedBy(at int) bool { return at == 0 || !isWord(s.text[at-1]) || s.text[at-1] == '_' }

func (s *scan) pin(at, _ int) {
	if !s.isNamedBy(at) {
		return
	}
	from, to, ok := s.submatch(pinRest, at, maxDistance)
	if !ok {
		return
	}
	isName := bytes.Equal(s.text[at:at+3], []byte("PIN")) || bytes.Equal(s.text[at:at+3], []byte("PUK"))
	if isName || !year().Match(s.text[from:to]) {
		s.add(from, to, "pin")
	}
}

// isCode reports whether a text is long enough for a code and has digits.
func isCode(text []byte) bool {
	count := 0
	for _, c := range text {
		if isWordByte[c] && c != '_' {
			count++
		}
	}
	return count >= 8 && hasDigit(text)
}

// addCodes adds the codes of a piece of a line if it has nothing else. It is false if it has.
func (s *scan) addCodes(start int, line []byte) bool {
	found := aCode().FindAllIndex(line, -1)
	rest := besideCodes().ReplaceAll(aCode().ReplaceAll(line, []byte(" ")), nil)
	if len(found) == 0 || len(bytes.TrimSpace(rest)) > 0 {
		return false
	}
	for _, m := range found {
		if !isCode(line[m[0]:m[1]]) {
			return false
		}
	}
	for _, m := range found {
		s.add(start+m[0], start+m[1], "recovery-code")
	}
	return true
}

// mostCodes is how many lines with codes follow their name at most, with empty ones.
const mostCodes = 40

func (s *scan) recoveryCodes(at, end int) {
	if !s.isNamedBy(at) {
		return
	}
	isProperty := s.property(at, end, func(from, to int, value []byte) {
		if isCode(value) {
			s.addAs(from, to, "recovery-code", value)
		}
	})
	if isProperty {
		return
	}
	line := s.line(end, longestValue)
	if m := codesOnLine().FindIndex(line); m != nil && s.addCodes(end+m[1], line[m[1]:]) {
		return
	}
	if len(line) >= maxDistance || !isAll(bytes.TrimRight(line, " \r:(0123456789)"), &isTitleByte) {
		return
	}
	_, next := lineAt(s.text, end)
	for lines := 0; lines < mostCodes && next < len(s.text); lines++ {
		start := next
		line, next = lineAt(s.text, start)
		line = line[:min(len(line), longestValue)]
		s.charge(len(line))
		isBetween := len(bytes.Trim(line, " \t\r>")) == 0 || fence().Match(line)
		if isBetween {
			continue
		}
		mark := len(markOfItem().Find(line))
		if !s.addCodes(start+mark, line[mark:]) {
			return
		}
	}
}

// wordsOfSeed are how many words a seed phrase can have.
var wordsOfSeed = map[int]bool{12: true, 15: true, 18: true, 21: true, 24: true}

func (s *scan) seed(at, end int) {
	if !s.isNamedBy(at) {
		return
	}
	piece := s.text[end:min(len(s.text), end+longestValue)]
	s.charge(len(piece))
	skipped := len(seedRest().Find(piece))
	m := seedWords().FindSubmatchIndex(piece[skipped:])
	if m == nil {
		return
	}
	words := piece[skipped+m[2] : skipped+m[3]]
	if wordsOfSeed[len(bytes.FieldsFunc(words, func(r rune) bool { return r == ' ' || r == ',' }))] {
		s.add(end+skipped+m[2], end+skipped+m[3], "seed-phrase")
	}
}

func (s *scan) otpKey(at, _ int) {
	if !s.isNamedBy(at) {
		return
	}
	if from, to, ok := s.submatch(otpRest, at, longestValue); ok {
		s.add(from, to, "one-time-password-key")
	}
}

func (s *scan) networkKey(at, _ int) {
	if !s.isNamedBy(at) {
		return
	}
	from, to, ok := s.submatch(networkRest, at, longestValue)
	if !ok {
		return
	}
	value := bytes.TrimRight(s.text[from:to], ".,;:!?)")
	if isPassword(value) && !placeholder().Match(value) && !harmlessTerm().Match(value) {
		s.add(from, from+len(value), "password")
	}
}
