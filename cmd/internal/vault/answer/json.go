package answer

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// QuoteJSON writes a JSON string as JavaScript does, with < > & as they are.
func QuoteJSON(s string) string { return string(AppendJSON(nil, s)) }

// AppendJSON is [QuoteJSON] behind other bytes.
func AppendJSON(b []byte, s string) []byte {
	if isPlainJSON(s) {
		b = append(b, '"')
		b = append(b, s...)
		return append(b, '"')
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string always encodes
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

// isPlainJSON reports whether a text is the same between quotes.
func isPlainJSON(s string) bool {
	ascii := true
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c == '"' || c == '\\' {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	// Two characters end a line in JavaScript; they begin with the same bytes.
	return ascii || utf8.ValidString(s) && !strings.Contains(s, "\u2028"[:2])
}
