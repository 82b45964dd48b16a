package notes

import (
	"fmt"
	"slices"
	"strings"
)

// maxLeftNames is how many placeholders a notice names.
const maxLeftNames = 5

// leftOver says what a template holds that only a plugin of the app would fill in: commands of
// Templater, and placeholders with a name that is not known here. "" if there is nothing.
func leftOver(text string) string {
	var parts []string
	if n := strings.Count(text, "<%"); n > 0 {
		parts = append(parts, fmt.Sprintf("Templater commands (<%% %%>): %d", n))
	}
	if names := placeholders(text); len(names) > 0 {
		more := ""
		if len(names) > maxLeftNames {
			names, more = names[:maxLeftNames], " and more"
		}
		parts = append(parts, "placeholders: {{"+strings.Join(names, "}}, {{")+"}}"+more)
	}
	if len(parts) == 0 {
		return ""
	}
	return "the template has parts that were left as they are, because no plugin runs here: " + strings.Join(parts, "; ")
}

// placeholders returns the names between double braces, each once. What is no plain name, such
// as code, is none.
func placeholders(text string) (names []string) {
	for {
		_, rest, found := strings.Cut(text, "{{")
		if !found {
			return names
		}
		inner, _, closed := strings.Cut(rest[:min(len(rest), maxVariable)], "}}")
		if name := strings.TrimSpace(inner); closed && isPlaceholder(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
		text = rest
	}
}

// longestPlaceholder is longer than the names that plugins have for their variables.
const longestPlaceholder = 30

func isPlaceholder(name string) bool {
	const known = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:. "
	return name != "" && len(name) <= longestPlaceholder && strings.Trim(name, known) == ""
}
