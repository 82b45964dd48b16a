package arguments

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"vaultwicket/gateway/mcpserver/wire"
)

// Text decodes a string of up to 1 MiB. A missing value and null are empty.
func Text(field string, raw json.RawMessage) (string, *Error) {
	if wire.IsNull(raw) {
		return "", nil
	}
	text, ok := wire.String(raw)
	if !ok {
		return "", Wrong(BadValue, field, "is "+typeName(raw)+", not a string", "send a string")
	}
	if loneSurrogate(raw) {
		return "", Wrong(BadValue, field, `contains half of a surrogate pair, such as "\ud83d" alone`, "send whole characters")
	}
	if len(text) > maxText {
		return "", Wrong(BadValue, field, fmt.Sprintf("is %d bytes long", len(text)), fmt.Sprintf("send up to %d bytes per value", maxText))
	}
	return text, nil
}

// loneSurrogate reports whether a JSON string escapes half of a surrogate pair.
// encoding/json replaces it by U+FFFD without an error, and a note would lose a character.
func loneSurrogate(raw json.RawMessage) bool {
	for rest := string(raw); ; {
		at := strings.IndexByte(rest, '\\')
		if at < 0 {
			return false
		}
		unit, size := escape(rest[at:])
		rest = rest[at+size:]
		if !utf16.IsSurrogate(unit) {
			continue
		}
		low, size := escape(rest)
		if utf16.DecodeRune(unit, low) == utf8.RuneError {
			return true
		}
		rest = rest[size:]
	}
}

// escape returns the UTF-16 unit of the \u escape that text begins with, or 0,
// and the length of the escape.
func escape(text string) (rune, int) {
	if !strings.HasPrefix(text, `\`) {
		return 0, 0
	}
	if !strings.HasPrefix(text, `\u`) || len(text) < 6 {
		return 0, 2
	}
	unit, err := strconv.ParseUint(text[2:6], 16, 16)
	if err != nil {
		return 0, 2
	}
	return rune(unit), 6
}
