package guard

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"strings"
	"sync"
)

// own are the rules for what gitleaks has no rule for that suits notes.
var own = []rule{
	{kind: "private-key", keywords: []string{"-----begin"}, by: (*scan).privateKey},
	{kind: "password-in-url", keywords: []string{"://"}, by: (*scan).userinfo},
	{kind: "authorization", keywords: []string{"bearer ", "basic "}, by: (*scan).authorization},
	{kind: "password", keywords: []string{"password", "passwd", "passphrase", "passwort", "kennwort", "pwd", "passcode"}, by: (*scan).password},
	{kind: "secret", keywords: []string{"secret", "token", "api_key", "api-key", "apikey", "api key", "access_key", "accesskey", "access key", "private_key", "auth_key", "credential"}, by: (*scan).named},
}

// lazily compiles a pattern when it is used first: most processes search no text.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func allRules() (all []*rule) {
	for _, rules := range [][]rule{table, own} {
		for i := range rules {
			all = append(all, &rules[i])
		}
	}
	return all
}

var (
	keyBegins = lazily(`^(?i)-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----`)
	// keyLine is a line of a key.
	keyLine = lazily(`(?m)^[ \t>]*[A-Za-z0-9+/=\\]+\r?$`)
	keyEnds = []byte("-----END")

	userinfo = lazily("^://[^\\s/@:'\"<>()|\\\\^`\\[\\]{}]{0,100}:([^\\s/@'\"<>()|\\\\^`\\[\\]]{3,200})@[A-Za-z0-9.\\[-]")

	// assigned is the rest of a name after a keyword, what is between it and a value, and the value.
	assigned = lazily("^[\\w-]*(?: ?\\([^()\\n]+\\))?[*_`\"']{0,3}[ \\t]*(?:::?|=>?|:=|\\|)[ \\t]*[*_`]{0,3}(?:\"([^\"\\n]{3,})\"|'([^'\\n]{3,})'|`([^`\\n]{3,})`|([^\\s`\"'|]{3,}))")

	// placeholder is what documentation has in place of a secret.
	placeholder = lazily(`(?i)^(?:x+|\*+|\.+|-+|_+|#+|•+|\?+|pass(?:word|wd|phrase)?|pw|pwd|secret|token|key|user(?:name)?|true|false|null|none|nil|yes|no|required|optional|string|text|number|bool(?:ean)?|redacted|removed|hidden|unknown|todo|tbd|n/a|changeme|change[-_ ]?it|example.*|sample.*|dummy.*|test|foo|bar|baz|abc|xyz|123|s3cr3t|hunter2|p@ssw0rd|my[-_ ]?\w*|your[-_ ]?.*|some[-_ ]?\w*|the[-_ ]\w*|<.*|\$.*|\{.*|\[.*|%.*|‹.*|\(.*|@.*|!.*|~.*|/.*|https?:.*|\w+\(.*|.*\.\.\..*|.*…)$`)
)

// privateKey finds the lines of a private key, without the first and the last one. A key that has
// no last line was cut off: it continues to the first line that cannot be a part of a key.
func (s *scan) privateKey(at, _ int) {
	head := keyBegins().Find(s.text[at:min(len(s.text), at+160)])
	if head == nil || at < s.keysEnd {
		return
	}
	start := at + len(head)
	s.charge(min(len(s.text)-start, longestKey))
	rest, end := s.text[start:min(len(s.text), start+longestKey)], -1
	if start+len(rest) > s.noEnd {
		if end = bytes.Index(rest, keyEnds); end < 0 {
			s.noEnd = start + len(rest) - len(keyEnds)
		}
	}
	isCut := end < 0
	if isCut {
		end = min(len(rest), longestCut)
	}
	for line := range bytes.Lines(rest[:end]) {
		if bare := bytes.TrimRight(line, "\n"); keyLine().Match(bare) {
			s.add(start, start+len(bare), "private-key")
		} else if rest := bytes.Trim(bare, " \t\r>"); isCut && len(rest) > 0 && !bytes.Contains(rest, []byte(": ")) && !bytes.HasPrefix(rest, []byte("‹")) {
			break // neither a header nor the mark of a line
		}
		start += len(line)
	}
	s.keysEnd = start
}

// userinfo finds the password in an address such as ftp://user:password@host.
func (s *scan) userinfo(at, _ int) {
	line := s.line(at, 400)
	if at == 0 || !isWord(s.text[at-1]) || bytes.IndexByte(line, '@') < 0 {
		return
	}
	m := userinfo().FindSubmatchIndex(line)
	if m != nil && !placeholder().Match(s.text[at+m[2]:at+m[3]]) && !bytes.HasPrefix(s.text[at+m[1]-1:], []byte("example.")) {
		s.add(at+m[2], at+m[3], "password-in-url")
	}
}

// authorization finds what a header "Authorization: Bearer …" or "Basic …" carries.
func (s *scan) authorization(at, _ int) {
	from := at + bytes.IndexByte(s.text[at:], ' ')
	for from < len(s.text) && s.text[from] == ' ' {
		from++
	}
	to := from
	for to < min(len(s.text), at+longestToken) && isToken[s.text[to]] && s.text[to] != '%' {
		to++
	}
	value := s.text[from:to]
	if s.charge(len(value)); len(value) < 16 || at > 0 && isWord(s.text[at-1]) {
		return
	}
	if s.text[at]|0x20 == 'b' && s.text[at+1]|0x20 == 'a' {
		decoded, err := base64.StdEncoding.DecodeString(string(value))
		if user, password, found := bytes.Cut(decoded, []byte(":")); err != nil || !found || !isPrintable(user) || len(password) == 0 {
			return
		}
	} else if !isMixed(value) || entropyOf(value) < 3.5 || len(value) < 20 {
		return
	}
	s.add(from, to, "authorization")
}

// password finds the value of a property or line such as "password: …". In properties any
// value counts, elsewhere only one that looks like a password.
func (s *scan) password(at, end int) {
	from, to, ok := s.value(at, end)
	if !ok {
		return
	}
	value := s.text[from:to]
	isProperty := false // the place is in a line of the properties, at the start of a note
	if bytes.HasPrefix(s.text, []byte("---\n")) || bytes.HasPrefix(s.text, []byte("---\r\n")) {
		end := bytes.Index(s.text[3:], []byte("\n---"))
		isProperty = end >= 0 && at < end+3
	}
	if (isProperty || len(value) >= 6 && len(value) <= 64 && isMixed(value) && !bytes.ContainsAny(value, " ") && entropyOf(value) >= 2.5 && !bytes.Contains(value, []byte("()"))) && !placeholder().Match(value) {
		s.add(from, to, "password")
	}
}

// named finds a long random value of a name such as "client_secret" or
// "API key".
func (s *scan) named(at, end int) {
	from, to, ok := s.value(at, end)
	if !ok {
		return
	}
	value := s.text[from:to]
	if len(value) >= 16 && len(value) <= 200 && isMixed(value) && entropyOf(value) >= 3.5 && !bytes.ContainsAny(value, " ()[]{}<>,;") && !isHashOrName(value) && !placeholder().Match(value) {
		s.add(from, to, "secret")
	}
}

// line returns the rest of a line from the place at, up to most bytes of it, which are charged.
func (s *scan) line(at, most int) []byte {
	line := s.text[at:min(len(s.text), at+most)]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	s.charge(len(line))
	return line
}

// value returns the value that is assigned to the name that has a keyword from the place at to the place end.
func (s *scan) value(at, end int) (from, to int, ok bool) {
	if before := s.text[:at]; at > 0 && isWord(before[at-1]) && before[at-1] != '_' {
		return 0, 0, false
	}
	line := s.line(end, longestValue)
	if !mayAssign(line) {
		return 0, 0, false
	}
	m := assigned().FindSubmatchIndex(line)
	if m == nil {
		return 0, 0, false
	}
	from, to = longest(m[2:])
	if from, to = end+from, end+to; to-from > longestPassword {
		if m[8] < 0 { // in quotes
			return 0, 0, false
		}
		to = from + longestPassword
	}
	for to > from && strings.IndexByte(".,;:|*)", s.text[to-1]) >= 0 {
		to--
	}
	return from, to, to-from >= 3
}

// mayAssign is a fast test for assigned: it is false only where that cannot match.
func mayAssign(line []byte) bool {
	for i, c := range line {
		switch c {
		case ':', '=', '|', '(': // what is in parentheses can be any text
			return true
		case '-', ' ', '\t', '*', '_', '`', '"', '\'':
		default:
			if !isWordByte[c] || i > 0 && !isWordByte[line[i-1]] && line[i-1] != '-' {
				return false
			}
		}
	}
	return false
}

// isHashOrName reports whether a value is more likely a digest, a version, an address, a
// path or words than a secret.
func isHashOrName(value []byte) bool {
	return bytes.Contains(value, []byte("://")) || bytes.Count(value, []byte("/")) > 2 || bytes.Count(value, []byte(".")) > 3 || words().Match(value)
}

// words are words with separators, of which at most one in three has a digit.
var words = lazily(`^(?:[A-Za-z]+[-_./]){2,}[A-Za-z0-9]*$`)

// leastEncoded is how many characters a text in base64 has at least that is decoded.
const leastEncoded = 24

// encoded searches texts in base64, which can have a token in them.
func (s *scan) encoded() {
	for start := 0; start+leastEncoded <= len(s.text) && s.err == nil; {
		end := start + leastEncoded
		for end > start && isBase64[s.text[end-1]] { // from the end: most of a text is not looked at
			end--
		}
		if end > start {
			start = end
			continue
		}
		for end += leastEncoded; end < len(s.text) && isBase64[s.text[end]]; end++ {
		}
		if !bytes.ContainsAny(s.text[start:start+leastEncoded], "-_/") || end-start >= 40 {
			s.decoded(start, end)
		}
		start = end + 1
	}
}

func (s *scan) decoded(start, end int) {
	s.charge(end - start)
	text := make([]byte, base64.RawStdEncoding.DecodedLen(end-start))
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if n, _ := encoding.Decode(text[:6], s.text[start:start+8]); n < 6 || !isPrintable(text[:6]) {
			continue
		}
		if n, err := encoding.Decode(text, s.text[start:end]); err == nil && isPrintable(text[:n]) {
			inner := scan{text: text[:n], spend: s.spend, err: s.err}
			if inner.keywords(secretWords()); len(inner.found) > 0 {
				s.add(start, end, inner.found[0].Kind)
			}
			s.err = inner.err
			return
		}
	}
}

func isPrintable(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c > '~' {
			return false
		}
	}
	return len(text) > 0
}

var (
	cards    = lazily(`\b[2-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,7}\b|\b3[47]\d{2}[ -]?\d{6}[ -]?\d{5}\b`)
	accounts = lazily(`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b`)
)

// numbers finds numbers of cards (by the check digit of ISO/IEC 7812) and of accounts (IBAN,
// by that of ISO 13616).
func (s *scan) numbers() {
	for _, m := range cards().FindAllIndex(s.text, -1) {
		sum, double := 0, false
		for i := m[1] - 1; i >= m[0]; i-- {
			if c := s.text[i]; '0' <= c && c <= '9' {
				d := int(c - '0')
				if double {
					d = d*2%10 + d/5
				}
				sum, double = sum+d, !double
			}
		}
		if sum%10 == 0 {
			s.add(m[0], m[1], "card-number")
		}
	}
	for _, m := range accounts().FindAllIndex(s.text, -1) {
		text := bytes.ReplaceAll(s.text[m[0]:m[1]], []byte(" "), nil)
		if len(text) < 15 || len(text) > 34 {
			continue
		}
		rest := 0
		for _, c := range append(append([]byte(nil), text[4:]...), text[:4]...) {
			if c >= 'A' {
				rest = (rest*100 + int(c-'A') + 10) % 97
			} else {
				rest = (rest*10 + int(c-'0')) % 97
			}
		}
		if rest == 1 {
			s.add(m[0], m[1], "iban")
		}
	}
}
