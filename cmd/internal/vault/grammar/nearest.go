package grammar

import (
	"cmp"
	"slices"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/allowlist/quote"
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
	for _, candidate := range allowlist.Commands() {
		if candidate.EmbeddedOnly {
			continue
		}
		most := max(1, len(candidate.Name)/3)
		if d := quote.Mistakes([]byte(name), []byte(candidate.Name), most); d <= most || slices.Contains(strings.Split(candidate.Name, ":"), name) {
			near = append(near, match{candidate.Name, d})
		}
	}
	slices.SortStableFunc(near, func(a, b match) int { return cmp.Compare(a.distance, b.distance) })
	names := []string{}
	for _, m := range near[:min(len(near), suggestions)] {
		names = append(names, m.name)
	}
	return names
}
