package guard

import (
	"bytes"
	"regexp"
	"slices"
)

// A model that writes a mark back often writes it a little differently: with other brackets or none, as an entity or
// an escape, with capitals or blanks. What is nearly a mark counts as one where it is clear which.

const (
	nearOpen  = `\\?(?:‹|<|«|⟨|〈|＜|❮|&(?:lsaquo|laquo|lt|#8249|#x2039|#171|#xab|#60|#x3c);|\\*u(?:2039|00ab|003c)|\\*x(?:ab|3c)|%e2%80%b9|%c2%ab|%3c)`
	nearClose = `\\?(?:›|>|»|⟩|〉|＞|❯|&(?:rsaquo|raquo|gt|#8250|#x203a|#187|#xbb|#62|#x3e);|\\*u(?:203a|00bb|003e)|\\*x(?:bb|3e)|%e2%80%ba|%c2%bb|%3e)`
	nearColon = `\s{0,3}\\?(?::|：|%3a|&colon;|&#58;)\s{0,3}`
)

var (
	nearMark = lazily(
		`(?i)(?:(` + nearOpen + `\s{0,3})|\b|\\[nrt])(secret)` + nearColon + `([a-z0-9-]{1,64})` + nearColon + `([0-9a-f]{1,64})\b(\s{0,3}` + nearClose + `)?`,
	)
	// ownBracket is a bracket of marks, however it is written: that of a mark alone.
	ownBracket = lazily(
		`(?i)^\s*\\?(?:[‹›]|&(?:lsaquo|rsaquo|#8249|#8250|#x2039|#x203a);|\\*u(?:2039|203a)|%e2%80%b[9a])\s*$`,
	)
)

// mayBeNear reports whether a text has the word that each mark begins with, in its usual spellings.
func mayBeNear(text []byte) bool {
	return bytes.Contains(text, []byte("ecret")) || bytes.Contains(text, []byte("ECRET"))
}

// MayHaveMark reports whether a text may have a mark, or something that is nearly one.
func MayHaveMark(text []byte) bool { return HasMark(text) || mayBeNear(text) && nearMark().Match(text) }

// NearMark says that a text has something that looks like the mark of a secret and is none that is known.
type NearMark struct{ Text string }

func (e *NearMark) Error() string {
	return e.Text + " is nearly the mark of a secret, and it is not clear of which"
}

// digitsOfMark is how many digits a mark has.
const digitsOfMark = 6

// nearly puts marks in place of what is nearly the mark of one of the secrets. What the texts have themselves stays as
// it is; for anything else that looks like a mark the error is a [*NearMark].
func nearly(text []byte, secrets map[string]*secret, texts [][]byte) ([]byte, error) {
	var out []byte
	done := 0
	marks := Marks(text)
	for _, at := range nearMark().FindAllSubmatchIndex(text, -1) {
		if slices.ContainsFunc(marks, func(mark []int) bool { return mark[0] < at[1] && at[0] < mark[1] }) {
			continue
		}
		start, end := extent(text, at)
		if isIn(text[start:end], text, texts) {
			continue
		}
		mark := markNamed(secrets, bytes.ToLower(text[at[6]:at[7]]), bytes.ToLower(text[at[8]:at[9]]))
		if mark == "" {
			isOfKind := IsKind(string(bytes.ToLower(text[at[6]:at[7]]))) && at[9]-at[8] >= 4
			isShaped := at[2] >= 0 && at[10] >= 0 && at[9]-at[8] == digitsOfMark
			if !isOfKind && !isShaped {
				continue
			}
			return nil, &NearMark{string(text[start:end])}
		}
		out = append(append(out, text[done:start]...), mark...)
		done = end
	}
	if out == nil {
		return text, nil
	}
	return append(out, text[done:]...), nil
}

// extent returns where something that is nearly a mark begins and ends. A bracket that other texts have, too, is a
// part of it where both are there.
func extent(text []byte, at []int) (start, end int) {
	hasOpen := at[2] >= 0
	hasClose := at[10] >= 0
	both := hasOpen && hasClose
	start = at[4]
	end = at[1]
	if hasOpen && (both || ownBracket().Match(text[at[2]:at[3]])) {
		start = at[2]
	}
	if hasClose && !both && !ownBracket().Match(text[at[10]:at[11]]) {
		end = at[10]
	}
	return start, end
}

// isIn reports whether some texts have a piece as often as a text has it.
func isIn(piece, text []byte, texts [][]byte) bool {
	times := 0
	for _, known := range texts {
		times += bytes.Count(known, piece)
	}
	return times >= bytes.Count(text, piece)
}

// markNamed returns the mark of one of the secrets by its kind and its digits, or by its digits alone if they are those
// of one secret; "" if there is none.
func markNamed(secrets map[string]*secret, kind, digits []byte) string {
	if len(digits) != digitsOfMark {
		return ""
	}
	named := ""
	for mark, s := range secrets {
		if s.ambiguous || !bytes.HasSuffix([]byte(mark), append([]byte(":"), append(digits, "›"...)...)) {
			continue
		}
		if mark == markBegins+string(kind)+":"+string(digits)+"›" {
			return mark
		}
		if named != "" {
			return ""
		}
		named = mark
	}
	return named
}

// partOfMark is what is left of a mark that is written wrongly: its beginning, or its digits.
func partOfMark(mark string) *regexp.Regexp {
	digits := mark[len(mark)-digitsOfMark-len("›") : len(mark)-len("›")]
	kind := mark[len(markBegins) : len(mark)-digitsOfMark-len(":›")]
	return regexp.MustCompile(
		`(?i)‹\s*secret|` + nearOpen + `\s*secret\b|(?:\b|\\[nrt])secret` + nearColon + regexp.QuoteMeta(
			kind,
		) + `\b|\b` + regexp.QuoteMeta(
			kind,
		) + nearColon + digits + `|\b` + digits + `(?:\b|›)`,
	)
}
