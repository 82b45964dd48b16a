package guard

import "bytes"

// services are the rules for tokens of services that the table has no pattern for, or only an old one.
var services = []rule{
	{
		kind: "anthropic-oauth-token", keywords: []string{"sk-ant-oat", "sk-ant-ort", "sk-ant-sid"}, boundary: true, least: 60,
		pattern: `^(?:(sk-ant-(?:oat|ort|sid)\d\d-[\w-]{48,})(?:[^\w-]|$))`,
	},
	{
		kind: "openai-api-key", keywords: []string{"sk-proj-", "sk-svcacct-", "sk-admin-"}, boundary: true, least: 60,
		pattern: `^(?:(sk-(?:proj|svcacct|admin)-[\w-]{50,})(?:[^\w-]|$))`, entropy: 2,
	},
	{
		kind: "openrouter-api-key", keywords: []string{"sk-or-v1-"}, boundary: true, least: 73,
		pattern: `^(?:(sk-or-v1-[a-f0-9]{64})(?:[^\w-]|$))`,
	},
	{
		kind: "groq-api-key", keywords: []string{"gsk_"}, boundary: true, least: 50,
		pattern: `^(?:(gsk_[A-Za-z0-9]{46,60})(?:[^\w-]|$))`, entropy: 2,
	},
	{
		kind: "xai-api-key", keywords: []string{"xai-"}, boundary: true, least: 64,
		pattern: `^(?:(xai-[A-Za-z0-9]{60,100})(?:[^\w-]|$))`, entropy: 2,
	},
	{
		kind: "replicate-api-token", keywords: []string{"r8_"}, boundary: true, least: 38,
		pattern: `^(?:(r8_[A-Za-z0-9]{35,44})(?:[^\w-]|$))`, entropy: 2,
	},
	{
		kind: "google-oauth-client-secret", keywords: []string{"gocspx-"}, boundary: true, least: 35,
		pattern: `^(?:(GOCSPX-[\w-]{28})(?:[^\w-]|$))`, entropy: 2,
	},
	{
		kind: "google-oauth-token", keywords: []string{"ya29."}, boundary: true, least: 30,
		pattern: `^(?:(ya29\.[\w-]{25,})(?:[^\w-]|$))`, entropy: 2,
	},
	{
		kind: "google-oauth-token", keywords: []string{"1//0"}, boundary: true, least: 44,
		pattern: `^(?:(1//0[\w-]{40,})(?:[^\w-]|$))`, entropy: 3.5,
	},
	{
		kind: "tailscale-key", keywords: []string{"tskey-"}, boundary: true, least: 36,
		pattern: `^(?:(tskey-[a-z]{3,10}-[A-Za-z0-9]{6,}-[A-Za-z0-9]{20,})(?:[^\w-]|$))`, entropy: 2,
	},
	{
		kind: "resend-api-key", keywords: []string{"re_"}, boundary: true, least: 30,
		pattern: `^(?:(re_[A-Za-z0-9]{6,12}_[A-Za-z0-9]{20,32})(?:[^\w-]|$))`, entropy: 3.5,
	},
	{
		kind: "supabase-key", keywords: []string{"sbp_", "sb_secret_"}, boundary: true, least: 30,
		pattern: `^(?:(sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,48})(?:[^\w-]|$))`, entropy: 2,
	},
	{
		kind: "figma-token", keywords: []string{"figd_"}, boundary: true, least: 40,
		pattern: `^(?:(figd_[\w-]{35,60})(?:[^\w-]|$))`, entropy: 2,
	},
	{
		kind: "docker-token", keywords: []string{"dckr_pat_", "dckr_oat_"}, boundary: true, least: 36,
		pattern: `^(?:(dckr_[po]at_[\w-]{27,40})(?:[^\w-]|$))`, entropy: 2,
	},
	{
		kind: "nostr-secret-key", keywords: []string{"nsec1"}, boundary: true, least: 63,
		pattern: `^(?:(nsec1[ac-hj-np-z02-9]{58})(?:[^\w-]|$))`,
	},
	{
		kind: "wallet-key", keywords: []string{"xprv", "yprv", "zprv"}, boundary: true, least: 100,
		pattern: `^(?:([xyz]prv[1-9A-HJ-NP-Za-km-z]{96,112})(?:[^\w-]|$))`,
	},
	{
		kind: "discord-webhook", keywords: []string{"/api/webhooks/"}, most: 140, group: 1,
		pattern: `^/api/webhooks/\d{15,22}/([\w-]{55,80})`, entropy: 2,
	},
	{
		kind: "one-time-password-key", keywords: []string{"otpauth-migration:"}, most: 4000, group: 1,
		pattern: `^otpauth-migration://offline\?data=([\w%+/=-]{20,})`,
	},
	{
		kind: "signed-address", keywords: []string{"sig=", "x-amz-signature=", "x-goog-signature="}, group: 1, boundary: true,
		most: 600, pattern: `^(?:(?i)(?:sig|x-amz-signature|x-goog-signature)=((?:[\w+/=-]|%[0-9A-F]{2}){40,}))`, entropy: 2,
	},
	{
		kind: "password-hash", group: 1, most: 200,
		keywords: []string{"$apr1$", "$1$", "$5$", "$6$", "$y$", "$2a$", "$2b$", "$2y$", "$argon2"},
		pattern: `^(\$(?:apr1|1|5|6|y)\$(?:rounds=\d+\$)?[./A-Za-z0-9]{1,24}\$(?:[./A-Za-z0-9]{1,24}\$)?[./A-Za-z0-9]{22,86}` +
			`|\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}|\$argon2(?:id|i|d)\$v=\d+\$m=\d+,t=\d+,p=\d+\$[+/A-Za-z0-9]{8,64}\$[+/A-Za-z0-9]{16,128})`,
	},
	{kind: "telegram-bot-api-token", keywords: []string{":aa"}, find: (*scan).telegramToken},
	{kind: "cookie", keywords: []string{"cookie:", "cookie\":", "cookie\","}, find: (*scan).cookies},
	{kind: "authorization", keywords: []string{"\"auth\"", "_auth"}, find: (*scan).registryCredentials},
	{kind: "private-key", keywords: []string{"\"kty\""}, find: (*scan).webKey},
	{kind: "password", keywords: []string{":5432:", ":*:"}, find: (*scan).passwordFile},
}

var (
	telegramRest = lazily(`^:AA[\w-]{32,33}(?:[^\w-]|$)`)
	// cookiePair matches a cookie in a header.
	cookiePair = lazily(`[\w.!%-]+=([^;\s"'` + "`" + `,]+)`)
	// webKeyMember matches a private member of a key in JSON (RFC 7517). Group 1 is its value.
	webKeyMember = lazily(`"(?:d|p|q|dp|dq|qi|k)"\s{0,20}:\s{0,20}"([\w-]{16,})"`)
	// passwordFileLine matches a line of a .pgpass file: host, port, database, user and password. Group 1
	// is the password.
	passwordFileLine = lazily(`(?:^|[^\w.*:-])[\w.*-]+:(?:5432|\*):[A-Za-z*][\w*-]*:[A-Za-z*][\w.*@-]*:([^\s:"'|<>` + "`" + `]{3,})`)
	// registryRest matches the value of "auth" in a settings file of Docker, or of _auth in one of npm. Group 1 is the
	// value.
	registryRest = lazily(`^"?auth"?[ \t]{0,4}[:=][ \t]{0,4}["']?([A-Za-z0-9+/]{8,}={0,2})`)
)

// telegramToken finds the token of a bot: its number, the keyword, and letters.
func (s *scan) telegramToken(at, _ int) {
	const maxDigits = 12
	const minDigits = 7
	start := at
	for start > 0 && at-start <= maxDigits && isDecimal(s.text[start-1]) {
		start--
	}
	hasNumber := at-start >= minDigits && at-start <= maxDigits
	if !hasNumber {
		return
	}
	piece := s.text[at:min(len(s.text), at+40)]
	s.charge(len(piece))
	rest := telegramRest().Find(piece)
	if rest == nil {
		return
	}
	end := at + len(rest)
	for !isToken[s.text[end-1]] {
		end--
	}
	s.add(start, end, "telegram-bot-api-token")
}

// longestHeader is how many bytes of a header with cookies are searched.
const longestHeader = 4 << 10

// cookies finds the values in a header such as "Cookie: session=…".
func (s *scan) cookies(_, end int) {
	for _, m := range cookiePair().FindAllSubmatchIndex(s.line(end, longestHeader), -1) {
		value := s.text[end+m[2] : end+m[3]]
		isCredential := len(value) >= 12 && isMixed(value) && entropyOf(value) >= 2.5
		if isCredential {
			s.add(end+m[2], end+m[3], "cookie")
		}
	}
}

// registryCredentials finds a user and a password in base64, as in the settings of Docker and npm.
func (s *scan) registryCredentials(at, _ int) {
	at++ // the quote or "_"
	from, to, ok := s.submatch(registryRest, at, longestValue)
	if ok && isBasicCredentials(s.text[from:to]) {
		s.add(from, to, "authorization")
	}
}

// longestWebKey is how many bytes before and after the type of a key in JSON belong to the key.
const longestWebKey = 4 << 10

// webKey finds the private members of a key in JSON whose type is at at.
func (s *scan) webKey(at, _ int) {
	start := max(0, at-longestWebKey)
	end := min(len(s.text), at+longestWebKey)
	if n := bytes.LastIndexByte(s.text[start:at], '{'); n >= 0 {
		start += n
	}
	if n := bytes.IndexByte(s.text[at:end], '}'); n >= 0 {
		end = at + n
	}
	s.charge(end - start)
	for _, m := range webKeyMember().FindAllSubmatchIndex(s.text[start:end], -1) {
		s.add(start+m[2], start+m[3], "private-key")
	}
}

// passwordFile finds the password in a line of a .pgpass file that contains the offset at.
func (s *scan) passwordFile(at, _ int) {
	start := max(s.lineStart(at), at-longestName)
	line := s.line(start, longestCommand)
	m := passwordFileLine().FindSubmatchIndex(line)
	if m == nil || placeholder().Match(line[m[2]:m[3]]) || bytes.Contains(line[:m[2]], []byte("arn:")) {
		return
	}
	s.add(start+m[2], start+m[3], "password")
}
