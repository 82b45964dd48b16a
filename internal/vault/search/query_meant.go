package search

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Meant translates a query that uses the syntax of other query languages, such as AND, NOT, && and
// name=value, which are plain text here. It returns "" if there is nothing to translate, or if the
// translation does not parse.
func Meant(text string) string {
	if len(text) > maxLength {
		return ""
	}
	words := splitWords(text)
	hasEquals := func(word string) bool { return strings.Contains(word, "=") }
	isSQL := strings.EqualFold(words[0], "where") && slices.ContainsFunc(words, hasEquals)
	if isSQL {
		words = words[1:]
	}
	words = joinComparisons(words)
	var meant []string
	negated := false
	changed := false
	for i, w := range words {
		isBetween := i > 0 && i < len(words)-1
		switch {
		case w == "NOT" && i < len(words)-1:
			negated = !negated
			changed = true
		case isBetween && (w == "AND" || w == "&&"):
			changed = true
		case isBetween && w == "||":
			changed = true
			meant = append(meant, "OR")
		default:
			translated := translateWord(w)
			changed = changed || translated != w
			if negated {
				translated = negate(translated)
				negated = false
			}
			meant = append(meant, translated)
		}
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

// negate adds a dash to a word of a query, or removes the one that it has.
func negate(word string) string {
	if positive, isNegative := strings.CutPrefix(word, "-"); isNegative {
		return positive
	}
	return "-" + word
}

// splitWords splits a query at blanks outside quotes and links.
func splitWords(text string) []string {
	words := []string{""}
	inQuotes := false
	inLink := false
	for i, r := range text {
		last := len(words) - 1
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
			if words[last] != "" {
				words = append(words, "")
			}
			continue
		}
		words[last] += string(r)
	}
	if last := len(words) - 1; last > 0 && words[last] == "" {
		words = words[:last]
	}
	return words
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

// comparison matches name=value and name!=value, with or without parentheses around it.
var comparison = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(-?\(*)([\pL][\pL\d_-]*)(={1,2}|!=)("[^"]*"|[^\s"'=()&?]+)(\)*)$`)
})

// translateWord translates a word from another query language. It returns other words unchanged.
func translateWord(w string) string {
	if strings.HasPrefix(w, "[[") && strings.HasSuffix(w, "]]") {
		return `"` + w + `"`
	}
	if strings.HasPrefix(w, "!") && len(w) > 1 && isASCIILetter(rune(w[1])) {
		return "-" + w[1:]
	}
	match := comparison().FindStringSubmatch(w)
	if match == nil {
		return w
	}
	before := match[1]
	name := match[2]
	sign := match[3]
	value := match[4]
	behind := match[5]
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
	if operator := operatorNamed(lower); operator != "" {
		return before + operator + ":" + value + behind
	}
	return before + "[" + name + ":" + value + "]" + behind
}
