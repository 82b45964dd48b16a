package guard

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Address is an address on another machine that appears in a text.
type Address struct {
	Text  string
	Image bool // it is fetched when the text is displayed
}

var (
	// addresses matches addresses with a scheme, also of programs other than browsers: following the link opens them.
	// Browsers need no slashes after the schemes of the web.
	addresses = lazily(
		"(?i)\\b(?:[a-z][a-z0-9+.-]*:[/\\\\]{1,4}[^\\s<>\"'`/\\\\]|(?:https?|wss?|ftp):[a-z0-9\\[]|(?:mailto|sms|smsto|tel|xmpp):[^\\s<>\"'`?]*\\?)[^\\s<>\"'`]*",
	)
	// ownScheme matches the schemes of the app, and others that do not lead to another machine.
	ownScheme = lazily(`(?i)^(?:obsidian|app|capacitor|data|javascript|about|blob|[a-z]):`)
	// brokenScheme matches a scheme with tabs or line ends in it, which browsers ignore.
	brokenScheme = lazily(`(?i)h[\t\r\n]*t[\t\r\n]*t[\t\r\n]*p[\t\r\n]*s?[\t\r\n]*:[\t\r\n]*[/\\]`)
	// localFile matches the address of a file on this machine.
	localFile = lazily(`(?i)^file:(?:///[^/]|/[^/])`)
	// relative matches an address without a scheme, which gets that of the page.
	relative = lazily(
		"(?im)(?:\\b(?:src(?:set)?|href|poster|data|action|background|cite)\\s*=\\s*[\"']?|\\]\\(\\s*<?|\\]:\\s*<?|url\\(\\s*[\"']?|" +
			"^\\s*\\w*(?:image|cover|banner|thumbnail|icon)\\w*:\\s*[\"']?)([/\\\\]{2}[^\\s<>\"'`/\\\\][^\\s<>\"'`]+)",
	)
	// imageBefore matches what precedes the address of an image.
	imageBefore = lazily(
		`(?is)(?:!\[[^\]]*\]\(\s*<?|!\[[^\]]*\]:\s*|\bsrc(?:set)?\s*=\s*["']?|\bposter\s*=\s*["']?|\bdata\s*=\s*["']?|url\(\s*["']?|^\s*\w*(?:image|cover|banner|thumbnail|icon)\w*:\s*["']?)$`,
	)
	// textPlaceholder matches a placeholder for text in an address.
	textPlaceholder = lazily(
		`(?i)\{[^}]*\}|%7b|\$\w|<\w|\[[A-Z_ -]{3,}|\b(?:your|insert|put|the)[_-](?:data|text|notes?|secrets?|content)|\bDATA\b`,
	)
)

// longestAddress is the maximum length in bytes of an address in quotes or brackets, which may contain blanks.
const longestAddress = 8 << 10

// Addresses returns the addresses on other machines in a text, in order, and then those in its decoded forms: as a JSON
// string, as HTML.
func Addresses(text []byte) []Address {
	found := addressesIn(text)
	if !mayHideAddress(text) {
		return found
	}
	addDecoded := func(text []byte) {
		for range maxEntityLevels {
			decoded := withoutEntities(text)
			if decoded == nil {
				return
			}
			text = decoded.text
			found = append(found, addressesIn(text)...)
		}
	}
	levels, _ := levelsOf(text)
	for _, level := range levels {
		if !level.isHTML { // addDecoded decodes HTML
			found = append(found, addressesIn(level.text)...)
			addDecoded(level.text)
		}
	}
	addDecoded(text)
	return found
}

// mayHideAddress reports whether a text may have an address that shows only when the text is decoded.
func mayHideAddress(text []byte) bool {
	hasEscape := bytes.IndexByte(text, '\\') >= 0 || bytes.IndexByte(text, 0) >= 0 || bytes.Contains(text, []byte("%3"))
	return hasEscape || bytes.IndexByte(text, '&') >= 0
}

// addressesIn returns the addresses in an undecoded text.
func addressesIn(text []byte) (all []Address) {
	hasImages := bytes.Contains(text, []byte("!["))
	words := addressWords{text: text}
	for end := 0; ; {
		start, wordEnd, found := words.match(end)
		if !found {
			break
		}
		end = addressEnd(text, start, wordEnd)
		followsEscape := start > 0 && (text[start-1] == '\\' || text[start-1] == ';')
		if followsEscape && text[start]|0x20 != 'h' {
			continue // the rest of an escape or entity
		}
		address := string(bytes.TrimRight(text[start:end], ".,;:!?*_"))
		if localFile().MatchString(address) || ownScheme().MatchString(address) {
			continue
		}
		before := text[max(0, start-200):start]
		if n := bytes.LastIndexByte(before, '\n'); n >= 0 {
			before = before[n+1:]
		}
		isImage := imageBefore().Match(before) || hasImages && definitionBefore().Match(before)
		all = append(all, Address{address, isImage})
	}
	for _, m := range brokenSchemesIn(text) {
		end := addressEnd(text, m[0], m[1])
		all = append(all, Address{string(withoutBreaks(text[m[0]:max(end, m[1])])), true})
	}
	for _, m := range relativeIn(text) {
		end := addressEnd(text, m[0], m[1])
		all = append(all, Address{string(text[m[0]:end]), true})
	}
	return all
}

// definitionBefore matches what precedes the address of a reference definition, which an image may use.
var definitionBefore = lazily(`^[ \t>]*\[[^\]]*\]:\s*<?$`)

// withoutBreaks removes the line ends and tabs of an address, as browsers do.
func withoutBreaks(address []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r == '\t' || r == '\r' || r == '\n' {
			return -1
		}
		return r
	}, address)
}

// closings maps the character before an address to the text that ends it.
var closings = map[byte]string{'<': ">", '"': "\"", '\'': "'"}

// addressEnd returns the end of the address that begins at start and has no blank before end. In quotes and brackets it
// is their end, otherwise the parenthesis that closes a link, or end.
func addressEnd(text []byte, start, end int) int {
	before := start
	for before > 0 && (text[before-1] == ' ' || text[before-1] == '\t') {
		before--
	}
	if before > 0 && (before == start || text[before-1] != '<') {
		closing, isEnclosed := closings[text[before-1]]
		rest := text[start:min(len(text), start+longestAddress)]
		n := bytes.Index(rest, []byte(closing))
		if isEnclosed && n >= 0 && !bytes.Contains(rest[:n], []byte("\n\n")) {
			return start + n
		}
	}
	open := 0
	for i, c := range text[start:end] {
		switch {
		case c == '(':
			open++
		case c == ')' && open == 0:
			return start + i
		case c == ')':
			open--
		}
	}
	return end
}

// query returns the part of an address after its path.
func (a Address) query() string {
	if n := strings.IndexAny(a.Text, "?#;"); n >= 0 {
		return a.Text[n+1:]
	}
	return ""
}

// minCarried is the minimum length in bytes of a part of an address that can carry text.
const minCarried = 8

// Carried returns the texts that an address carries: the parts after the path, and for an image all
// parts after the scheme. Each part is percent-decoded, and if it is hexadecimal or base64, its decoded
// text follows.
func (a Address) Carried() []string {
	host, rest := a.hostAndRest()
	user, host := cutUser(host)
	if !a.Image {
		return append(partsOf(user), partsOf(a.query())...)
	}
	texts := append(partsOf(user), partsOf(rest)...)
	if strings.Count(host, ".") > 2 { // a word in each label
		texts = append(texts, strings.ReplaceAll(host, ".", " "))
	}
	for label := range strings.SplitSeq(host, ".") {
		if len(label) > 2*minCarried { // as in a name that only one server knows
			texts = append(texts, partsOf(label)...)
		}
	}
	return texts
}

// cutUser splits off the user name before a host.
func cutUser(host string) (user, rest string) {
	if n := strings.LastIndexByte(host, '@'); n >= 0 {
		return host[:n], host[n+1:]
	}
	return "", host
}

// hostAndRest returns the host, with the user before it, and what follows the slash after it.
func (a Address) hostAndRest() (host, rest string) {
	text := strings.ReplaceAll(a.Text, "\\", "/")
	schemeEnd := strings.IndexByte(text, ':') + 1
	if n := strings.IndexByte(text, '/'); n >= 0 && n < schemeEnd { // it has none
		schemeEnd = 0
	}
	host, rest, _ = strings.Cut(strings.TrimLeft(text[schemeEnd:], "/"), "/")
	return host, rest
}

// Joined returns the texts whose words are the parts of an address, with the separators of the parts between them. The
// path of a link counts only if each of its parts is a word.
func (a Address) Joined() (texts []string) {
	_, rest := a.hostAndRest()
	path, _, _ := strings.Cut(rest, "?")
	candidates := []string{a.query()}
	if a.Image {
		candidates = []string{rest}
	} else if isPathOfWords(path) {
		candidates = append(candidates, path)
	}
	for _, text := range candidates {
		text = strings.Trim(text, separators)
		isSingleWord := !strings.ContainsAny(text, separators) && !strings.ContainsAny(text, "% ")
		if isSingleWord {
			continue
		}
		var values, long []string
		for part := range strings.SplitSeq(text, "&") {
			_, value, found := strings.Cut(part, "=")
			if found {
				part = value
			}
			values = append(values, part)
		}
		for part := range strings.FieldsFuncSeq(text, isSeparatorOfParts) {
			if len(part) > 1 {
				long = append(long, part)
			}
		}
		for _, words := range []string{text, strings.Join(values, "&"), strings.Join(long, "&")} {
			words = unquery(words)
			if !slices.Contains(texts, words) {
				texts = append(texts, words)
			}
		}
	}
	return texts
}

// isPathOfWords reports whether each part of a path is a word, or the path has blanks between words.
func isPathOfWords(path string) bool {
	isOther := func(r rune) bool { return r != '/' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	hasBlanks := strings.Contains(path, "%20") || strings.Contains(path, " ")
	return hasBlanks || strings.IndexFunc(path, isOther) < 0
}

func isSeparatorOfParts(r rune) bool { return strings.ContainsRune(separators, r) }

// unquery percent-decodes a part of a query as often as possible, up to maxLevels times.
func unquery(text string) string {
	for range maxLevels {
		decoded, err := url.QueryUnescape(text)
		if err != nil || decoded == text {
			break
		}
		text = decoded
	}
	return text
}

// separators are the characters between the parts of a query or path.
const separators = "?&#;=/"

// partsOf returns the parts of a query, each percent-decoded, and followed by its text in hexadecimal or base64, if any.
func partsOf(query string) (parts []string) {
	for part := range strings.FieldsFuncSeq(query, isSeparatorOfParts) {
		text := unquery(part)
		if len(text) < minCarried {
			continue
		}
		parts = append(parts, text)
		unpadded := strings.TrimRight(text, "=")
		for _, decode := range textDecoders {
			decoded, err := decode(unpadded)
			if err == nil && len(decoded) >= minCarried && isText(decoded) {
				parts = append(parts, string(decoded))
				break
			}
		}
	}
	return parts
}

// textDecoders are the encodings in which a part of an address can carry text.
var textDecoders = []func(string) ([]byte, error){
	hex.DecodeString,
	base64.RawStdEncoding.DecodeString,
	base64.RawURLEncoding.DecodeString,
}

// isText reports whether bytes are UTF-8 without control characters.
func isText(text []byte) bool {
	return utf8.Valid(text) && bytes.IndexFunc(text, unicode.IsControl) < 0
}

// Host returns the host of an address in lower case, with its port.
func (a Address) Host() string {
	host, _ := a.hostAndRest()
	_, host = cutUser(host)
	return strings.ToLower(host)
}

// Values returns the decoded parts of an address that may be pieces of a longer text sent to the host: the values of its
// query, or without a query the last part of its path.
func (a Address) Values() (values []string) {
	query := a.query()
	if query == "" {
		_, rest := a.hostAndRest()
		name := rest[strings.LastIndexByte(rest, '/')+1:]
		if n := strings.LastIndexByte(name, '.'); n > 0 { // the extension of an image
			name = name[:n]
		}
		return []string{unquery(name)}
	}
	for part := range strings.SplitSeq(query, "&") {
		if _, value, found := strings.Cut(part, "="); found {
			part = value
		}
		values = append(values, unquery(part))
	}
	return values
}
