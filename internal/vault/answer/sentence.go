package answer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// Place is the searched part of the vault in notices: the folder as it was typed, or the vault.
func Place(folder string) string {
	if bare := strings.Trim(folder, "/"); bare != "" {
		return fmt.Sprintf("%q", Verbatim(excerpt.Short(bare)))
	}
	return "the vault"
}

// Count writes a number of things out: "1 note", "6 notes".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// Map returns what of makes of each element of a list.
func Map[T, U any](list []T, of func(T) U) []U {
	all := make([]U, len(list))
	for i, element := range list {
		all[i] = of(element)
	}
	return all
}

// AndMore returns a list with how many things it leaves out, if there are any.
func AndMore(list string, left int) string {
	if left > 0 {
		list += fmt.Sprintf(" and %d more", left)
	}
	return list
}
