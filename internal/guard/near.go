package guard

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// Models often write a mark back a little differently: with other brackets or none, as an entity or an escape, with
// capitals or blanks. Such a near miss counts as the mark if it is clear which one is meant.

const (
	nearOpen  = `\\?(?:‹|<|«|⟨|〈|＜|❮|&(?:lsaquo|laquo|lt|#8249|#x2039|#171|#xab|#60|#x3c);|\\*u(?:2039|00ab|003c)|\\*x(?:ab|3c)|%e2%80%b9|%c2%ab|%3c)`
	nearClose = `\\?(?:›|>|»|⟩|〉|＞|❯|&(?:rsaquo|raquo|gt|#8250|#x203a|#187|#xbb|#62|#x3e);|\\*u(?:203a|00bb|003e)|\\*x(?:bb|3e)|%e2%80%ba|%c2%bb|%3e)`
	nearColon = `\s{0,3}\\?(?::|：|%3a|&colon;|&#58;)\s{0,3}`
)

var (
	nearMark = lazily(
		`(?i)(?:(` + nearOpen + `\s{0,3})|\b|\\[nrt])(secret)` + nearColon + `([a-z0-9-]{1,64})` + nearColon + `([0-9a-f]{1,64})\b(\s{0,3}` + nearClose + `)?`,
	)
	// ownBracket matches the brackets that only marks have, in any spelling.
	ownBracket = lazily(
		`(?i)^\s*\\?(?:[‹›]|&(?:lsaquo|rsaquo|#8249|#8250|#x2039|#x203a);|\\*u(?:2039|203a)|%e2%80%b[9a])\s*$`,
	)
)

// mayHaveNearMark reports whether a text has the word that each mark begins with, in its usual spellings.
func mayHaveNearMark(text []byte) bool {
	return bytes.Contains(text, []byte("ecret")) || bytes.Contains(text, []byte("ECRET"))
}

// MayHaveMark reports whether a text may contain a mark or a near miss of one.
func MayHaveMark(text []byte) bool {
	return HasMark(text) || mayHaveNearMark(text) && nearMark().Match(text)
}

// NearMark reports a text that looks like the mark of a secret but matches no known mark.
type NearMark struct{ Text string }

func (e *NearMark) Error() string {
	return e.Text + " is nearly the mark of a secret, and it is not clear of which"
}

// digitsOfMark is the number of hexadecimal digits in a mark.
const digitsOfMark = 6

// fixMarks replaces near misses of the marks of secrets with the marks. A near miss that the texts contain themselves
// is left alone; any other text that looks like a mark is a [*NearMark] error.
func fixMarks(text []byte, secrets map[string]*secret, texts [][]byte) ([]byte, error) {
	var out []byte
	copied := 0
	marks := Marks(text)
	for _, match := range nearMark().FindAllSubmatchIndex(text, -1) {
		if slices.ContainsFunc(marks, func(mark []int) bool { return mark[0] < match[1] && match[0] < mark[1] }) {
			continue
		}
		start, end := extent(text, match)
		if containsAsOften(text[start:end], text, texts) {
			continue
		}
		mark := markNamed(secrets, bytes.ToLower(text[match[6]:match[7]]), bytes.ToLower(text[match[8]:match[9]]))
		if mark == "" {
			digits := match[9] - match[8]
			hasKnownKind := digits >= 4 && IsKind(string(bytes.ToLower(text[match[6]:match[7]])))
			hasBrackets := match[2] >= 0 && match[10] >= 0
			isShaped := hasBrackets && digits == digitsOfMark
			if !hasKnownKind && !isShaped {
				continue
			}
			return nil, &NearMark{string(text[start:end])}
		}
		out = append(out, text[copied:start]...)
		out = append(out, mark...)
		copied = end
	}
	if out == nil {
		return text, nil
	}
	return append(out, text[copied:]...), nil
}

// extent returns the start and end of a near miss from a match of nearMark. Brackets that are common in other texts
// belong to it only if it has both.
func extent(text []byte, match []int) (start, end int) {
	hasOpen := match[2] >= 0
	hasClose := match[10] >= 0
	hasBoth := hasOpen && hasClose
	start = match[4]
	end = match[1]
	if hasOpen && (hasBoth || ownBracket().Match(text[match[2]:match[3]])) {
		start = match[2]
	}
	if hasClose && !hasBoth && !ownBracket().Match(text[match[10]:match[11]]) {
		end = match[10]
	}
	return start, end
}

// containsAsOften reports whether the texts together contain a piece at least as often as text does.
func containsAsOften(piece, text []byte, texts [][]byte) bool {
	count := 0
	for _, known := range texts {
		count += bytes.Count(known, piece)
	}
	return count >= bytes.Count(text, piece)
}

// markNamed returns the mark with a kind and digits, or with the digits alone if only one secret has them, or "".
func markNamed(secrets map[string]*secret, kind, digits []byte) string {
	if len(digits) != digitsOfMark {
		return ""
	}
	named := ""
	ending := ":" + string(digits) + "›"
	for mark, s := range secrets {
		if s.ambiguous || !strings.HasSuffix(mark, ending) {
			continue
		}
		if mark == markPrefix+string(kind)+ending {
			return mark
		}
		if named != "" {
			return ""
		}
		named = mark
	}
	return named
}

// fragmentOfMark returns a pattern for the remains of a mark that was written incorrectly: its beginning or its digits.
func fragmentOfMark(mark string) *regexp.Regexp {
	digits := mark[len(mark)-digitsOfMark-len("›") : len(mark)-len("›")]
	kind := mark[len(markPrefix) : len(mark)-digitsOfMark-len(":›")]
	quotedKind := regexp.QuoteMeta(kind)
	return regexp.MustCompile(`(?i)‹\s*secret` +
		`|` + nearOpen + `\s*secret\b` +
		`|(?:\b|\\[nrt])secret` + nearColon + quotedKind + `\b` +
		`|\b` + quotedKind + nearColon + digits +
		`|\b` + digits + `(?:\b|›)`)
}
