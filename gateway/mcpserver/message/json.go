package message

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"vaultwicket/allowlist/quote"
)

const (
	// MaxInteger is the largest integer that all JSON readers decode alike.
	MaxInteger = 1 << 53

	// Space is the white space that JSON allows around a document, and nothing else.
	Space = " \t\r\n"
)

// String decodes a valid JSON value without leading space that is a string, false for any
// other. As with encoding/json, half of a surrogate pair becomes U+FFFD.
func String(raw json.RawMessage) (string, bool) {
	switch {
	case !IsString(raw):
		return "", false
	case bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw):
		return string(raw[1 : len(raw)-1]), true
	}
	return unescaped(raw)
}

// unescaped is apart, because what encoding/json writes to is on the heap.
func unescaped(raw json.RawMessage) (text string, ok bool) {
	err := json.Unmarshal(raw, &text)
	return text, err == nil
}

// IsString reports whether a valid JSON value without leading space is a string.
func IsString(raw json.RawMessage) bool { return bytes.HasPrefix(raw, []byte(`"`)) }

// IsObject reports whether a valid JSON value without leading space is an object.
func IsObject(raw json.RawMessage) bool { return bytes.HasPrefix(raw, []byte("{")) }

// IsNull reports whether a JSON value is missing or null.
func IsNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// Clip returns [quote.Short] of a text with control characters replaced.
func Clip(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, quote.Short(text))
}

// Encode returns v as JSON. It panics on a value that cannot be encoded; callers pass
// only maps, strings and numbers.
func Encode(v any) []byte {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return line
}
