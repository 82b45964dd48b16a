package main

import (
	"fmt"
	"strings"
	"unicode"
)

// visible shows text from outside in our own messages: what a terminal would
// obey, or a reader would not see, stands there as an escape.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "\\u%04x", r)
	}
	return b.String()
}
