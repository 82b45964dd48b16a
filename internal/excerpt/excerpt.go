// Package excerpt quotes untrusted text in messages: shortened, and followed by the known word that was most likely
// meant. Every layer uses it, so it imports nothing of this module.
package excerpt

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limit is how many bytes of an untrusted text a message usually quotes: enough for
// the model or user to recognize it.
const Limit = 200

// Short returns text for a message, clipped to [Limit] bytes.
func Short(text string) string { return Clip(text, Limit) }

// Quoted returns [Short] of a text in quotation marks, with escapes as in a Go string. Unicode spaces are not
// escaped: file names contain them, and a name has to be sent back as it is.
func Quoted(text string) string {
	text = Short(text)
	quoted := strconv.Quote(text)
	if !strings.Contains(quoted, `\u`) { // no Unicode space was escaped
		return quoted
	}
	var out strings.Builder
	out.WriteByte('"')
	for text != "" {
		space := strings.IndexFunc(text, isUnicodeSpace)
		if space < 0 {
			space = len(text)
		}
		part := strconv.Quote(text[:space])
		out.WriteString(part[1 : len(part)-1])
		_, size := utf8.DecodeRuneInString(text[space:])
		out.WriteString(text[space : space+size])
		text = text[space+size:]
	}
	out.WriteByte('"')
	return out.String()
}

// isUnicodeSpace reports whether r is a space other than that of ASCII.
func isUnicodeSpace(r rune) bool { return r >= utf8.RuneSelf && unicode.Is(unicode.Zs, r) }

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

// DidYouMean returns the end of a sentence about an unknown word, such as
// `; did you mean "read"?`, or "" when no entry of list is close.
func DidYouMean(word string, list []string) string {
	if near := Nearest(word, list); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// Nearest returns the entry of list that word was most likely meant to be, or
// "" when none is close. Close is an edit distance (insert, delete, replace,
// swap of neighbours) of at most a third of the word's bytes, but no less than 1,
// and no less than 2 for words of four bytes and more. Ties go to the first entry.
// A word of more than [Limit] bytes is close to none.
func Nearest(word string, list []string) string {
	if len(word) > Limit {
		return ""
	}
	limit := max(len(word)/3, 1)
	if len(word) >= 4 {
		limit = max(limit, 2)
	}
	best := ""
	for _, candidate := range list {
		distance := Mistakes([]byte(word), []byte(candidate), limit)
		if distance <= limit {
			best = candidate
			limit = distance - 1
		}
	}
	return best
}

// usualWord is the length in elements up to which [Mistakes] compares words without allocating memory.
const usualWord = 31

// Mistakes returns the optimal string alignment distance of a and b: how many elements are
// missing, superfluous, wrong, or swapped with their neighbour. It returns limit+1 as soon
// as the distance exceeds limit.
func Mistakes[T comparable](a, b []T, limit int) int {
	if max(len(a), len(b))-min(len(a), len(b)) > limit {
		return limit + 1
	}
	var short [3 * (usualWord + 1)]int // on the stack: a word may be compared with all words of a vault
	rows := short[:]
	columns := len(b) + 1
	if columns > usualWord+1 {
		rows = make([]int, 3*columns)
	}
	twoAbove := rows[:columns]
	above := rows[columns : 2*columns]
	row := rows[2*columns : 3*columns]
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		rowMin := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			hasPair := i > 1 && j > 1
			if hasPair && a[i-1] == b[j-2] && a[i-2] == b[j-1] { // two neighbours are exchanged
				row[j] = min(row[j], twoAbove[j-2]+1)
			}
			rowMin = min(rowMin, row[j])
		}
		if rowMin > limit {
			return limit + 1
		}
		twoAbove, above, row = above, row, twoAbove
	}
	return min(above[len(b)], limit+1)
}

// JSON returns a value as encoding/json writes it, without HTML escaping, which would turn each <, > and & into six
// characters.
func JSON(value any) (string, error) {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSuffix(out.String(), "\n"), err
}
