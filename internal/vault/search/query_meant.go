package search

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Meant returns the query that was probably meant by one in the words of other languages, such as
// AND, NOT, && and name=value, which are text in this one. It is "" for a query without such words.
func Meant(text string) string {
	if len(text) > maxLength {
		return ""
	}
	words := piecesOf(text)
	if first := words[0]; strings.EqualFold(first, "where") &&
		slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "=") }) {
		words = words[1:]
	}
	words = joinComparisons(words)
	var meant []string
	negated := false
	changed := false
	for i, w := range words {
		sides := i > 0 && i < len(words)-1
		switch {
		case w == "NOT" && i < len(words)-1:
			negated = !negated
			changed = true
			continue
		case sides && (w == "AND" || w == "&&"):
			changed = true
			continue
		case sides && w == "||":
			changed = true
			meant = append(meant, "OR")
			continue
		}
		mended := wordHere(w)
		changed = changed || mended != w
		if negated {
			mended = negate(mended)
			negated = false
		}
		meant = append(meant, mended)
	}
	if !changed || len(meant) == 0 {
		return ""
	}
	query := strings.Join(meant, " ")
	if _, err := ParseQuery(query, QueryOptions{}); err != nil {
		return ""
	}
	return query
}

// negate returns the opposite of a word of a query.
func negate(word string) string {
	if positive, isNegative := strings.CutPrefix(word, "-"); isNegative {
		return positive
	}
	return "-" + word
}

// piecesOf splits a query at blanks outside quotes and links.
func piecesOf(text string) []string {
	pieces := []string{""}
	inQuotes := false
	inLink := false
	for i, r := range text {
		last := len(pieces) - 1
		inLink = inLink && !strings.HasSuffix(text[:i], "]]")
		switch {
		case inLink:
		case r == '"':
			inQuotes = !inQuotes
		case !inQuotes && strings.HasPrefix(text[i:], "[["):
			inLink = strings.Contains(text[i:], "]]")
		}
		isBlank := r == ' ' || r == '\t' || r == '\n'
		if isBlank && !inQuotes && !inLink {
			if pieces[last] != "" {
				pieces = append(pieces, "")
			}
			continue
		}
		pieces[last] += string(r)
	}
	if last := len(pieces) - 1; last > 0 && pieces[last] == "" {
		pieces = pieces[:last]
	}
	return pieces
}

// joinComparisons joins comparisons that are written with blanks around the operator.
func joinComparisons(words []string) (joined []string) {
	for i := 0; i < len(words); i++ {
		isSign := slices.Contains([]string{"=", "==", "!="}, words[i])
		if isSign && len(joined) > 0 && i+1 < len(words) {
			joined[len(joined)-1] += words[i] + words[i+1]
			i++
			continue
		}
		joined = append(joined, words[i])
	}
	return joined
}

// comparison is name=value, in parentheses or not.
var comparison = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(-?\(*)([\pL][\pL\d_-]*)(={1,2}|!=)("[^"]*"|[^\s"'=()&?]+)(\)*)$`)
})

// wordHere returns a word of another language as it is written in this one, and any other word as it is.
func wordHere(w string) string {
	if strings.HasPrefix(w, "[[") && strings.HasSuffix(w, "]]") {
		return `"` + w + `"`
	}
	if strings.HasPrefix(w, "!") && len(w) > 1 && isASCIILetter(rune(w[1])) {
		return "-" + w[1:]
	}
	found := comparison().FindStringSubmatch(w)
	if found == nil {
		return w
	}
	before := found[1]
	name := found[2]
	sign := found[3]
	value := found[4]
	behind := found[5]
	if sign == "!=" {
		before += "-"
	}
	lower := strings.ToLower(name)
	switch {
	case lower == "tag" || lower == "tags":
		return before + "tag:#" + strings.TrimPrefix(strings.Trim(value, `"`), "#") + behind
	case slices.Contains(operators, lower):
		return before + lower + ":" + value + behind
	}
	for operator, others := range otherNames {
		if slices.Contains(others, lower) {
			return before + operator + ":" + value + behind
		}
	}
	return before + "[" + name + ":" + value + "]" + behind
}
