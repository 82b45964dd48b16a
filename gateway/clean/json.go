package clean

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// InJSON turns the escapes that [Text] put into a text of JSON into those of JSON,
// so that it stays JSON. A backslash of the text itself is doubled there.
func InJSON(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		if end := strings.IndexByte(s, '}'); strings.HasPrefix(s, `\u{`) && end > 0 {
			if code, err := strconv.ParseUint(s[len(`\u{`):end], 16, 21); err == nil {
				writeJSONEscape(&b, rune(code))
				s = s[end+1:]
				continue
			}
		}
		b.WriteString(s[:2])
		s = s[2:]
	}
}

func writeJSONEscape(b *strings.Builder, r rune) {
	units := []uint16{uint16(r)}
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		units = []uint16{uint16(high), uint16(low)}
	}
	for _, unit := range units {
		b.WriteString(`\u` + strings.Repeat("0", 4-len(strconv.FormatUint(uint64(unit), 16))) + strconv.FormatUint(uint64(unit), 16))
	}
}
