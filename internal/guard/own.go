package guard

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// passwordNames are the words for a password that are recognized as names.
var passwordNames = []string{
	"password", "passwd", "passphrase", "pass phrase", "pass-phrase", "passwort", "kennwort", "pwd", "passcode",
	"wachtwoord", "contraseña", "mot de passe", "senha", "passwörter", "kennwörter", "pass word", "pass-word", "pass_word", "pswd",
	"hasło", "heslo", "lösenord", "salasana", "adgangskode", "passord", "jelszó", "şifre", "parola",
	"пароль", "Пароль", "ПАРОЛЬ", "密码", "密碼", "パスワード", "비밀번호", // case is only ignored in ASCII letters
}

// own are the rules for secrets for which gitleaks has no rule that suits notes.
var own = []rule{
	{kind: "private-key", keywords: []string{"-----begin", "---- begin"}, find: (*scan).privateKey},
	{kind: "private-key", keywords: []string{"private-lines:"}, find: (*scan).puttyKey},
	{kind: "password-in-url", keywords: []string{"://"}, find: (*scan).userinfo},
	{kind: "authorization", keywords: []string{"bearer ", "basic "}, find: (*scan).authorization},
	{
		kind:     "password",
		keywords: passwordNames,
		find:     (*scan).password,
	},
	{kind: "password", keywords: []string{"pass:", "pass=", "pw:", "pw=", "pw ", "pass =", "sshpass", "curl ", "wifi:", "psk=", "psk =", "psk:"}, find: (*scan).shortForm},
	{
		kind: "secret",
		keywords: []string{
			"secret",
			"token",
			"api_key",
			"api-key",
			"apikey",
			"api key",
			"access_key",
			"accesskey",
			"access key",
			"private_key",
			"private key",
			"privatekey",
			"auth_key",
			"account_key",
			"accountkey",
			"account key",
			"preshared_key",
			"presharedkey",
			"pre-shared key",
			"encryption_key",
			"encryptionkey",
			"encryption key",
			"signing_key",
			"signingkey",
			"signing key",
			"sessionid",
			"session_id",
			"session-id",
			"sessid",
			"credential",
			"identitytoken",
			"accesstoken",
			"refreshtoken",
			"authtoken",
			"csrftoken",
		},
		find: (*scan).namedSecret,
	},
}

// lazily compiles a pattern on first use: most processes search no text.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func allRules() (all []*rule) {
	for _, rules := range [][]rule{table, own, codes, services, commandRules} {
		for i := range rules {
			all = append(all, &rules[i])
		}
	}
	return all
}

var (
	userinfoPattern = lazily(
		"^://[^\\s/@:'\"<>()|\\\\^`\\[\\]{}]{0,100}:([^\\s/@'\"<>()|\\\\^`\\[\\]]{3,200})@[A-Za-z0-9.\\[-]",
	)

	// assigned matches the rest of a name after a keyword, the sign that assigns a value, and the value, which is one
	// of the groups.
	assigned = lazily(
		"^[\\w-]*(?: ?\\([^()\\n]+\\))?[*_`\"']{0,3}[ \\t]*(?:::?|=>?|:=|\\||：|＝)[ \\t]*[*_`]{0,3}[ \\t]*(?:\"([^\"\\n]{3,})\"|'([^'\\n]{3,})'|`([^`\\n]{3,})`|([^\\s`\"'|]{3,}))",
	)

	// placeholder matches what documentation has in place of a secret.
	placeholder = lazily(
		`(?i)^(?:x+|\*+|\.+|-+|_+|#+|•+|\?+|pass(?:word|wd|phrase)?|pw|pwd|secret|token|key|user(?:name)?|true|false|null|none|nil|yes|no|required|optional|string|text|number|bool(?:ean)?|redacted|removed|hidden|unknown|todo|tbd|n/a|changeme|change[-_ ]?it|example.*|sample.*|dummy.*|test|foo|bar|baz|abc|xyz|123|s3cr3t|hunter2|p@ssw0rd|my[-_ ]?\w*|your[-_ ]?.*|some[-_ ]?\w*|the[-_ ]\w*|<.*|\$.*|\{.*|\[.*|%.*|‹.*|\(.*|@.*|!.*|~.*|/.*|https?:.*|\w+\(.*|.*\.\.\..*|.*…)$`,
	)
)

// userinfo finds the password in an address such as ftp://user:password@host.
func (s *scan) userinfo(at, _ int) {
	line := s.line(at, 400)
	if at == 0 || !isWord(s.text[at-1]) || bytes.IndexByte(line, '@') < 0 {
		return
	}
	m := userinfoPattern().FindSubmatchIndex(line)
	if m == nil {
		return
	}
	from := at + m[2]
	to := at + m[3]
	host := s.text[at+m[1]-1:]
	isExample := placeholder().Match(s.text[from:to]) || bytes.HasPrefix(host, []byte("example."))
	if !isExample {
		s.add(from, to, "password-in-url")
	}
}

// authorization finds the credentials of a header "Authorization: Bearer …" or "Basic …".
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
	s.charge(len(value))
	isPartOfWord := at > 0 && isWord(s.text[at-1])
	if len(value) < 8 || isPartOfWord {
		return
	}
	isSecret := isBearerToken
	if bytes.EqualFold(s.text[at:at+len("basic")], []byte("basic")) {
		isSecret = isBasicCredentials
		if isHeader := bytes.HasSuffix(bytes.ToLower(s.text[max(0, at-longestHeaderName):at]), []byte("authorization: ")); isHeader {
			isSecret = isUserAndPassword
		}
	}
	if isSecret(value) {
		s.add(from, to, "authorization")
	}
}

// longestHeaderName is the length of the text before the scheme in a header.
const longestHeaderName = len("authorization: ")

// isBasicCredentials reports whether a value is a printable user and a password in base64, as in the Basic scheme of
// HTTP. Of a short value the password must be printable, too.
func isBasicCredentials(value []byte) bool {
	user, password, ok := userAndPassword(value)
	const minSure = 16
	return ok && isPrintable(user) && (len(value) >= minSure || isPrintable(password))
}

// isUserAndPassword reports whether a value is a user and a password of any bytes in base64.
func isUserAndPassword(value []byte) bool {
	_, _, ok := userAndPassword(value)
	return ok
}

// userAndPassword decodes a user and a password, which is not empty, from base64.
func userAndPassword(value []byte) (user, password []byte, ok bool) {
	decoded, err := base64.StdEncoding.DecodeString(string(value))
	if err != nil {
		return nil, nil, false
	}
	user, password, ok = bytes.Cut(decoded, []byte(":"))
	return user, password, ok && len(password) > 0
}

// isBearerToken reports whether a value looks like a token.
func isBearerToken(value []byte) bool {
	return len(value) >= 20 && isMixed(value) && entropyOf(value) >= 3.5
}

// password finds the value of a property or line such as "password: …". In properties and columns of tables any value
// counts, elsewhere only one that looks like a password.
func (s *scan) password(at, end int) {
	if !s.isName(at) {
		return
	}
	rest := s.line(end, longestValue)
	if !s.isInSentence(at, end, rest) && s.structuredPassword(at, end, rest) {
		return
	}
	s.commandArgument(at, end, rest)
	from, to := s.value(end, rest)
	value := s.text[from:to]
	if phraseEnd, ok := s.quotedPhraseEnd(from, to); ok {
		s.add(from, phraseEnd, "password")
		return
	}
	if len(value) > 0 {
		isTag := value[0] == '<' // a tag may precede the value
		switch {
		case !isTag && placeholder().Match(value):
			return
		case isPassword(value):
			s.addPieces(from, to, "password", isPassword)
			return
		case s.isEnvironmentVariable(at, end, from):
			s.add(from, to, "password")
			return
		case s.wordOfLabel(at, end, from, to), s.wordsOfLine(at, end, from):
			return
		}
	}
	s.findInProse(at, end, rest, "password", isPassword)
}

// wordsOfLine adds the words from from to the end of the line as a passphrase, if the name of the password is alone at
// the beginning of the line. It returns false if they are rather a remark about the password.
func (s *scan) wordsOfLine(at, end, from int) bool {
	namesPassphrase := isPassphraseKeyword(s.text[at:end])
	if !namesPassphrase {
		isHeading := bytes.HasPrefix(bytes.TrimLeft(s.text[s.lineStart(at):], " \t>"), []byte("#"))
		if isHeading || !s.isAlone(at) {
			return false
		}
	}
	line := s.line(from, longestPassword)
	words := phrase().FindSubmatchIndex(line)
	if words == nil || spokenWords().Match(line) || aboutPasswords().Match(line) {
		return false
	}
	value := line[words[2]:words[3]]
	count := 1 + bytes.Count(value, []byte(" ")) + bytes.Count(value, []byte("-"))
	if count < minWords && !namesPassphrase {
		return false
	}
	s.add(from+words[2], from+words[3], "password")
	return true
}

// minWords is how many unquoted words count as a password; fewer are more often a remark about one.
const minWords = 4

// isEnvironmentVariable reports whether a keyword ends the name of a variable in capitals that is assigned the value at
// from.
func (s *scan) isEnvironmentVariable(at, end, from int) bool {
	for _, c := range s.text[at:end] {
		if !isCapitalLetter(c) && c != '_' {
			return false
		}
	}
	between := s.text[end:from]
	return len(between) > 0 && between[0] == '=' && len(bytes.Trim(between[1:], `"'`)) == 0
}

// structuredPassword finds the values of a password whose name is a key, heading, tag, field or value of another name.
// It returns false if the name is none of these.
func (s *scan) structuredPassword(at, end int, rest []byte) bool {
	addString := func(from, to int, value []byte) {
		if !mentionsPassword(value) {
			s.addPassword(from, to, value)
		}
	}
	return s.property(at, end, s.addPassword) ||
		s.member(at, end, addString) ||
		s.column(at, end, "password", s.addPassword) ||
		s.element(at, end, addString) ||
		s.htmlColumn(at, end, "password", s.addPassword) ||
		s.pair(at, end, addString) ||
		s.inlineField(at, end, rest, s.addPassword)
}

// addPassword adds the value of a password name, unless it is too short or means that no password is set.
func (s *scan) addPassword(from, to int, value []byte) {
	if len(value) >= 3 && !unset().Match(value) {
		s.addAs(from, to, "password", value)
	}
}

// shortForms are short notations of passwords, as in commands; the submatch is the value.
var shortForms = lazily(
	`(?i)^(?:(?:pass|pw)[ \t]?[:=]|pw[ \t](?:is |ist |war )?)[ \t]*[` + "`" + `"'*]{0,3}([^\s` + "`" + `"'|<>,;]+)` +
		`|^sshpass[ \t]+-p[ \t]*["']?([^\s"']+)` +
		`|^curl [^\n]*?(?:-u|--user)[ \t=]+["']?[^\s:"']+:([^\s"']+)` +
		`|^wifi:[^\n]*?;? ?P:([^;\n]+);` +
		`|^psk ?[:=][ \t]*(?:"([^"\n]{8,63})"|([^\s"'` + "`" + `|<>,;"]*\d[^\s"'` + "`" + `|<>,;"]*))`,
)

// shortForm finds passwords in the notations of shortForms.
func (s *scan) shortForm(at, _ int) {
	if !s.beginsName(at) {
		return
	}
	isPW := bytes.EqualFold(s.text[at:min(len(s.text), at+len("pw:"))], []byte("pw:"))
	if isPW && s.property(at, at+len("pw"), s.addPassword) {
		return
	}
	line := s.line(at, longestValue)
	m := shortForms().FindSubmatchIndex(line)
	if m == nil {
		return
	}
	from, to := longest(m[2:])
	if to-from < 3 {
		return
	}
	isAssigned := from == m[2]
	value := line[from:to]
	isCredible := !isAssigned || isPassword(value) && !harmlessTerm().Match(value)
	if isCredible && !placeholder().Match(value) {
		s.add(at+from, at+to, "password")
	}
}

// elementRest matches the rest of a tag name of XML, and the text of its element (group 1).
var elementRest = lazily(`^[\w-]*>([^<>\n]+)</`)

// isTagNameByte reports whether a byte may be in the name of a tag of HTML or XML.
func isTagNameByte(c byte) bool { return isWord(c) || c == '-' || c == ':' }

// element calls each with the text of the element whose tag name contains the keyword at s.text[at:end]. It returns
// false if there is none.
func (s *scan) element(at, end int, each func(from, to int, value []byte)) bool {
	start := s.nameStart(at, isTagNameByte)
	if start == 0 || s.text[start-1] != '<' {
		return false
	}
	piece := s.text[end:min(len(s.text), end+longestValue)]
	s.charge(len(piece))
	m := elementRest().FindSubmatchIndex(piece)
	if m == nil || m[3]-m[2] > longestPassword {
		return false
	}
	each(end+m[2], end+m[3], piece[m[2]:m[3]])
	return true
}

// nameStart returns the start of the run of name bytes before at, at most longestName bytes before it.
func (s *scan) nameStart(at int, isNameByte func(byte) bool) int {
	earliest := max(0, at-longestName)
	start := at
	for start > earliest && isNameByte(s.text[start-1]) {
		start--
	}
	return start
}

// addPieces adds a value. A value in a JSON string may go on after an escaped line end such as \n: then only the
// pieces that are secrets by themselves are added, if the first one is.
func (s *scan) addPieces(from, to int, kind string, isSecret func([]byte) bool) {
	cuts := controlEscapes().FindAllIndex(s.text[from:to], -1)
	if len(cuts) == 0 || !isSecret(s.text[from:from+cuts[0][0]]) {
		s.add(from, to, kind)
		return
	}
	start := from
	for _, cut := range append(cuts, []int{to - from, to - from}) {
		if end := from + cut[0]; isSecret(s.text[start:end]) {
			s.add(start, end, kind)
		}
		start = from + cut[1]
	}
}

// controlEscapes matches escaped line ends and tabs, in strings and in strings within strings.
var controlEscapes = lazily(`\\+[nrt]`)

// isPassword reports whether a value looks like a password.
func isPassword(value []byte) bool {
	hasLength := len(value) >= minPasswordLength && len(value) <= 64
	if !hasLength || !isMixed(value) {
		return false
	}
	isTextOrCode := bytes.IndexByte(value, ' ') >= 0 || bytes.Contains(value, []byte("()"))
	return !isTextOrCode && entropyOf(value) >= 2.5
}

// mentionsPassword reports whether a value is text about passwords, as in the messages of a program.
func mentionsPassword(value []byte) bool { return passwordWord().Match(value) }

// quotedPhraseEnd returns the end of a quoted value of several words that are no sentence. ok is false for any other
// value.
func (s *scan) quotedPhraseEnd(from, to int) (end int, ok bool) {
	if from == 0 || from == to {
		return 0, false
	}
	quote := s.text[from-1]
	if quote != '"' && quote != '\'' && quote != '`' {
		return 0, false
	}
	line := s.line(from, longestPassword)
	n := bytes.IndexByte(line, quote)
	if n < 0 || !isQuotedPhrase(line[:n]) {
		return 0, false
	}
	return from + n, true
}

// isQuotedPhrase reports whether a quoted text is several words but no sentence.
func isQuotedPhrase(text []byte) bool {
	return quotedPhrase().Match(text) && !spokenWords().Match(text)
}

// isPassphraseKeyword reports whether a keyword implies that the secret is several words.
func isPassphraseKeyword(keyword []byte) bool {
	return len(keyword) >= len("passphrase") && bytes.EqualFold(keyword[len(keyword)-len("phrase"):], []byte("phrase"))
}

var (
	passwordWord = lazily(`(?i)passw|passphrase|kennwort|passcode`)
	// phrase matches the words of a passphrase up to the end of a line; they are group 1.
	phrase = lazily("^[\"'`*_]{0,3}([a-z]{3,}(?:[ -][a-z]{3,}){2,23})[\"'`*_.]{0,3}\\s*$")
	// aboutPasswords matches words that are typical of remarks about a password.
	aboutPasswords = lazily(
		`\b(?:see|siehe|ask|asked|frag\w*|stored?|saved?|kept|keep|same|chang\w+|unchanged|required|optional|needed|needs?|forgot\w*|lost|expire\w*|reset\w*|renew\w*|rotat\w+|unknown|wrong|weak|strong|long|short|minimum|maximum|letters?|digits?|characters?|symbols?|managers?|safe|vault|polic\w+|sensitive|pass\w*|secrets?|keys?|string|text|value|field|fields|none|yet|more|less|than|least|most|when|where|how|what|who|why|his|her|its|their|there|here|over|into|out|off|new|old|every|each|only|also|via|per|using|use|uses|been|being|still|again|never|always|very|too|just|some|any|all|but|then|because|before|after|until|since|about|does|did|done|had|would|could|may|might|let|get|gets|got|give|given|take|taken|made|make|set|sent|send|works?|working|hash\w*|encrypt\w*|login|account|user|users|email|mail|phone|nicht|und|oder|mit|f\x{fc}r|der|die|das|ein|eine|ist|wie|bei|von|zum|zur|noch|neu|alt)\b`,
	)
	// spokenWords matches words that are frequent in sentences and rare in passphrases.
	spokenWords = lazily(
		`\b(?:the|and|for|with|that|this|which|used|your|our|from|are|was|has|have|not|must|should|can|will|words)\b`,
	)
	quotedPhrase = lazily(`^[a-z]{3,}(?:[ -][a-z]{3,}){2,23}$`)
	// unset matches values of a property that are no secret although the property is named like one.
	unset = lazily(
		`(?i)^(?:x+|\*+|\.+|-+|_+|•+|\?+|…|pass(?:word|wd|phrase)?|passwort|kennwort|pwd|secret|token|key|true|false|null|none|nil|yes|no|required|optional|string|text|number|boolean|redacted|removed|hidden|unknown|todo|tbd|n/a|changeme|change[-_ ]?(?:me|it)|(?:my|your|some|the)[-_ ](?:password|passphrase|secret|token|key)(?:[-_ ]here)?|<[^<>]*>|\$\w+|\$\{[^}]*\}|\$\([^)]*\)|\$\{\{.*\}\}|\{\{.*\}\}|\{%.*%\}|%\w+%|!?\[\[[^\]]*\]\]|‹.*)$`,
	)
)

// namedSecret finds the long random value of a name such as "client_secret" or "API key".
func (s *scan) namedSecret(at, end int) {
	if !s.isName(at) {
		return
	}
	rest := s.line(end, longestValue)
	if !s.isInSentence(at, end, rest) && s.structuredSecret(at, end) {
		return
	}
	from, to := s.value(end, rest)
	if s.isQuoted(from, to) && isRandomString(s.text[from:to]) {
		s.add(from, to, "secret")
		return
	}
	if n := bytes.IndexAny(s.text[from:to], "[](){}<>,;"); n > 0 {
		to = from + n
	}
	if from < to && isRandom(s.text[from:to]) {
		s.addPieces(from, to, "secret", isRandom)
		return
	}
	s.findInProse(at, end, rest, "secret", isRandom)
}

// structuredSecret is structuredPassword for keys and tokens.
func (s *scan) structuredSecret(at, end int) bool {
	add := func(from, to int, value []byte) {
		if isRandom(value) {
			s.addAs(from, to, "secret", value)
		}
	}
	return s.property(at, end, add) ||
		s.member(at, end, add) ||
		s.column(at, end, "secret", add) ||
		s.htmlColumn(at, end, "secret", add) ||
		s.pair(at, end, add)
}

// isInSentence is a fast check: most keywords in notes are words of sentences. It returns true only if neither
// structuredPassword nor structuredSecret can find anything for the keyword at s.text[at:end]. That holds if a space
// precedes the keyword, so that it does not follow the quote of a JSON member or the "<" of an element; no tag of
// a table precedes it; it is not in a heading; and no ":" or "=" assigns it a value, or makes it the value of another
// name. rest is the rest of the line.
func (s *scan) isInSentence(at, end int, rest []byte) bool {
	if at == 0 || s.text[at-1] != ' ' || s.isAfterTag(at) || s.mayBeHeading(end, rest) {
		return false
	}
	if bytes.IndexByte(rest, ':') >= 0 || bytes.IndexByte(rest, '=') >= 0 {
		return false
	}
	return !mayNameValue(s.text[max(0, at-longestName):at])
}

// isRandom reports whether a value looks like a key or a token.
func isRandom(value []byte) bool {
	if len(value) < 16 || len(value) > 200 {
		return false
	}
	if !isMixed(value) || entropyOf(value) < 3.5 {
		return false
	}
	isTextOrCode := bytes.ContainsAny(value, " ()[]{}<>,;")
	return !isTextOrCode && !isAddressOrName(value) && !placeholder().Match(value)
}

// isRandomString is isRandom for a value in quotes, which may have any signs but blanks, quotes and backslashes.
func isRandomString(value []byte) bool {
	const minLength = 24
	hasLength := len(value) >= minLength && len(value) <= longestPassword
	if !hasLength || !isMixed(value) || entropyOf(value) < 4 {
		return false
	}
	isTextOrCode := bytes.ContainsAny(value, " \t\\\"'`") || bytes.Contains(value, []byte("()"))
	return !isTextOrCode && !isAddressOrName(value) && !placeholder().Match(value)
}

// isName reports whether a keyword may begin a name, or a word in it.
func (s *scan) isName(at int) bool {
	if s.beginsName(at) {
		return true
	}
	if !isCapitalLetter(s.text[at]) {
		return false
	}
	before := s.text[at-1]
	isLower := 'a' <= before && before <= 'z'
	isAcronym := isCapitalLetter(before) && at+1 < len(s.text) && isCapitalLetter(s.text[at+1])
	return isLower || isAcronym // as in dbPassword and PGPASSWORD
}

func isCapitalLetter(c byte) bool { return 'A' <= c && c <= 'Z' }
func isSmallLetter(c byte) bool   { return 'a' <= c && c <= 'z' }

// isKeyByte reports whether a byte may be in the key of a JSON member that names a secret.
func isKeyByte(c byte) bool { return isWord(c) || c == '-' }

// memberRest matches the rest of the key of a JSON member after a keyword, up to its value: a string, a list or a number
// of at least four digits.
var memberRest = lazily(`^[\w-]{0,40}"\s{0,20}:\s{0,20}(?:["\[]|\d{4})`)

// member calls each with the strings in the value of the JSON member whose key contains the keyword at s.text[at:end].
// It returns false if there is no such key.
func (s *scan) member(at, end int, each func(from, to int, value []byte)) bool {
	start := s.nameStart(at, isKeyByte)
	if start == 0 || s.text[start-1] != '"' || remarkKey().Match(s.text[end:min(len(s.text), end+40)]) {
		return false
	}
	piece := s.text[end:min(len(s.text), end+longestValue)]
	rest := memberRest().Find(piece)
	if rest == nil {
		return false
	}
	s.charge(len(piece))
	r := properties{scan: s, end: end + len(piece), each: each, flow: true}
	last := len(rest) - 1
	for isDecimal(rest[last]) && isDecimal(rest[last-1]) {
		last--
	}
	r.value(end+last, 0)
	return true
}

// headingCell matches a table cell that contains only the name of a secret.
var headingCell = lazily(
	"(?i)^(?:[\\s*_`]|&nbsp;|\u00a0)*(?:[\\w.-]+ ){0,2}[\\w.-]*(?:password|passwd|passphrase|passwort|kennwort|pwd|passcode|secret|token|api[ _-]?key|access[ _-]?key|private_key|auth_key|credential)s?(?:[\\s*_`]|&nbsp;|\u00a0)*$",
)

// tableColumn is a column of a table, for the secrets of one kind.
type tableColumn struct {
	separator byte // "|", "<" for HTML, or the separator of CSV
	cells     int  // how many cells a row must have, 0 for any number
	number    int  // of the column, from 0
	kind      string
}

// wasSearched reports whether the cells below a heading at at were already searched, for a heading above it.
func (s *scan) wasSearched(c tableColumn, at int) bool { return at < s.columnsEnd[c] }

// markSearched records that the cells of a column were searched up to a place.
func (s *scan) markSearched(c tableColumn, to int) {
	if s.columnsEnd == nil {
		s.columnsEnd = map[tableColumn]int{}
	}
	s.columnsEnd[c] = to
}

// column calls each with the cells below the table heading that contains the keyword at s.text[at:end]. It returns
// false if there is no such heading.
func (s *scan) column(at, end int, kind string, each func(from, to int, value []byte)) bool {
	start := s.lineStart(at)
	if at-start > longestValue {
		return false
	}
	line, next := lineAt(s.text, start)
	if next >= len(s.text) {
		return false
	}
	if bytes.IndexByte(line, '|') < 0 {
		return s.isCell(start, at, end) && s.csvColumn(start, at, end, kind, each)
	}
	delimiterRow, next := lineAt(s.text, next)
	if !isDelimiterRow(delimiterRow) {
		return false
	}
	s.charge(len(line) + len(delimiterRow))
	number := -1
	for i, cell := range cellsOf(line) {
		if start+cell[0] <= at && end <= start+cell[1] && headingCell().Match(line[cell[0]:cell[1]]) {
			number = i
		}
	}
	if number < 0 {
		return false
	}
	column := tableColumn{separator: '|', number: number, kind: kind}
	if s.wasSearched(column, at) {
		return true
	}
	for next < len(s.text) && s.err == nil {
		from := next
		line, next = lineAt(s.text, from)
		cells := cellsOf(line)
		if bytes.IndexByte(line, '|') < 0 {
			break
		}
		s.charge(len(line))
		if number < len(cells) {
			cell := cells[number]
			value := bytes.Trim(line[cell[0]:cell[1]], " \t*`\"'")
			if len(value) > 0 {
				valueAt := from + cell[0] + bytes.Index(line[cell[0]:cell[1]], value)
				each(valueAt, valueAt+len(value), value)
			}
		}
	}
	s.markSearched(column, next)
	return true
}

// mayBeHeading is a fast check before column: it returns false only if the keyword that ends at end is in no heading.
// Most names in sentences are in none: more words follow them, and the line below does not begin as a delimiter row
// does. rest is the rest of the line.
func (s *scan) mayBeHeading(end int, rest []byte) bool {
	if _, _, ok := s.cellEnd(end); ok {
		return true
	}
	if len(rest) == longestValue { // the line may go on
		return true
	}
	if r := bytes.IndexByte(rest, '\r'); r >= 0 && r < len(rest)-1 { // the line ends there
		return true
	}
	below := end + len(rest) + len("\n")
	return below < len(s.text) && isDelimiterByte[s.text[below]]
}

// Limits of a heading that matches [csvName].
const (
	maxCellContext = 24 // bytes on either side of a keyword
	maxCellBlanks  = 2
)

// cellEnd returns the end of the cell whose keyword ends at end, and how many blanks are between the two. ok is false
// if more than a few words follow the keyword.
func (s *scan) cellEnd(end int) (to, blanks int, ok bool) {
	to = min(len(s.text), end+maxCellContext)
	for i, c := range s.text[end:to] {
		if !isCellByte[c] {
			to = end + i
			break
		}
		if c != ' ' {
			continue
		}
		blanks++
		if blanks > maxCellBlanks {
			return 0, 0, false
		}
	}
	ok = to == len(s.text) || isEndOfLine(s.text[to]) || isSeparator[s.text[to]]
	return to, blanks, ok
}

func isEndOfLine(c byte) bool { return c == '\n' || c == '\r' }

// isCell reports whether only a few words surround a keyword, up to a separator or an end of the line.
func (s *scan) isCell(start, at, end int) bool {
	to, blanks, ok := s.cellEnd(end)
	if !ok {
		return false
	}
	isEnd := to == len(s.text) || isEndOfLine(s.text[to])
	from := at
	for from > start && at-from < maxCellContext && isCellByte[s.text[from-1]] {
		from--
		if s.text[from] == ' ' {
			blanks++
		}
		if blanks > maxCellBlanks {
			return false
		}
	}
	isStart := from == start
	if isStart && isEnd {
		return false
	}
	return isStart || isSeparator[s.text[from-1]]
}

var (
	isSeparator = bytesOf("\t;,")
	isCellByte  = bytesOf(letters + " -\".")
)

// csvColumn is column for lines of cells separated by commas, semicolons or tabs: the first line consists of short
// names without blanks around them, and all lines have equally many cells.
func (s *scan) csvColumn(start, at, end int, kind string, each func(from, to int, value []byte)) bool {
	line, next := lineAt(s.text, start)
	separator := byte(0)
	for _, c := range []byte("\t;,") {
		if bytes.IndexByte(line, c) > 0 {
			separator = c
			break
		}
	}
	if separator == 0 || next >= len(s.text) {
		return false
	}
	s.charge(len(line))
	headings := csvCells(line, separator)
	number := -1
	for i, cell := range headings {
		name := line[cell[0]:cell[1]]
		if len(name) == 0 || len(name) > 40 || !csvName().Match(name) {
			return false
		}
		if start+cell[0] <= at && end <= start+cell[1] && headingCell().Match(bytes.Trim(name, `"`)) {
			number = i
		}
	}
	if number < 0 {
		return false
	}
	column := tableColumn{separator: separator, cells: len(headings), number: number, kind: kind}
	if s.wasSearched(column, at) {
		return true
	}
	isTable := false
	searchedTo := next
	for next < len(s.text) && s.err == nil {
		from := next
		line, next = lineAt(s.text, from)
		s.charge(len(line))
		cells := csvCells(line, separator)
		if len(cells) != len(headings) {
			break
		}
		isTable = true
		searchedTo = next
		cell := cells[number]
		value := bytes.Trim(line[cell[0]:cell[1]], " \"")
		if len(value) > 0 {
			valueAt := from + cell[0] + bytes.Index(line[cell[0]:cell[1]], value)
			each(valueAt, valueAt+len(value), value)
		}
	}
	s.markSearched(column, searchedTo)
	return isTable
}

// csvName matches a cell of the first line of a CSV table.
var csvName = lazily(`^"?[\pL_][\pL\pN_.-]*(?: [\pL\pN_.-]+){0,2}"?$`)

// csvCells returns the start and end of each cell of a line.
func csvCells(line []byte, separator byte) (cells [][2]int) {
	from := 0
	inQuotes := false
	for i := 0; i <= len(line); i++ {
		switch {
		case i == len(line) || line[i] == separator && !inQuotes:
			cells = append(cells, [2]int{from, i})
			from = i + 1
		case line[i] == '"':
			inQuotes = !inQuotes
		}
	}
	return cells
}

// isDelimiterRow reports whether a line is the row of dashes below the headings of a table.
func isDelimiterRow(line []byte) bool {
	return isAll(line, &isDelimiterByte) && bytes.IndexByte(line, '-') >= 0
}

// isDelimiterByte is the set of bytes of a delimiter row.
var isDelimiterByte = bytesOf("|-: \t>")

// cellsOf returns the start and end of each cell of a table row. The first cell ends at the first bar, unless the row
// begins with that bar.
func cellsOf(line []byte) (cells [][2]int) {
	from := len(line) - len(bytes.TrimLeft(line, " \t>"))
	if from < len(line) && line[from] == '|' {
		from++
	}
	for i := from; i <= len(line); i++ {
		if i == len(line) || line[i] == '|' && line[i-1] != '\\' {
			cells = append(cells, [2]int{from, i})
			from = i + 1
		}
	}
	return cells
}

// line returns the rest of the line from at on, up to most bytes. It charges for them.
func (s *scan) line(at, most int) []byte {
	line := s.text[at:min(len(s.text), at+most)]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	s.charge(len(line))
	return line
}

// value returns the start and end of the value that line, the rest of the line after a keyword that ends at end,
// assigns to a name with this keyword. Both are 0 if there is none.
func (s *scan) value(end int, line []byte) (from, to int) {
	if !mayAssign(line) {
		return 0, 0
	}
	m := assigned().FindSubmatchIndex(line)
	if m == nil {
		return 0, 0
	}
	from, to = longest(m[2:])
	from += end
	to += end
	if to-from > longestPassword {
		isUnquoted := m[8] >= 0
		if !isUnquoted {
			return 0, 0
		}
		to = from + longestPassword
	}
	for to > from && strings.IndexByte(".,;:|*)", s.text[to-1]) >= 0 {
		to--
	}
	if to-from < 3 {
		return 0, 0
	}
	return from, to
}

// fullWidthLead is the first byte in UTF-8 of the full-width "：" and "＝".
const fullWidthLead = 0xef

// mayAssign is a fast check before assigned: it returns false only if that cannot match.
func mayAssign(line []byte) bool {
	for i, c := range line {
		switch c {
		case ':', '=', '|', '(', fullWidthLead: // parentheses may contain any text
			return true
		case '-', ' ', '\t', '*', '_', '`', '"', '\'':
		default:
			continuesWord := i == 0 || isWordByte[line[i-1]] || line[i-1] == '-'
			if !isWordByte[c] || !continuesWord {
				return false
			}
		}
	}
	return false
}

// isAddressOrName reports whether a value is more likely a version, an address, a path or words than a secret.
func isAddressOrName(value []byte) bool {
	isPath := bytes.Count(value, []byte("/")) > 2 && !isBase64Key(value)
	return isPath || bytes.Contains(value, []byte("://")) || bytes.Count(value, []byte(".")) > 3 ||
		words().Match(value)
}

// isBase64Key reports whether a value is a key in base64, and no path: it has no other bytes than base64, and letters of
// both cases and digits alternate more often than in words.
func isBase64Key(value []byte) bool {
	const minKeyLength = 32
	if len(value) < minKeyLength || !isAll(bytes.TrimRight(value, "="), &isBase64) {
		return false
	}
	changes := 0
	for i := 1; i < len(value); i++ {
		if classOf(value[i]) != classOf(value[i-1]) {
			changes++
		}
	}
	return 2*changes >= len(value)
}

// classOf returns a small letter, a capital or a digit for a byte of that class, and other bytes themselves.
func classOf(c byte) byte {
	switch {
	case isSmallLetter(c):
		return 'a'
	case isCapitalLetter(c):
		return 'A'
	case isDecimal(c):
		return '0'
	}
	return c
}

// words matches at least two words with separators after them; only a last one may have digits.
var words = lazily(`^(?:[A-Za-z]+[-_./]){2,}[A-Za-z0-9]*$`)

// minEncoded is the number of characters from which a text in base64 is decoded.
const minEncoded = 24

// searchEncoded searches texts in base64, which can contain a token.
func (s *scan) searchEncoded() {
	for start := 0; start+minEncoded <= len(s.text) && s.err == nil; {
		end := start + minEncoded
		for end > start && isBase64[s.text[end-1]] { // backwards, so that most of a text is skipped
			end--
		}
		if end > start { // no run of minEncoded bytes begins before end
			start = end
			continue
		}
		end = start + minEncoded
		for end < len(s.text) && isBase64[s.text[end]] {
			end++
		}
		mayBePath := bytes.ContainsAny(s.text[start:start+minEncoded], "-_/")
		if !mayBePath || end-start >= 40 {
			s.searchDecoded(start, end)
		}
		start = end + 1
	}
}

// searchDecoded searches the base64 text at s.text[start:end]. Its first 8 characters are decoded on their own before
// the rest, because most runs do not decode to text.
func (s *scan) searchDecoded(start, end int) {
	s.charge(end - start)
	text := make([]byte, base64.RawStdEncoding.DecodedLen(end-start))
	for _, decoder := range encodings {
		// n is less than decoder.bytes after an error
		n, _ := decoder.decode(text[:decoder.bytes], s.text[start:start+decoder.characters])
		if n < decoder.bytes || !isEncodedText(text[:n]) {
			continue
		}
		n, err := decoder.decode(text, s.text[start:end])
		if err != nil || !isEncodedText(text[:n]) {
			continue
		}
		inner := scan{text: bytes.ReplaceAll(text[:n], []byte{0}, nil), spend: s.spend, err: s.err, depth: s.depth + 1}
		inner.keywords(secretWords())
		if inner.depth < maxEncoded {
			inner.searchEncoded()
		}
		if len(inner.found) > 0 {
			s.add(start, end, inner.found[0].Kind)
		}
		s.err = inner.err
		return
	}
}

// maxEncoded is how often encoded text in encoded text is decoded.
const maxEncoded = 2

// encodings are the encodings in which a text is searched, with how many of its first characters are decoded to how
// many bytes.
var encodings = []struct {
	characters, bytes int
	decode            func(to, from []byte) (int, error)
}{
	{8, 4, func(to, from []byte) (int, error) { return hex.Decode(to, from[:len(from)&^1]) }},
	{8, 6, base64.RawStdEncoding.Decode},
	{8, 6, base64.RawURLEncoding.Decode},
}

// isEncodedText reports whether decoded bytes are text in ASCII, or in UTF-16 with only such characters.
func isEncodedText(text []byte) bool {
	isWide := len(text) > 1 && (text[0] == 0) != (text[1] == 0)
	if !isWide {
		return isPrintable(text)
	}
	first := 0
	if text[0] == 0 {
		first = 1
	}
	for i := range text {
		isZero := text[i] == 0
		if isZero != (i%2 != first) {
			return false
		}
	}
	return isPrintable(bytes.ReplaceAll(text, []byte{0}, nil))
}

func isPrintable(text []byte) bool {
	for _, c := range text {
		isBlank := c == '\n' || c == '\r' || c == '\t'
		isVisible := c >= ' ' && c <= '~'
		if !isBlank && !isVisible {
			return false
		}
	}
	return len(text) > 0
}

var (
	cards    = lazily(`\b[2-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,7}\b|\b3[47]\d{2}[ -]?\d{6}[ -]?\d{5}\b`)
	accounts = lazily(`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b`)
)

// numbers finds card numbers (by the check digit of ISO/IEC 7812) and account numbers (IBAN, by the check digits of
// ISO 13616).
func (s *scan) numbers() {
	for _, m := range cards().FindAllIndex(s.text, -1) {
		if passesLuhn(s.text[m[0]:m[1]]) {
			s.add(m[0], m[1], "card-number")
		}
	}
	for _, m := range accounts().FindAllIndex(s.text, -1) {
		if end := ibanEnd(s.text[m[0]:m[1]]); end > 0 {
			s.add(m[0], m[0]+end, "iban")
		}
	}
}

// passesLuhn checks the digits of a text; other bytes are skipped.
func passesLuhn(text []byte) bool {
	sum := 0
	double := false
	for _, c := range slices.Backward(text) {
		if c < '0' || c > '9' {
			continue
		}
		digit := int(c - '0')
		if double {
			digit *= 2
			if digit > 9 {
				digit -= 9
			}
		}
		sum += digit
		double = !double
	}
	return sum%10 == 0
}

// lengthsOfIBAN lists the length of an IBAN for each country (registry of ISO 13616).
const lengthsOfIBAN = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 " +
	"ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 " +
	"LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 " +
	"RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"

// ibanEnd returns the end of the IBAN with which a text begins, or 0 if there is none. Words in capitals may follow it.
func ibanEnd(text []byte) int {
	_, entry, isKnown := strings.Cut(lengthsOfIBAN, string(text[:2]))
	length := 0 // unknown country: the IBAN is the whole text
	if isKnown {
		length = int(entry[0]-'0')*10 + int(entry[1]-'0')
	}
	var number []byte
	end := len(text)
	for i, c := range text {
		if c == ' ' {
			continue
		}
		number = append(number, c)
		if len(number) == length {
			end = i + 1
			break
		}
	}
	isWhole := end == len(text) || text[end] == ' '
	if !isWhole || len(number) < length || !isIBAN(number) {
		return 0
	}
	return end
}

// isIBAN checks the length and the check digits of an IBAN without blanks.
func isIBAN(number []byte) bool {
	if len(number) < 15 || len(number) > 34 {
		return false
	}
	remainder := 0
	for _, c := range slices.Concat(number[4:], number[:4]) {
		if isCapitalLetter(c) {
			remainder = (remainder*100 + int(c-'A') + 10) % 97
		} else {
			remainder = (remainder*10 + int(c-'0')) % 97
		}
	}
	return remainder == 1
}
