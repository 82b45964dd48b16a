package answer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// Place returns the name of the searched part of the vault for notices: the folder as typed, or "the vault".
func Place(folder string) string {
	if bare := strings.Trim(folder, "/"); bare != "" {
		return fmt.Sprintf("%q", Verbatim(excerpt.Short(bare)))
	}
	return "the vault"
}

// Count formats a number of things: "1 note", "6 notes".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// Map returns the results of convert for the elements of a list.
func Map[T, U any](list []T, convert func(T) U) []U {
	results := make([]U, len(list))
	for i, element := range list {
		results[i] = convert(element)
	}
	return results
}

// AndMore appends the number of things that a list leaves out, if there are any.
func AndMore(list string, left int) string {
	if left > 0 {
		list += fmt.Sprintf(" and %d more", left)
	}
	return list
}
