package guard

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"strings"
	"sync"
)

// passwordNames are what passwords are called.
var passwordNames = []string{
	"password", "passwd", "passphrase", "passwort", "kennwort", "pwd", "passcode",
	"wachtwoord", "contraseña", "mot de passe", "senha", "passwörter", "kennwörter", "pass word", "pass-word", "pass_word", "pswd",
	"hasło", "heslo", "lösenord", "salasana", "adgangskode", "passord", "jelszó", "şifre", "parola",
	"пароль", "Пароль", "ПАРОЛЬ", "密码", "密碼", "パスワード", "비밀번호", // case is only ignored in ASCII letters
}

// own are the rules for secrets for which gitleaks has no rule that suits notes.
var own = []rule{
	{kind: "private-key", keywords: []string{"-----begin", "---- begin"}, by: (*scan).privateKey},
	{kind: "private-key", keywords: []string{"private-lines:"}, by: (*scan).puttyKey},
	{kind: "password-in-url", keywords: []string{"://"}, by: (*scan).userinfo},
	{kind: "authorization", keywords: []string{"bearer ", "basic "}, by: (*scan).authorization},
	{
		kind:     "password",
		keywords: passwordNames,
		by:       (*scan).password,
	},
	{kind: "password", keywords: []string{"pass:", "pass=", "pw:", "pw=", "pw ", "pass =", "sshpass", "curl ", "wifi:"}, by: (*scan).shortlyNamed},
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
			"auth_key",
			"credential",
		},
		by: (*scan).named,
	},
}

// lazily compiles a pattern on first use: most processes search no text.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func allRules() (all []*rule) {
	for _, rules := range [][]rule{table, own, codes} {
		for i := range rules {
			all = append(all, &rules[i])
		}
	}
	return all
}

var (
	userinfo = lazily(
		"^://[^\\s/@:'\"<>()|\\\\^`\\[\\]{}]{0,100}:([^\\s/@'\"<>()|\\\\^`\\[\\]]{3,200})@[A-Za-z0-9.\\[-]",
	)

	// assigned is the rest of a name after a keyword, what is between it and a value, and the value.
	assigned = lazily(
		"^[\\w-]*(?: ?\\([^()\\n]+\\))?[*_`\"']{0,3}[ \\t]*(?:::?|=>?|:=|\\||：|＝)[ \\t]*[*_`]{0,3}[ \\t]*(?:\"([^\"\\n]{3,})\"|'([^'\\n]{3,})'|`([^`\\n]{3,})`|([^\\s`\"'|]{3,}))",
	)

	// placeholder is what documentation has in place of a secret.
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
	m := userinfo().FindSubmatchIndex(line)
	if m != nil && !placeholder().Match(s.text[at+m[2]:at+m[3]]) &&
		!bytes.HasPrefix(s.text[at+m[1]-1:], []byte("example.")) {
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
		if user, password, found := bytes.Cut(decoded, []byte(":")); err != nil || !found || !isPrintable(user) ||
			len(password) == 0 {
			return
		}
	} else if !isMixed(value) || entropyOf(value) < 3.5 || len(value) < 20 {
		return
	}
	s.add(from, to, "authorization")
}

// password finds the value of a property or line such as "password: …". In properties any
// value counts, as in a column of a table, and elsewhere one that looks like a password.
func (s *scan) password(at, end int) {
	if !s.isName(at) {
		return
	}
	rest := s.line(end, longestValue)
	if !s.isInSentence(at, end, rest) && s.passwordLaidOut(at, end, rest) {
		return
	}
	from, to := s.value(end, rest)
	value := s.text[from:to]
	words := s.quotedWords(from, to)
	switch {
	case words > from:
		s.add(from, words, "password")
	case from < to && value[0] != '<' && placeholder().Match(value): // a tag can be in front of a value
	case isPassword(value):
		s.addPieces(from, to, "password", isPassword)
	case from < to && s.isOfEnvironment(at, end, from):
		s.add(from, to, "password")
	default:
		isFound := from < to && (s.wordOfLabel(at, end, from, to) || s.wordsOfLine(at, end, from))
		if !isFound {
			s.spoken(at, end, rest, "password", isPassword)
		}
	}
}

// wordsOfLine adds the words from a place to the end of the line as a passphrase, if the name of the password stands
// alone at the beginning of the line. It reports false if they are rather a remark about the password.
func (s *scan) wordsOfLine(at, end, from int) bool {
	isLabel := isPhrase(s.text[at:end]) || s.isAlone(at) && !bytes.HasPrefix(bytes.TrimLeft(s.text[s.lineStart(at):], " \t>"), []byte("#"))
	if !isLabel {
		return false
	}
	line := s.line(from, longestPassword)
	words := phrase().FindSubmatchIndex(line)
	if words == nil || spokenWords().Match(line) || aboutPasswords().Match(line) {
		return false
	}
	value := line[words[2]:words[3]]
	count := 1 + bytes.Count(value, []byte(" ")) + bytes.Count(value, []byte("-"))
	if count < leastWords && !isPhrase(s.text[at:end]) {
		return false
	}
	s.add(from+words[2], from+words[3], "password")
	return true
}

// leastWords is how many words without quotes are a password; two or three are more often said about one.
const leastWords = 4

// isOfEnvironment reports whether a keyword is the end of the name of a variable in capitals, with its value behind it.
func (s *scan) isOfEnvironment(at, end, from int) bool {
	for _, c := range s.text[at:end] {
		if !isCapitalLetter(c) && c != '_' {
			return false
		}
	}
	between := s.text[end:from]
	return len(between) > 0 && between[0] == '=' && len(bytes.Trim(between[1:], `"'`)) == 0
}

// passwordLaidOut finds the values of a password whose name is a key, a heading, a tag or another value. It is false if
// the name is none of them.
func (s *scan) passwordLaidOut(at, end int, rest []byte) bool {
	add := func(from, to int, value []byte) {
		if len(value) >= 3 && !unset().Match(value) {
			s.addAs(from, to, "password", value)
		}
	}
	addString := func(from, to int, value []byte) {
		if !isLabel(value) {
			add(from, to, value)
		}
	}
	return s.property(at, end, add) || s.member(at, end, addString) || s.column(at, end, "password", add) ||
		s.element(at, end, addString) || s.htmlColumn(at, end, "password", add) || s.pair(at, end, addString) ||
		s.inlineField(at, end, rest, add)
}

// shortForms are short notations of passwords, as in commands; the submatch is the value.
var shortForms = lazily(
	`(?i)^(?:(?:pass|pw)[ \t]?[:=]|pw[ \t](?:is |ist |war )?)[ \t]*[` + "`" + `"'*]{0,3}([^\s` + "`" + `"'|<>,;]+)` +
		`|^sshpass[ \t]+-p[ \t]*["']?([^\s"']+)` +
		`|^curl [^\n]*?(?:-u|--user)[ \t=]+["']?[^\s:"']+:([^\s"']+)` +
		`|^wifi:[^\n]*?;? ?P:([^;\n]+);`,
)

// shortlyNamed finds passwords in a few forms of commands and notes.
func (s *scan) shortlyNamed(at, _ int) {
	if at > 0 && isWord(s.text[at-1]) {
		return
	}
	isProperty := bytes.EqualFold(s.text[at:min(len(s.text), at+len("pw:"))], []byte("pw:")) &&
		s.property(at, at+len("pw"), func(from, to int, value []byte) {
			if len(value) >= 3 && !unset().Match(value) {
				s.addAs(from, to, "password", value)
			}
		})
	if isProperty {
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
	isShort := from == m[2]
	value := line[from:to]
	saysSo := !isShort || isPassword(value) && !knownName().Match(value)
	if saysSo && !placeholder().Match(value) {
		s.add(at+from, at+to, "password")
	}
}

// elementRest is what follows a name in the tag of an element of XML, and its value.
var elementRest = lazily(`^[\w-]*>([^<>\n]+)</`)

// isOfTag reports whether a character may be in the name of a tag of HTML or XML.
func isOfTag(c byte) bool { return isWord(c) || c == '-' || c == ':' }

// element calls each with the text of an element whose tag has a keyword from at to end. It is false if there is none.
func (s *scan) element(at, end int, each func(from, to int, value []byte)) bool {
	for first := max(0, at-longestName); at > first && isOfTag(s.text[at-1]); {
		at--
	}
	if at == 0 || s.text[at-1] != '<' {
		return false
	}
	piece := s.text[end:min(len(s.text), end+longestValue)]
	s.charge(len(piece))
	m := elementRest().FindSubmatchIndex(piece)
	if m == nil {
		return false
	}
	if m[3]-m[2] > longestPassword {
		return false
	}
	each(end+m[2], end+m[3], piece[m[2]:m[3]])
	return true
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

// controlEscapes are escapes of ends of lines and tabs, in strings and in strings in strings.
var controlEscapes = lazily(`\\+[nrt]`)

// isPassword reports whether a value looks like a password.
func isPassword(value []byte) bool {
	hasLength := len(value) >= leastPassword && len(value) <= 64
	if !hasLength || !isMixed(value) {
		return false
	}
	isCode := bytes.ContainsAny(value, " ") || bytes.Contains(value, []byte("()"))
	return !isCode && entropyOf(value) >= 2.5
}

// isLabel reports whether a value is a text about passwords, as in the texts of a program.
func isLabel(value []byte) bool { return passwordWord().Match(value) }

// quotedWords returns where a value ends that is in quotes and several words which are no sentence, 0 for any other one.
func (s *scan) quotedWords(from, to int) int {
	if from == 0 || from == to {
		return 0
	}
	quote := s.text[from-1]
	if quote != '"' && quote != '\'' && quote != '`' {
		return 0
	}
	line := s.line(from, longestPassword)
	n := bytes.IndexByte(line, quote)
	if n < 0 || !isQuotedPhrase(line[:n]) {
		return 0
	}
	return from + n
}

// isQuotedPhrase reports whether a text in quotes is several words that are no sentence.
func isQuotedPhrase(text []byte) bool {
	return quotedPhrase().Match(text) && !spokenWords().Match(text)
}

// isPhrase reports whether a keyword says that the secret is several words.
func isPhrase(keyword []byte) bool { return bytes.EqualFold(keyword, []byte("passphrase")) }

var (
	passwordWord = lazily(`(?i)passw|passphrase|kennwort|passcode`)
	// phrase are words of a passphrase, up to the end of a line. Words that are frequent in sentences are in none.
	phrase = lazily("^[\"'`*_]{0,3}([a-z]{3,}(?:[ -][a-z]{3,}){2,23})[\"'`*_.]{0,3}\\s*$")
	// aboutPasswords is a word of what is said about a password in place of it.
	aboutPasswords = lazily(
		`\b(?:see|siehe|ask|asked|frag\w*|stored?|saved?|kept|keep|same|chang\w+|unchanged|required|optional|needed|needs?|forgot\w*|lost|expire\w*|reset\w*|renew\w*|rotat\w+|unknown|wrong|weak|strong|long|short|minimum|maximum|letters?|digits?|characters?|symbols?|managers?|safe|vault|polic\w+|sensitive|pass\w*|secrets?|keys?|string|text|value|field|fields|none|yet|more|less|than|least|most|when|where|how|what|who|why|his|her|its|their|there|here|over|into|out|off|new|old|every|each|only|also|via|per|using|use|uses|been|being|still|again|never|always|very|too|just|some|any|all|but|then|because|before|after|until|since|about|does|did|done|had|would|could|may|might|let|get|gets|got|give|given|take|taken|made|make|set|sent|send|works?|working|hash\w*|encrypt\w*|login|account|user|users|email|mail|phone|nicht|und|oder|mit|f\x{fc}r|der|die|das|ein|eine|ist|wie|bei|von|zum|zur|noch|neu|alt)\b`,
	)
	spokenWords = lazily(
		`\b(?:the|and|for|with|that|this|which|used|your|our|from|are|was|has|have|not|must|should|can|will|words)\b`,
	)
	quotedPhrase = lazily(`^[a-z]{3,}(?:[ -][a-z]{3,}){2,23}$`)
	// unset is a value of a property that is no secret although its name is that of one.
	unset = lazily(
		`(?i)^(?:x+|\*+|\.+|-+|_+|•+|\?+|…|pass(?:word|wd|phrase)?|passwort|kennwort|pwd|secret|token|key|true|false|null|none|nil|yes|no|required|optional|string|text|number|boolean|redacted|removed|hidden|unknown|todo|tbd|n/a|changeme|change[-_ ]?(?:me|it)|(?:my|your|some|the)[-_ ](?:password|passphrase|secret|token|key)(?:[-_ ]here)?|<[^<>]*>|\$\w+|\$\{[^}]*\}|\$\([^)]*\)|\$\{\{.*\}\}|\{\{.*\}\}|\{%.*%\}|%\w+%|!?\[\[[^\]]*\]\]|‹.*)$`,
	)
)

// named finds a long random value of a name such as "client_secret" or
// "API key".
func (s *scan) named(at, end int) {
	if !s.isName(at) {
		return
	}
	rest := s.line(end, longestValue)
	if !s.isInSentence(at, end, rest) && s.secretLaidOut(at, end) {
		return
	}
	from, to := s.value(end, rest)
	if n := bytes.IndexAny(s.text[from:to], "[](){}<>,;"); n > 0 {
		to = from + n
	}
	if from < to && isRandom(s.text[from:to]) {
		s.addPieces(from, to, "secret", isRandom)
		return
	}
	s.spoken(at, end, rest, "secret", isRandom)
}

// secretLaidOut is passwordLaidOut for keys and tokens.
func (s *scan) secretLaidOut(at, end int) bool {
	add := func(from, to int, value []byte) {
		if isRandom(value) {
			s.addAs(from, to, "secret", value)
		}
	}
	return s.property(at, end, add) || s.member(at, end, add) || s.column(at, end, "secret", add) ||
		s.htmlColumn(at, end, "secret", add) || s.pair(at, end, add)
}

// isInSentence is a fast test for what passwordLaidOut and secretLaidOut look for, as most names in notes are words of
// sentences: it is true only where a keyword from at to end, with the rest of its line behind it, is in none of that.
//
// A blank is in front of the keyword, so that it does not begin behind the quote of a member or the "<" of an element;
// no tag comes before that could be of a table; it is no heading; no ":" or "=" makes what follows the value of
// a property or a field, or the keyword the value of another name.
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
	hasLength := len(value) >= 16 && len(value) <= 200
	if !hasLength || !isMixed(value) || entropyOf(value) < 3.5 || bytes.ContainsAny(value, " ()[]{}<>,;") {
		return false
	}
	return !isHashOrName(value) && !placeholder().Match(value)
}

// isName reports whether a keyword may begin a name, or a word in it.
func (s *scan) isName(at int) bool {
	if at == 0 || !isWord(s.text[at-1]) || s.text[at-1] == '_' {
		return true
	}
	isCapital := 'A' <= s.text[at] && s.text[at] <= 'Z'
	before := s.text[at-1]
	isSmall := 'a' <= before && before <= 'z'
	isOfCapitals := isCapitalLetter(before) && at+1 < len(s.text) && isCapitalLetter(s.text[at+1])
	return isCapital && (isSmall || isOfCapitals) // as in dbPassword and PGPASSWORD
}

func isCapitalLetter(c byte) bool { return 'A' <= c && c <= 'Z' }

// memberRest is the rest of the key of a member of JSON after a keyword, up to its value: a string or a list.
var memberRest = lazily(`^[\w-]{0,40}"\s{0,20}:\s{0,20}["\[]`)

// member calls each with the strings of the value of the member of JSON whose key has a keyword from at to end. It is
// false if there is no such key.
func (s *scan) member(at, end int, each func(from, to int, value []byte)) bool {
	for first := max(0, at-longestName); at > first && (isWord(s.text[at-1]) || s.text[at-1] == '-'); {
		at--
	}
	if at == 0 || s.text[at-1] != '"' || keyAbout().Match(s.text[end:min(len(s.text), end+40)]) {
		return false
	}
	piece := s.text[end:min(len(s.text), end+longestValue)]
	rest := memberRest().Find(piece)
	if rest == nil {
		return false
	}
	s.charge(len(piece))
	r := properties{scan: s, end: end + len(piece), each: each, flow: true}
	r.value(end+len(rest)-1, 0)
	return true
}

// headingCell is a cell of a table that has nothing but the name of a secret.
var headingCell = lazily(
	"(?i)^(?:[\\s*_`]|&nbsp;|\u00a0)*(?:[\\w.-]+ ){0,2}[\\w.-]*(?:password|passwd|passphrase|passwort|kennwort|pwd|passcode|secret|token|api[ _-]?key|access[ _-]?key|private_key|auth_key|credential)s?(?:[\\s*_`]|&nbsp;|\u00a0)*$",
)

// tableColumn is a column of a table, for the secrets of one kind.
type tableColumn struct {
	form   byte // "|", "<" or what is between the cells
	width  int  // how many cells a row has to have, 0 for any number
	number int
	kind   string
}

// isKnown reports whether the cells below a heading at a place were looked at, for a heading above.
func (s *scan) isKnown(c tableColumn, at int) bool { return at < s.columnsEnd[c] }

// knows notes that the cells of a column were looked at up to a place.
func (s *scan) knows(c tableColumn, to int) {
	if s.columnsEnd == nil {
		s.columnsEnd = map[tableColumn]int{}
	}
	s.columnsEnd[c] = to
}

// column calls each with the cells below the heading of a table that has a keyword from at to end. It is false if
// there is no such heading.
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
	rule, next := lineAt(s.text, next)
	if !isRuleOfTable(rule) {
		return false
	}
	s.charge(len(line) + len(rule))
	number := -1
	for i, cell := range cellsOf(line) {
		if start+cell[0] <= at && end <= start+cell[1] && headingCell().Match(line[cell[0]:cell[1]]) {
			number = i
		}
	}
	column := tableColumn{form: '|', number: number, kind: kind}
	if number >= 0 && s.isKnown(column, at) {
		return true
	}
	for number >= 0 && next < len(s.text) && s.err == nil {
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
				at := from + cell[0] + bytes.Index(line[cell[0]:cell[1]], value)
				each(at, at+len(value), value)
			}
		}
	}
	s.knows(column, next)
	return number >= 0
}

// mayBeHeading is a fast test for column: it is false only where a keyword that ends at a place, with the rest of its
// line behind it, is in no heading. Most names in sentences are in none: more words follow them, and the line below
// does not begin as a row of dashes does.
func (s *scan) mayBeHeading(end int, rest []byte) bool {
	if _, _, ok := s.cellEnd(end); ok {
		return true
	}
	below := end + len(rest) + len("\n")
	if len(rest) == longestValue { // it is not known where the line ends
		return true
	}
	if r := bytes.IndexByte(rest, '\r'); r >= 0 && r < len(rest)-1 { // the line ends before
		return true
	}
	return below < len(s.text) && isOfRule[s.text[below]]
}

// mostOfCell is how many bytes are around a keyword in a heading of [csvName] at most.
const mostOfCell = 24

// cellEnd returns where a cell ends that has a keyword which ends at a place, and how many blanks are between. It is
// false if more than a few words follow the keyword.
func (s *scan) cellEnd(end int) (to, blanks int, ok bool) {
	to = min(len(s.text), end+mostOfCell)
	for i, c := range s.text[end:to] {
		if !isOfCell[c] {
			to = end + i
			break
		}
		if c != ' ' {
			continue
		}
		if blanks++; blanks > blanksOfCell {
			return 0, 0, false
		}
	}
	ok = to == len(s.text) || isEndOfLine(s.text[to]) || isSeparator[s.text[to]]
	return to, blanks, ok
}

func isEndOfLine(c byte) bool { return c == '\n' || c == '\r' }

// isCell reports whether nothing but a few words is around a keyword, up to a separator or an end of the line.
func (s *scan) isCell(start, at, end int) bool {
	to, blanks, ok := s.cellEnd(end)
	if !ok {
		return false
	}
	isEnd := to == len(s.text) || isEndOfLine(s.text[to])
	from := at
	for from > start && at-from < mostOfCell && isOfCell[s.text[from-1]] {
		from--
		if s.text[from] == ' ' {
			blanks++
		}
		if blanks > blanksOfCell {
			return false
		}
	}
	isStart := from == start
	if isStart && isEnd {
		return false
	}
	return isStart || isSeparator[s.text[from-1]]
}

// blanksOfCell is how many blanks a heading of [csvName] has at most.
const blanksOfCell = 2

var isSeparator, isOfCell = bytesOf("\t;,"), bytesOf(letters + " -\".")

// csvColumn is column for lines of cells between commas, semicolons or tabs: the first one has short names without
// blanks around them, and each has as many cells.
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
	column := tableColumn{separator, len(headings), number, kind}
	if number >= 0 && s.isKnown(column, at) {
		return true
	}
	isTable := false
	known := next
	for number >= 0 && next < len(s.text) && s.err == nil {
		from := next
		line, next = lineAt(s.text, from)
		s.charge(len(line))
		cells := csvCells(line, separator)
		if len(cells) != len(headings) {
			break
		}
		isTable = true
		known = next
		cell := cells[number]
		value := bytes.Trim(line[cell[0]:cell[1]], " \"")
		if len(value) > 0 {
			at := from + cell[0] + bytes.Index(line[cell[0]:cell[1]], value)
			each(at, at+len(value), value)
		}
	}
	s.knows(column, known)
	return isTable
}

// csvName is a cell of the first line of a table in CSV.
var csvName = lazily(`^"?[\pL_][\pL\pN_.-]*(?: [\pL\pN_.-]+){0,2}"?$`)

// csvCells returns where the cells of a line begin and end.
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

// isRuleOfTable reports whether a line is the one below the headings of a table.
func isRuleOfTable(line []byte) bool {
	return isAll(line, &isOfRule) && bytes.IndexByte(line, '-') >= 0
}

// isOfRule says which bytes such a line has.
var isOfRule = bytesOf("|-: \t>")

// cellsOf returns where the cells of a row of a table begin and end. The first is in front of the first bar, unless
// the row begins with it.
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

// line returns the rest of a line from the place at, up to most bytes of it, which are charged.
func (s *scan) line(at, most int) []byte {
	line := s.text[at:min(len(s.text), at+most)]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	s.charge(len(line))
	return line
}

// value returns the value that is assigned to a name with a keyword that ends at a place, with the rest of its line
// behind it. It is empty if there is none.
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
		if m[8] < 0 { // in quotes
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

// fullWidth is the first byte of "：" and "＝", which are used with letters as wide as they are.
const fullWidth = 0xef

// mayAssign is a fast test for assigned: it is false only where that cannot match.
func mayAssign(line []byte) bool {
	for i, c := range line {
		switch c {
		case ':', '=', '|', '(', fullWidth: // what is in parentheses can be any text
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
	return bytes.Contains(value, []byte("://")) || bytes.Count(value, []byte("/")) > 2 ||
		bytes.Count(value, []byte(".")) > 3 ||
		words().Match(value)
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

// numbers finds numbers of cards (by the check digit of ISO/IEC 7812) and of accounts (IBAN,
// by that of ISO 13616).
func (s *scan) numbers() {
	for _, m := range cards().FindAllIndex(s.text, -1) {
		sum := 0
		double := false
		for i := m[1] - 1; i >= m[0]; i-- {
			if c := s.text[i]; '0' <= c && c <= '9' {
				d := int(c - '0')
				if double {
					d = d*2%10 + d/5
				}
				sum = sum + d
				double = !double
			}
		}
		if sum%10 == 0 {
			s.add(m[0], m[1], "card-number")
		}
	}
	for _, m := range accounts().FindAllIndex(s.text, -1) {
		if end := ibanEnd(s.text[m[0]:m[1]]); end > 0 {
			s.add(m[0], m[0]+end, "iban")
		}
	}
}

// lengthsOfIBAN has how many characters the numbers of accounts of a country have (registry of ISO 13616).
const lengthsOfIBAN = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 " +
	"ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 " +
	"LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 " +
	"RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"

// ibanEnd returns where the number of an account ends that a text begins with, 0 if it begins with none. Words in capitals may
// follow it.
func ibanEnd(text []byte) int {
	_, rest, isKnown := strings.Cut(lengthsOfIBAN, string(text[:2]))
	length := 0 // of a country without a row it is the whole text
	if isKnown {
		length = int(rest[0]-'0')*10 + int(rest[1]-'0')
	}
	var number []byte
	end := len(text)
	for i, c := range text {
		if c == ' ' {
			continue
		}
		if number = append(number, c); len(number) == length {
			end = i + 1
			break
		}
	}
	isWhole := end == len(text) || text[end] == ' '
	if !isWhole || len(number) < length || len(number) < 15 || len(number) > 34 {
		return 0
	}
	rest97 := 0
	for _, c := range append(number[4:len(number):len(number)], number[:4]...) {
		if c >= 'A' {
			rest97 = (rest97*100 + int(c-'A') + 10) % 97
		} else {
			rest97 = (rest97*10 + int(c-'0')) % 97
		}
	}
	if rest97 != 1 {
		return 0
	}
	return end
}
