package grammar

import (
	"cmp"
	"slices"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
)

// suggestions is how many near names the app offers at most.
const suggestions = 3

// UnknownCommand is the app's answer to a command that it does not have. The
// app says this with what is registered; here the official names count, so
// that a slip is told from a plugin's command.
func UnknownCommand(name string) error {
	near := nearest(name)
	if len(near) == 0 {
		return answer.Misuse("Command %q not found. It may require a plugin to be enabled.", answer.Verbatim(name))
	}
	return answer.Misuse("Command %q not found. Did you mean: %s?", answer.Verbatim(name), strings.Join(near, ", "))
}

// nearest returns the official names most like name, the best first.
func nearest(name string) []string {
	const longest = 40 // no official name is longer; a text has no near name
	if name == "" || len(name) > longest {
		return nil
	}
	type match struct {
		name     string
		distance int
	}
	var near []match
	for _, candidate := range OfficialNames() {
		if d := distance(name, candidate); d <= max(1, len(candidate)/3) || isPart(name, candidate) {
			near = append(near, match{candidate, d})
		}
	}
	slices.SortStableFunc(near, func(a, b match) int { return cmp.Compare(a.distance, b.distance) })
	names := []string{}
	for _, m := range near[:min(len(near), suggestions)] {
		names = append(names, m.name)
	}
	return names
}

// isPart reports whether name is one of the parts of candidate that colons
// separate.
func isPart(name, candidate string) bool {
	return slices.Contains(strings.Split(candidate, ":"), name)
}

// distance counts the insertions, deletions and replacements of bytes that
// make b of a, and swaps of two neighbours as one.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		above := row
		row = make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+unequal(a[i], b[j]))
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before = above
	}
	return row[len(b)]
}

func unequal(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}
