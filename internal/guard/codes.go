package guard

import (
	"bytes"
	"regexp"
)

// Some codes open an account without a password, but do not look like tokens: the PIN of a card, recovery codes, the
// seed phrase of a wallet. They count as secrets only next to their names.

var (
	// pinWithName matches a PIN with its name. Group 1 is the PIN.
	pinWithName = lazily(
		`^(?i:pin|puk)(?i:[ -]?codes?| number)?(?: ?\([^()\n]{1,40}\))?[*_` + "`" + `"']{0,3}[ \t]*(?:(?i:is|ist|lautet)\b:?|[:=]|：)[ \t]*[*_` + "`" + `"']{0,3}(\d{4,8})(?:[^\w./:-]|[.,]?[ \t\r\n]|\.?$)`,
	)
	// year matches numbers that are more often a year than a PIN.
	year = lazily(`^(?:19|20)\d\d$`)
	// beforeCodes matches the text between the name of codes and the codes on the same line.
	beforeCodes = lazily(`^s?(?: ?\([^()\n]{1,40}\))?[*_` + "`" + `"']{0,3}[ \t]*(?:(?:is|are|ist|sind|lautet|lauten)\b:?|[:=]|：)[ \t]*`)
	// codePattern matches a code: groups of characters joined by hyphens, or groups of digits separated by blanks.
	codePattern = lazily(`\b(?:\d{3,6}(?: \d{3,6}){1,7}|[A-Za-z0-9]{3,12}(?:-[A-Za-z0-9]{3,12}){0,7})\b`)
	// listMarker matches what precedes the text of a list item.
	listMarker = lazily(`^[ \t>]*(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?(?:\[[ xX]\][ \t]+)?`)
	// besideCodes matches what may surround the codes on a line of its own.
	besideCodes = lazily(`[\s,;|*_~` + "`" + `"']+`)
	// fence matches the first or last line of a code block.
	fence = lazily("^[ \\t>]*(?:```|~~~)\\w*[ \\t\\r]*$")
	// seedWords matches the words of a seed phrase. They are group 1.
	seedWords = lazily(`^[*_` + "`" + `"']{0,3}((?:[a-z]{3,8}[ ,]+){11,23}[a-z]{3,8})[*_` + "`" + `"'.]{0,3}[ \t\r]*(?:\n|$)`)
	// beforeSeed matches the text between the name of a seed phrase and its words.
	beforeSeed = lazily(`^s?[*_` + "`" + `"']{0,3}[ \t]*(?:(?:is|are)\b:?|[:=-]|：)?[ \t]*(?:\r?\n[ \t>]*){0,2}(?:[-*+][ \t]+)?`)
	// otpKeyWithName matches the key of an app for one-time passwords, with its name. Group 1 is the key.
	otpKeyWithName = lazily(`^(?i:totp|2fa|otp)(?i:[ _-]?(?:secret|key|seed|code)s?)?[*_` + "`" + `"']{0,3}[ \t]*(?:(?i:is)\b:?|[:=]|：)[ \t]*[*_` + "`" + `"']{0,3}([A-Z2-7]{16,64})=*(?:[^\w-]|$)`)
	// networkKeyWithName matches the key of a wireless network, with its name. Group 1 is the key.
	networkKeyWithName = lazily(`^(?i:wi-?fi|wlan|wpa[23]?|network|netzwerk|router)[ _-]?(?i:key|schlüssel|code|psk)[*_` + "`" + `"']{0,3}[ \t]*(?:(?i:is|ist)\b:?|[:=]|：)[ \t]*[*_` + "`" + `"']{0,3}([^\s` + "`" + `"'|<>*]+)`)
)

// codes are the rules for such codes.
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

// submatch matches a pattern against at most most bytes from at on, and returns the start and end of group 1.
func (s *scan) submatch(pattern func() *regexp.Regexp, at, most int) (from, to int, ok bool) {
	piece := s.text[at:min(len(s.text), at+most)]
	s.charge(len(piece))
	m := pattern().FindSubmatchIndex(piece)
	if m == nil {
		return 0, 0, false
	}
	return at + m[2], at + m[3], true
}

// isInWord reports whether an offset is inside a word, after its first byte.
func (s *scan) isInWord(at int) bool { return at > 0 && isWord(s.text[at-1]) && isWord(s.text[at]) }

// beginsName reports whether a keyword begins a name: no letter or digit precedes it.
func (s *scan) beginsName(at int) bool {
	return at == 0 || !isWord(s.text[at-1]) || s.text[at-1] == '_'
}

func (s *scan) pin(at, _ int) {
	if !s.beginsName(at) {
		return
	}
	from, to, ok := s.submatch(pinWithName, at, maxDistance)
	if !ok {
		return
	}
	isName := bytes.Equal(s.text[at:at+3], []byte("PIN")) || bytes.Equal(s.text[at:at+3], []byte("PUK"))
	if isName || !year().Match(s.text[from:to]) {
		s.add(from, to, "pin")
	}
}

// isCode reports whether a text has digits, and at least eight letters and digits.
func isCode(text []byte) bool {
	count := 0
	for _, c := range text {
		if isWordByte[c] && c != '_' {
			count++
		}
	}
	return count >= 8 && hasDigit(text)
}

// addCodes adds the codes of line if it contains nothing else, and returns whether it did.
func (s *scan) addCodes(start int, line []byte) bool {
	found := codePattern().FindAllIndex(line, -1)
	rest := besideCodes().ReplaceAll(codePattern().ReplaceAll(line, []byte(" ")), nil)
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

// maxCodeLines is the maximum number of lines, empty ones included, that are searched after the name of codes.
const maxCodeLines = 40

func (s *scan) recoveryCodes(at, end int) {
	if !s.beginsName(at) {
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
	if m := beforeCodes().FindIndex(line); m != nil && s.addCodes(end+m[1], line[m[1]:]) {
		return
	}
	if len(line) >= maxDistance || !isAll(bytes.TrimRight(line, " \r:(0123456789)"), &isTitleByte) {
		return
	}
	_, next := lineAt(s.text, end)
	for lines := 0; lines < maxCodeLines && next < len(s.text); lines++ {
		start := next
		line, next = lineAt(s.text, start)
		line = line[:min(len(line), longestValue)]
		s.charge(len(line))
		isIgnored := len(bytes.Trim(line, " \t\r>")) == 0 || fence().Match(line)
		if isIgnored {
			continue
		}
		marker := len(listMarker().Find(line))
		if !s.addCodes(start+marker, line[marker:]) {
			return
		}
	}
}

// isSeedLength has the numbers of words that a seed phrase may have (BIP 39).
var isSeedLength = map[int]bool{12: true, 15: true, 18: true, 21: true, 24: true}

func (s *scan) seed(at, end int) {
	if !s.beginsName(at) {
		return
	}
	piece := s.text[end:min(len(s.text), end+longestValue)]
	s.charge(len(piece))
	skipped := len(beforeSeed().Find(piece))
	m := seedWords().FindSubmatchIndex(piece[skipped:])
	if m == nil {
		return
	}
	words := piece[skipped+m[2] : skipped+m[3]]
	if isSeedLength[len(bytes.FieldsFunc(words, func(r rune) bool { return r == ' ' || r == ',' }))] {
		s.add(end+skipped+m[2], end+skipped+m[3], "seed-phrase")
	}
}

func (s *scan) otpKey(at, _ int) {
	if !s.beginsName(at) {
		return
	}
	if from, to, ok := s.submatch(otpKeyWithName, at, longestValue); ok {
		s.add(from, to, "one-time-password-key")
	}
}

func (s *scan) networkKey(at, _ int) {
	if !s.beginsName(at) {
		return
	}
	from, to, ok := s.submatch(networkKeyWithName, at, longestValue)
	if !ok {
		return
	}
	value := bytes.TrimRight(s.text[from:to], ".,;:!?)")
	if isPassword(value) && !placeholder().Match(value) && !harmlessTerm().Match(value) {
		s.add(from, from+len(value), "password")
	}
}
