package quote

import "fmt"

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
// swap of neighbours) of at most a third of the word, and at least 2 for words
// of four letters and more. Ties go to the first entry. A word of more than [Limit]
// bytes is close to none.
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
		if d := distance(word, candidate, limit); d <= limit {
			best, limit = candidate, d-1
		}
	}
	return best
}

// distance is the optimal string alignment distance of a and b in bytes. It
// gives up with limit+1 when the lengths alone differ by more than limit.
func distance(a, b string, limit int) int {
	if max(len(a), len(b))-min(len(a), len(b)) > limit {
		return limit + 1
	}
	before, previous, current := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous, current = previous, current, before
	}
	return previous[len(b)]
}
