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

// Address is an address on another machine in a text.
type Address struct {
	Text  string
	Image bool // it is fetched when the text is shown
}

var (
	// addresses have a scheme, also one that is none of the web: a program opens it when a person follows the link. Browsers
	// need no slashes behind those of the web.
	addresses = lazily(
		"(?i)\\b(?:[a-z][a-z0-9+.-]*:[/\\\\]{1,4}[^\\s<>\"'`/\\\\]|(?:https?|wss?|ftp):[a-z0-9\\[]|(?:mailto|sms|smsto|tel|xmpp):[^\\s<>\"'`?]*\\?)[^\\s<>\"'`]*",
	)
	// ownScheme is that of the app and of what is no address.
	ownScheme = lazily(`(?i)^(?:obsidian|app|capacitor|data|javascript|about|blob|[a-z]):`)
	// brokenScheme is one with tabs or ends of lines in it, which browsers leave out.
	brokenScheme = lazily(`(?i)h[\t\r\n]*t[\t\r\n]*t[\t\r\n]*p[\t\r\n]*s?[\t\r\n]*:[\t\r\n]*[/\\]`)
	// localFile is the address of a file of this machine.
	localFile = lazily(`(?i)^file:(?:///[^/]|/[^/])`)
	// relative is an address with the scheme of the page.
	relative = lazily(
		"(?im)(?:\\b(?:src(?:set)?|href|poster|data|action|background|cite)\\s*=\\s*[\"']?|\\]\\(\\s*<?|\\]:\\s*<?|url\\(\\s*[\"']?|" +
			"^\\s*\\w*(?:image|cover|banner|thumbnail|icon)\\w*:\\s*[\"']?)([/\\\\]{2}[^\\s<>\"'`/\\\\][^\\s<>\"'`]+)",
	)
	// shows is what is in front of the address of an image.
	shows = lazily(
		`(?is)(?:!\[[^\]]*\]\(\s*<?|!\[[^\]]*\]:\s*|\bsrc(?:set)?\s*=\s*["']?|\bposter\s*=\s*["']?|\bdata\s*=\s*["']?|url\(\s*["']?|^\s*\w*(?:image|cover|banner|thumbnail|icon)\w*:\s*["']?)$`,
	)
	// hasPlace is a place for a text in an address.
	hasPlace = lazily(
		`(?i)\{[^}]*\}|%7b|\$\w|<\w|\[[A-Z_ -]{3,}|\b(?:your|insert|put|the)[_-](?:data|text|notes?|secrets?|content)|\bDATA\b`,
	)
)

// longestAddress is how far an address is read that is in quotes or in brackets, where it can have blanks.
const longestAddress = 8 << 10

// Addresses returns the addresses on other machines in a text, in order, and then those that are in it once it is
// decoded: as a string of JSON, as HTML.
func Addresses(text []byte) []Address {
	all := addressesIn(text)
	if !mayHaveAddress(text) {
		return all
	}
	addDecoded := func(text []byte) {
		for range maxEntityLevels {
			v := withoutEntities(text)
			if v == nil {
				return
			}
			text = v.text
			all = append(all, addressesIn(text)...)
		}
	}
	levels, _ := levelsOf(text)
	for _, l := range levels {
		if !l.isHTML { // what is made of it is below
			all = append(all, addressesIn(l.text)...)
			addDecoded(l.text)
		}
	}
	addDecoded(text)
	return all
}

// mayHaveAddress reports whether a text can have an address that is only one when it is decoded.
func mayHaveAddress(text []byte) bool {
	hasEscape := bytes.IndexByte(text, '\\') >= 0 || bytes.IndexByte(text, 0) >= 0 || bytes.Contains(text, []byte("%3"))
	return hasEscape || bytes.IndexByte(text, '&') >= 0
}

// addressesIn returns the addresses of a text as it is.
func addressesIn(text []byte) (all []Address) {
	hasImages := bytes.Contains(text, []byte("!["))
	words := addressWords{text: text}
	for end := 0; ; {
		start, stop, found := words.match(end)
		if !found {
			break
		}
		end = addressEnd(text, start, stop)
		followsEscape := start > 0 && (text[start-1] == '\\' || text[start-1] == ';')
		if followsEscape && text[start]|0x20 != 'h' {
			continue // the rest of an escape or an entity
		}
		address := string(bytes.TrimRight(text[start:end], ".,;:!?*_"))
		if localFile().MatchString(address) || ownScheme().MatchString(address) {
			continue
		}
		before := text[max(0, start-200):start]
		if n := bytes.LastIndexByte(before, '\n'); n >= 0 {
			before = before[n+1:]
		}
		isImage := shows().Match(before) || hasImages && definition().Match(before)
		all = append(all, Address{address, isImage})
	}
	for _, m := range brokenSchemesIn(text) {
		end := addressEnd(text, m[0], m[1])
		all = append(all, Address{string(withoutEnds(text[m[0]:max(end, m[1])])), true})
	}
	for _, m := range relativeIn(text) {
		end := addressEnd(text, m[0], m[1])
		all = append(all, Address{string(text[m[0]:end]), true})
	}
	return all
}

// definition is what is in front of the address of a definition, which an image may use.
var definition = lazily(`^[ \t>]*\[[^\]]*\]:\s*<?$`)

// withoutEnds leaves out what browsers leave out of an address.
func withoutEnds(address []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r == '\t' || r == '\r' || r == '\n' {
			return -1
		}
		return r
	}, address)
}

// closings are what ends an address by what stands before it.
var closings = map[byte]string{'<': ">", '"': "\"", '\'': "'"}

// addressEnd returns where an address ends that begins at start, and has no blank up to end: in quotes and brackets at
// their end, else before the parenthesis that ends a link.
func addressEnd(text []byte, start, end int) int {
	before := start
	for before > 0 && (text[before-1] == ' ' || text[before-1] == '\t') {
		before--
	}
	if before > 0 && (before == start || text[before-1] != '<') {
		closing := closings[text[before-1]]
		rest := text[start:min(len(text), start+longestAddress)]
		if n := bytes.Index(rest, []byte(closing)); closing != "" && n >= 0 &&
			!bytes.Contains(rest[:n], []byte("\n\n")) {
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

// query returns what follows the path of an address.
func (a Address) query() string {
	if n := strings.IndexAny(a.Text, "?#;"); n >= 0 {
		return a.Text[n+1:]
	}
	return ""
}

// leastCarried is how many bytes a part of an address has at least that can carry a text.
const leastCarried = 8

// Carried returns the texts that an address carries: the parts of what follows the path, and for an
// image of all that follows the scheme, each as it is, and decoded where it is in hexadecimal digits or in
// base64.
func (a Address) Carried() []string {
	host, rest := a.hostAndRest()
	user, host := cutUser(host)
	if !a.Image {
		return append(partsOf(user), partsOf(a.query())...)
	}
	all := append(partsOf(user), partsOf(rest)...)
	if strings.Count(host, ".") > 2 { // a word in each label
		all = append(all, strings.ReplaceAll(host, ".", " "))
	}
	for label := range strings.SplitSeq(host, ".") {
		if len(label) > 2*leastCarried { // as in a name that only one server knows
			all = append(all, partsOf(label)...)
		}
	}
	return all
}

// cutUser divides a host from the name of a user in front of it.
func cutUser(host string) (user, rest string) {
	if n := strings.LastIndexByte(host, '@'); n >= 0 {
		return host[:n], host[n+1:]
	}
	return "", host
}

// hostAndRest returns what follows the scheme.
func (a Address) hostAndRest() (host, rest string) {
	text := strings.ReplaceAll(a.Text, "\\", "/")
	scheme := strings.IndexByte(text, ':') + 1
	if n := strings.IndexByte(text, '/'); n >= 0 && n < scheme { // it has none
		scheme = 0
	}
	host, rest, _ = strings.Cut(strings.TrimLeft(text[scheme:], "/"), "/")
	return host, rest
}

// Joined returns the texts whose words are the parts of an address, joined by what is between parts. Of the path of a
// link they are those where each part is a word.
func (a Address) Joined() (all []string) {
	_, rest := a.hostAndRest()
	path, _, _ := strings.Cut(rest, "?")
	joined := []string{a.query()}
	if a.Image {
		joined = []string{rest}
	} else if isPathOfWords(path) {
		joined = append(joined, path)
	}
	for _, text := range joined {
		text = strings.Trim(text, separators)
		isOne := !strings.ContainsAny(text, separators) && !strings.ContainsAny(text, "% ")
		if isOne {
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
			if !slices.Contains(all, words) {
				all = append(all, words)
			}
		}
	}
	return all
}

// isPathOfWords reports whether each part of a path is a word, or has blanks between words.
func isPathOfWords(path string) bool {
	isOther := func(r rune) bool { return r != '/' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	hasBlanks := strings.Contains(path, "%20") || strings.Contains(path, " ")
	return hasBlanks || strings.IndexFunc(path, isOther) < 0
}

func isSeparatorOfParts(r rune) bool { return strings.ContainsRune(separators, r) }

// unquery decodes a part of a query, as often as it can be.
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

// separators are between the parts of a query or a path.
const separators = "?&#;=/"

// partsOf returns the parts of a query, decoded.
func partsOf(query string) (all []string) {
	for part := range strings.FieldsFuncSeq(query, isSeparatorOfParts) {
		text := unquery(part)
		if len(text) < leastCarried {
			continue
		}
		all = append(all, text)
		bare := strings.TrimRight(text, "=")
		for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString} {
			if inner, err := decode(bare); err == nil && len(inner) >= leastCarried && utf8.Valid(inner) &&
				bytes.IndexFunc(inner, unicode.IsControl) < 0 {
				all = append(all, string(inner))
				break
			}
		}
	}
	return all
}

// Host returns the host of an address in small letters, with its port, and Values what it carries there that may be a piece
// of something longer: the values of its query, or else the last part of its path, decoded.
func (a Address) Host() string {
	host, _ := a.hostAndRest()
	_, host = cutUser(host)
	return strings.ToLower(host)
}

// Values returns what an address carries that may be a piece of something longer, see [Address.Host].
func (a Address) Values() (all []string) {
	query := a.query()
	if query == "" {
		_, rest := a.hostAndRest()
		name := rest[strings.LastIndexByte(rest, '/')+1:]
		if n := strings.LastIndexByte(name, '.'); n > 0 { // what says that it is an image
			name = name[:n]
		}
		return []string{unquery(name)}
	}
	for part := range strings.SplitSeq(query, "&") {
		if _, value, found := strings.Cut(part, "="); found {
			part = value
		}
		all = append(all, unquery(part))
	}
	return all
}
