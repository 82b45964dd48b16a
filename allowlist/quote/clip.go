// Package quote repeats words from outside in messages: shortened, and followed by
// the known word that was most likely meant. Every layer uses it, so it imports
// nothing of this module.
package quote

import (
	"strconv"
	"unicode/utf8"
)

// Limit is how many bytes of a text from outside a message usually repeats: the
// model or the user has to recognize it, not to read it again.
const Limit = 200

// Short returns text as messages repeat it: clipped to [Limit] bytes.
func Short(text string) string { return Clip(text, Limit) }

// Quoted returns [Short] of a text in quotation marks, with escapes as in a Go string.
func Quoted(text string) string { return strconv.Quote(Short(text)) }

// Clip returns text if it has at most limit bytes. A longer text is cut at the last
// character boundary within limit and ends with an ellipsis, which is not counted.
func Clip(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := max(limit, 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
