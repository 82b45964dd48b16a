package guard

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/url"
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
	addresses = lazily("(?i)\\bhttps?://[^\\s<>\"'`]+")
	// shows is what is in front of the address of an image.
	shows = lazily(`(?is)(?:!\[[^\]]*\]\(\s*<?|!\[[^\]]*\]:\s*|\bsrc(?:set)?\s*=\s*["']?|\bposter\s*=\s*["']?|\bdata\s*=\s*["']?|url\(\s*["']?|^\s*\w*(?:image|cover|banner|thumbnail|icon)\w*:\s*["']?)$`)
	// hasPlace is a place for a text in an address.
	hasPlace = lazily(`(?i)\{[^}]*\}|%7b|\$\w|<\w|\[[A-Z_ -]{3,}|\b(?:your|insert|put|the)[_-](?:data|text|notes?|secrets?|content)|\bDATA\b`)
)

// Addresses returns the addresses of http and https in a text, in order.
func Addresses(text []byte) (all []Address) {
	for end := 0; ; {
		m := addresses().FindIndex(text[end:])
		if m == nil {
			return all
		}
		start := end + m[0]
		end += m[1]
		open := 0
		for i, c := range text[start:end] { // the parenthesis that ends a link
			if c == '(' {
				open++
			} else if c == ')' && open == 0 {
				end = start + i
				break
			} else if c == ')' {
				open--
			}
		}
		address := string(bytes.TrimRight(text[start:end], ".,;:!?*_"))
		before := text[max(0, start-200):start]
		if n := bytes.LastIndexByte(before, '\n'); n >= 0 {
			before = before[n+1:]
		}
		all = append(all, Address{address, shows().Match(before)})
	}
}

// query returns what follows the path of an address.
func (a Address) query() string {
	if n := strings.IndexAny(a.Text, "?#"); n >= 0 {
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
	if !a.Image {
		return texts(a.query())
	}
	_, rest, _ := strings.Cut(a.Text, "://")
	host, rest, _ := strings.Cut(rest, "/")
	all := texts(rest)
	for label := range strings.SplitSeq(host, ".") {
		if len(label) > 2*leastCarried { // as in a name that only one server knows
			all = append(all, texts(label)...)
		}
	}
	return all
}

// texts returns the parts of a query, decoded.
func texts(query string) (all []string) {
	for part := range strings.FieldsFuncSeq(query, func(r rune) bool { return strings.ContainsRune("?&#;=/", r) }) {
		text, err := url.QueryUnescape(part)
		if err != nil {
			text = part
		}
		if len(text) < leastCarried {
			continue
		}
		all = append(all, text)
		bare := strings.TrimRight(text, "=")
		for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString} {
			if inner, err := decode(bare); err == nil && len(inner) >= leastCarried && utf8.Valid(inner) && bytes.IndexFunc(inner, unicode.IsControl) < 0 {
				all = append(all, string(inner))
				break
			}
		}
	}
	return all
}
