package audit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is how many bytes of a name are kept. A name is of a session, a
// client, a command; what is longer is none, and might be a text.
const maxName = 100

const ellipsis = "…"

// clean returns a name as it is kept: at most maxName bytes, with an escape for
// whatever a reader would not see, or would see as something else. Names come
// from clients, and a log is read in terminals.
func clean(name string) string {
	if isClean(name) {
		return name
	}
	var out strings.Builder
	fits := 0 // the length up to which the ellipsis fits behind it
	for len(name) > 0 {
		r, size := utf8.DecodeRuneInString(name)
		out.WriteString(escape(r, name[:size]))
		name = name[size:]
		if out.Len() > maxName {
			return out.String()[:fits] + ellipsis
		}
		if out.Len() <= maxName-len(ellipsis) {
			fits = out.Len()
		}
	}
	return out.String()
}

func isClean(name string) bool {
	if len(name) > maxName {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c < ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	return true
}

func escape(r rune, text string) string {
	switch {
	case r == utf8.RuneError && len(text) == 1:
		return fmt.Sprintf(`\x%02x`, text[0])
	case r == '\\':
		return `\\`
	case isVisible(r):
		return text
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// isVisible reports whether a reader sees r as itself. Beside what is no
// printable character those are left out that have no glyph.
func isVisible(r rune) bool {
	return unicode.IsPrint(r) && r != '\u2800' && // the empty braille pattern
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
