package guard

import (
	"bytes"
	"slices"
	"strings"
)

// A password may be one plain word that does not look like a password. It counts only if it is labelled: a line, list
// item, cell or assignment has the name, the word and nothing more, or the word is in quotes. A remark about the
// password in its place, such as "required" or "see", does not count, and neither does a word of a sentence.

var (
	// plainWord matches one word, with the signs that people append to passwords. Scripts that do not separate words
	// with blanks are excluded, because one word cannot be told from several.
	plainWord = lazily(`^[\p{Latin}\p{Cyrillic}\p{Greek}](?:['’-]?[\p{Latin}\p{Cyrillic}\p{Greek}]){3,39}[!?$#&+]{0,3}$`)
	// labelBefore matches what may precede the name of a labelled value: the beginning of the line, a cell, or another
	// label.
	labelBefore = lazily(
		`(?:^|[|,;/][ \t]*)[ \t>]*(?:\[![\w-]+\][+-]? )?(?:[-*+] |\d{1,3}[.)] )?(?:\[[ xX]\] )?[*_` + "`" + `"']{0,3}(?:[\pL\pN_.&'’-]+ ){0,4}(?:\w+[-_.])*$`,
	)
	// labelAfter matches what may follow a labelled value: the end of the line or cell, a comment, or the next label.
	labelAfter = lazily(
		`^[*_` + "`" + `"']{0,3}[.!;,]?[*_` + "`" + `"']{0,3}[ \t\\]*(?:\r?$|\||#|//|<br|\([^()]*\)[ \t]*\r?$|[,;/][ \t]*[\pL _-]{1,30}[:=])`,
	)
	// sentenceEnd matches a verb after a name, and one word up to the end of the sentence. Group 1 is the word.
	sentenceEnd = lazily(`^[ \t]+(?:is|was|ist|war|lautet)[ \t]+([\pL'’-]{5,40}[!?$#&+]{0,3}?)(?:[.!][*_"”)]{0,3})?[ \t]*(?:\r?$|\r?\n|[.] )`)
	// germanPredicate matches German words that say how a password is, by what they end with. Names of things begin with a
	// capital there.
	germanPredicate = lazily(
		`^[a-zäöü]\pL*(?:ig|ig[er]|lich|bar|los|isch|iert|haft|sam|frei|weise|lt|kt|zt|pt|ft|rt|gt|cht|tet|sst|ten|en)$`,
	)
	// predicate matches words that say how a password is, by what they end with or one by one.
	predicate = lazily(
		`(?i)(?:ed|ing|able|ible|ful|less|ous|ive|al|ic|ical|ly|ent|ant|ary|ory|ish|like|free|proof|wise|ness|ity|ment|tion|sion)$` +
			`|^(?:yours|mine|ours|theirs|hers|ready|there|where|available|valid|ancient|aloud|alone|alike|alive|apart|ahead|aside|awful|bogus|brief|broke|brute|cheap|clean|clear|close|crucial|dead|dirty|dumb|easy|enough|equal|exact|exposed|extra|false|fixed|flawed|fresh|funny|half|handy|hard|harder|harsh|heavy|huge|ideal|idle|inert|intact|junk|king|late|later|lame|lengthy|light|little|longer|shorter|stronger|weaker|better|worse|worst|best|loose|main|major|messy|minor|moot|more|most|much|naive|nasty|near|neat|nice|noisy|obscure|obsolete|over|part|plenty|poor|pretty|prime|pure|quick|quite|ready|real|rough|rude|safer|same|sane|short|silly|slow|small|smart|smooth|sole|solid|stale|steady|stiff|strict|stupid|sturdy|such|sure|tight|tiny|tough|tricky|trivial|true|twice|ugly|under|upper|urgent|usual|vague|vast|void|vulnerable|wide|with|yet|zero|access|data|garbage|nonsense|rubbish|history|trash|magic|metadata|plaintext|cleartext|overkill|insecure|case|rare|rather|really|pain|problem|trouble|weakness|yours|anders|meist|nur|immer|egal|hier|dort|falsch|kurz|lang|richtig|ganz|sehr|schon|weg|dein|deins|meins|unser|ihrer|seiner|neues|altes|schlecht|besser|streng)$`,
	)
	// remarkWord matches words of remarks about a password, in the languages of [passwordNames], and types and names in
	// code.
	remarkWord = lazily(
		`(?i)^(?:\pL+ed|` +
			// properties of a password
			`needed|necessary|mandatory|optional|compulsory|obligatory|strong|weak|secure|insecure|safe|unsafe|good|bad|invalid|valid|correct|incorrect|right|wrong|empty|blank|missing|default|temporary|permanent|confidential|sensitive|case-sensitive|private|public|personal|personally|same|different|other|another|unique|simple|random|minimum|maximum|long|short|old|new|recent|current|previous|next|first|last|plain|plaintext|strength|good|fair|poor|great|okay|fine|done|todo|pending|later|soon|today|tomorrow|yesterday|maybe|unclear|known|forgotten|forgot|lost|gone|broken|open|free|shown|hidden|taken|given|chosen|written|sent|kept|set|unset|off|disabled|` +
			// actions and places
			`see|ask|call|enter|type|paste|click|reset|change|check|choose|confirm|repeat|retype|create|generate|rotate|renew|update|remember|request|look|read|use|open|show|hide|copy|save|store|login|logon|signin|here|there|below|above|inside|elsewhere|nowhere|everywhere|somewhere|anything|something|everything|nothing|whatever|whichever|anyone|someone|nobody|everyone|none|null|void|undefined|` +
			`vault|locker|drawer|envelope|paper|sticker|notebook|manager|policy|policies|rules|hint|hints|help|note|notes|wiki|docs|documentation|readme|email|mail|phone|letter|chat|slack|teams|bitwarden|vaultwarden|keepass|keepassx|keepassxc|lastpass|dashlane|keychain|keyring|roboform|enpass|nordpass|padlock|passbolt|proton|authenticator|biometric|biometrics|fingerprint|face|passkey|passkeys|kerberos|ldap|oauth|sso|saml|` +
			`account|accounts|admin|administrator|user|users|username|owner|member|everybody|family|office|home|work|bank|wifi|router|server|database|website|website|app|apps|device|devices|laptop|computer|security|privacy|protection|authentication|authorization|recovery|rotation|expiry|expiration|length|complexity|storage|history|sharing|handling|hygiene|basics|overview|introduction|summary|details|example|examples|exercise|definition|flow|dialog|page|form|screen|prompt|label|placeholder|title|description|column|header|question|answer|topic|idea|ideas|problem|problems|issue|issues|error|errors|failure|success|accepted|denied|mismatch|match|matches|again|twice|once|daily|weekly|monthly|yearly|quarterly|never|always|sometimes|often|rarely|` +
			// types and names in code
			`str|string|strings|text|varchar|char|chars|byte|bytes|int|integer|number|boolean|any|object|unknown|never|self|this|true|false|nil|value|values|input|output|stdin|stdout|field|fields|param|params|arg|args|argv|env|environ|environment|process|config|configuration|settings|options|opts|form|data|request|response|body|props|state|session|context|payload|credentials|creds|hash|hashes|digest|salt|bcrypt|scrypt|argon|cipher|ciphertext|hex|getpass|prompt|readline|scanf|pass|passwd|pwd|secret|secrets|token|tokens|key|keys|word|words|phrase|code|codes|digits|letters|characters|symbols|spaces|\pL*(?:str|string|field|hash|type|passw\pL*)|` +
			`foobar|example|sample|dummy|test|tests|testing|demo|lorem|ipsum|redacted|removed|masked|censored|censor|secret|geheim|confidencial|` +
			// other languages
			`siehe|unbekannt|keins|keine|keiner|kein|nötig|notwendig|erforderlich|optional|geändert|zurückgesetzt|vergessen|gespeichert|verschlüsselt|leer|falsch|richtig|sicher|unsicher|stark|schwach|gleich|anders|neu|alt|fragen|frage|ändern|eingeben|wie|beim|oben|unten|hier|dort|zettel|tresor|benutzer|konto|` +
			`voir|inconnu|aucun|aucune|requis|obligatoire|facultatif|changé|oublié|ici|nécessaire|même|nouveau|vide|` +
			`ver|véase|desconocida|desconocido|ninguna|ninguno|requerida|requerido|obligatoria|obligatorio|opcional|cambiada|cambiar|olvidada|aquí|misma|nueva|vacía|` +
			`vedi|sconosciuta|nessuna|richiesta|obbligatoria|cambiata|dimenticata|stessa|nuova|vuota|` +
			`zie|onbekend|geen|vereist|verplicht|optioneel|gewijzigd|vergeten|hetzelfde|leeg|hier|` +
			`desconhecida|nenhuma|obrigatória|alterada|esquecida|mesma|vazia|` +
			`okänt|inget|ukjent|ingen|ukendt|krävs|obligatoriskt|ändrat|glömt|samma|tomt|` +
			`nieznane|brak|wymagane|zmienione|zapomniane|neznámé|žádné|povinné|změněno|puuttuu|ei|vaaditaan|nincs|ismeretlen|yok|bilinmiyor|gerekli|` +
			`нет|неизвестен|неизвестно|обязательно|требуется|изменён|изменен|забыт|смотри|пусто` +
			`)[!?.]*$`,
	)
)

// isPlainPassword reports whether a value is one word that may be a password.
func isPlainPassword(value []byte) bool {
	if !plainWord().Match(value) || remarkWord().Match(value) || mentionsPassword(value) {
		return false
	}
	lower := strings.ToLower(string(value))
	return !slices.ContainsFunc(passwordNames, func(name string) bool { return strings.Contains(lower, name) })
}

// wordOfLabel adds the word s.text[from:to] that is assigned to a name with the keyword s.text[at:end]. It returns
// false if the word cannot be a password, or the line or cell has more than the name and the word.
func (s *scan) wordOfLabel(at, end, from, to int) bool {
	for to < len(s.text) && strings.IndexByte("!?$#&+", s.text[to]) >= 0 {
		to++
	}
	value := s.text[from:to]
	if !isPlainPassword(value) {
		return false
	}
	if !s.isQuoted(from, to) {
		start := max(s.lineStart(at), at-longestName)
		before := s.text[start:at]
		isHeading := bytes.HasPrefix(bytes.TrimLeft(before, " \t>"), []byte("#"))
		if isHeading || !labelBefore().Match(before) || !labelAfter().Match(s.line(to, maxDistance)) {
			return false
		}
	}
	s.add(from, to, "password")
	return true
}

// wordOfSentence adds the word that follows the name of a password that ends at end, and "is" or "was", at the end of a
// sentence. line is the rest of the line. It returns false if the word says something about the password.
func (s *scan) wordOfSentence(end int, line []byte, kind string) bool {
	if kind != "password" || !mayEndSentence(line) {
		return false
	}
	m := sentenceEnd().FindSubmatchIndex(line)
	if m == nil {
		return false
	}
	word := line[m[2]:m[3]]
	isPredicate := predicate().Match(word) || germanPredicate().Match(word)
	if isPredicate || !isPlainPassword(word) {
		return false
	}
	s.add(end+m[2], end+m[3], kind)
	return true
}

// mayEndSentence is a fast check before sentenceEnd: it returns false only if that cannot match, as for most sentences,
// in which a verb and a word are followed by another word.
func mayEndSentence(line []byte) bool {
	verb := skipBlanks(line, 0)
	if verb == 0 || verb == len(line) || strings.IndexByte("iwl", line[verb]) < 0 {
		return false
	}
	word := skipBlanks(line, skipWord(line, verb))
	end := skipWord(line, word)
	rest := skipBlanks(line, end)
	return rest == len(line) || isEndOfLine(line[rest]) || line[end-1] == '.'
}

// skipWord returns the index of the first blank at or after at, or the length of the line.
func skipWord(line []byte, at int) int {
	for at < len(line) && line[at] != ' ' && line[at] != '\t' {
		at++
	}
	return at
}

// isQuoted reports whether the same quote is before and after s.text[from:to].
func (s *scan) isQuoted(from, to int) bool {
	if from == 0 || to >= len(s.text) || s.text[from-1] != s.text[to] {
		return false
	}
	return strings.IndexByte("\"'`", s.text[to]) >= 0
}
