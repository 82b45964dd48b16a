package pairs

import (
	"fmt"
	"strings"
)

// row is what the table says of a pair.
type row struct {
	line   int
	a, b   string
	tests  []string
	reason string // where there are no tests
}

// minReason is how many words a reason has at least.
const minReason = 6

// parseFeatures reads the list of features.
func parseFeatures(text string) (names []string, problems []string) {
	seen := map[string]bool{}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		name, meaning, ok := strings.Cut(line, "\t")
		switch {
		case !ok || name == "" || strings.TrimSpace(meaning) == "":
			problems = append(problems, fmt.Sprintf("features, line %d: %q is no name and its meaning", i+1, line))
		case seen[name]:
			problems = append(problems, fmt.Sprintf("features, line %d: %q is there twice", i+1, name))
		default:
			seen[name] = true
			names = append(names, name)
		}
	}
	return names, problems
}

// parseRows reads the table.
func parseRows(text string) (rows []row, problems []string) {
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if len(cells) != 3 {
			problems = append(problems, fmt.Sprintf("line %d has %d cells, want 3", i+1, len(cells)))
			continue
		}
		r := row{line: i + 1, a: cells[0], b: cells[1]}
		if reason, ok := strings.CutPrefix(cells[2], "-"); ok {
			r.reason = strings.TrimSpace(reason)
		} else {
			r.tests = strings.Fields(cells[2])
		}
		if len(r.tests) == 0 && len(strings.Fields(r.reason)) < minReason {
			problems = append(problems, fmt.Sprintf("line %d: %s and %s have neither a test nor a reason of %d words", r.line, r.a, r.b, minReason))
		}
		rows = append(rows, r)
	}
	return rows, problems
}

// check returns what is wrong with the rows: each pair of the features has one, in
// the order of the features, and each test that it names is known.
func check(features []string, rows []row, known func(test string) bool) (problems []string) {
	place := map[string]int{}
	for i, name := range features {
		place[name] = i + 1
	}
	seen := map[[2]string]int{}
	for _, r := range rows {
		switch a, b := place[r.a], place[r.b]; {
		case a == 0 || b == 0:
			problems = append(problems, fmt.Sprintf("line %d: %q and %q are not both features", r.line, r.a, r.b))
		case a >= b:
			problems = append(problems, fmt.Sprintf("line %d: %s and %s are not in the order of the features", r.line, r.a, r.b))
		case seen[[2]string{r.a, r.b}] > 0:
			problems = append(problems, fmt.Sprintf("line %d: %s and %s are on line %d too", r.line, r.a, r.b, seen[[2]string{r.a, r.b}]))
		}
		seen[[2]string{r.a, r.b}] = r.line
		for _, test := range r.tests {
			if !known(test) {
				problems = append(problems, fmt.Sprintf("line %d: there is no test %s", r.line, test))
			}
		}
	}
	for i, a := range features {
		for _, b := range features[i+1:] {
			if seen[[2]string{a, b}] == 0 {
				problems = append(problems, fmt.Sprintf("%s and %s have no row", a, b))
			}
		}
	}
	return problems
}
