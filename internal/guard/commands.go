package guard

import "bytes"

// A password in a command has no name: it follows an option, or another argument.

// commandRules are the rules for passwords in commands.
var commandRules = []rule{
	{
		kind: "password", find: (*scan).commandPassword, keywords: []string{
			"mysql", "mariadb", "docker login", "podman login", "ldapsearch", "ldapmodify", "ldapadd", "ldapdelete", "ldapwhoami",
			"redis-cli", "htpasswd -", "net use", "http -a", "https -a", "zip -", "zip a ", "7z a ", "7z x ", "7za ", "securestring",
			"passin pass:", "passout pass:",
		},
	},
	{kind: "password", keywords: []string{"chpasswd"}, find: (*scan).changedPassword},
	{kind: "password", keywords: []string{"jdbc:oracle:"}, find: (*scan).oracleLogin},
}

var (
	// commandForms are commands with a password; the submatch is the password.
	commandForms = lazily(
		`(?i)^(?:mysql|mariadb)(?:dump|admin|-dump|-admin|import|check)?(?: [^\s|;]+)*? (?-i:-p)([^\s"'=]{3,}|"[^"\n]{3,}"|'[^'\n]{3,}')` +
			`|^(?:docker|podman) login(?: [^\s|;]+)*? (?:-p|--password)[ =]["']?([^\s"']{3,})` +
			`|^ldap[a-z]+(?: [^\s|;]+)*? (?-i:-w) ["']?([^\s"'-][^\s"']{2,})` +
			`|^redis-cli(?: [^\s|;]+)*? (?:-a|--pass) ["']?([^\s"'-][^\s"']{2,})` +
			`|^htpasswd(?: -\w+)*? (?-i:-\w*b\w*)(?: -\w+)*(?: [^\s|;]+)?? [^\s|;]+ ["']?([^\s"'|;]{3,})["']?[ \t]*(?:$|[|;&\r` + "`" + `])` +
			`|^net use(?: [^\s|;]+)*? /user:[^\s|;]+ ["']?([^\s"'/*][^\s"']{2,})` +
			`|^https? -a ["']?[^\s:"']+:([^\s"']{3,})` +
			`|^(?:zip|7z)a?(?: [^\s|;]+)*? (?-i:-P ?)["']?([^\s"'-][^\s"']{2,})` +
			`|^7za?(?: [^\s|;]+)*? (?-i:-p)["']?([^\s"'-][^\s"']{2,})` +
			`|^securestring (?:-string )?["']([^"'\n]{3,})["']` +
			`|^pass(?:in|out) pass:([^\s"'|;]{3,})`,
	)
	// changedBefore matches a user and a password that are piped to chpasswd. Group 1 is the password.
	changedBefore = lazily(`[\w.-]+:([^\s"'|:]{3,})["']? *\| *(?:sudo )?$`)
	// oracleRest matches a user and a password in the address of an Oracle database. Group 1 is the password.
	oracleRest = lazily(`^(?i:jdbc:oracle:)\w+:[\w$#.-]{1,40}/([^\s@/"']{3,})@`)
	// variableBefore matches what precedes the rest of the name of a variable that is set without "=".
	variableBefore = lazily(`(?:^|[\s;&])(?:ENV|ARG|setx|set(?: -\w+)+|setenv)[ \t]+\w*$`)
	// variableRest matches the rest of such a name, and its value. Group 1 is the value.
	variableRest = lazily(`^\w*[ \t]+["']?([^\s"'=]{3,})`)
	// loginBefore matches a user before the word "password", as in a netrc file or the settings of a router.
	loginBefore = lazily(`\b(?:login|username|user)[ \t]+[^\s:=,]+[ \t\r\n]+$`)
	// loginRest matches the password behind the word. Group 1 is the password.
	loginRest = lazily(`^[ \t]+(?:\d[ \t]+)?([^\s"'` + "`" + `|]{3,})`)
	// netrcBefore matches the beginning of an entry of a netrc file.
	netrcBefore = lazily(`(?:^|\n)[ \t>]*(?:machine[ \t]+\S+|default)[ \t\r\n]+login[ \t]+\S+[ \t\r\n]+$`)
)

// longestCommand is how many bytes of a command are searched.
const longestCommand = 300

// commandPassword finds the password in a command whose name is the keyword at at.
func (s *scan) commandPassword(at, _ int) {
	if s.isInWord(at) {
		return
	}
	line := s.line(at, longestCommand)
	m := commandForms().FindSubmatchIndex(line)
	if m == nil {
		return
	}
	from, to := longest(m[2:])
	if quote := line[from]; quote == '"' || quote == '\'' {
		from++
		to--
	}
	if !placeholder().Match(line[from:to]) {
		s.add(at+from, at+to, "password")
	}
}

// changedPassword finds the password that is piped to chpasswd at at.
func (s *scan) changedPassword(at, _ int) {
	start := max(s.lineStart(at), at-longestCommand)
	s.charge(at - start)
	m := changedBefore().FindSubmatchIndex(s.text[start:at])
	if m != nil && !placeholder().Match(s.text[start+m[2]:start+m[3]]) {
		s.add(start+m[2], start+m[3], "password")
	}
}

// oracleLogin finds the password in the address of an Oracle database at at.
func (s *scan) oracleLogin(at, _ int) {
	from, to, ok := s.submatch(oracleRest, at, longestCommand)
	if ok && !placeholder().Match(s.text[from:to]) {
		s.add(from, to, "password")
	}
}

// commandArgument finds the value that follows the name with the keyword s.text[at:end] without a sign: of a variable
// in a Dockerfile or a shell, or in an entry of a netrc file. rest is the rest of the line.
func (s *scan) commandArgument(at, end int, rest []byte) {
	if len(rest) == 0 {
		return
	}
	mayContinue := isWordByte[rest[0]] || rest[0] == ' ' || rest[0] == '\t'
	if !mayContinue {
		return
	}
	start := max(0, at-longestName)
	before := s.text[start:at]
	line := before[bytes.LastIndexByte(before, '\n')+1:]
	s.charge(len(before))
	pattern := loginRest
	isSecret := func(value []byte) bool { return !placeholder().Match(value) }
	switch {
	case maySetVariable(line) && variableBefore().Match(line):
		pattern = variableRest
	case mayHaveValue(rest) && loginBefore().Match(before):
		isSecret = isPassword
	case !bytes.Contains(before, []byte("login")) || !netrcBefore().Match(before):
		return
	}
	m := pattern().FindSubmatchIndex(rest)
	if m != nil && isSecret(rest[m[2]:m[3]]) {
		s.add(end+m[2], end+m[3], "password")
	}
}

// maySetVariable is a fast check before variableBefore: it returns false only if that cannot match.
func maySetVariable(line []byte) bool {
	return bytes.Contains(line, []byte("set")) || bytes.Contains(line, []byte("ENV")) || bytes.Contains(line, []byte("ARG"))
}
