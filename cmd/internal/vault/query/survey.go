package query

import (
	"slices"
	"strings"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/regex"
)

// What is read off a regex before any engine has it: text that every match must
// contain.

// minRequired is the shortest text worth a search of its own.
const minRequired = 2

// requiredText returns the longest text that every match of a regex holds, nil
// if none is seen. It sees plain ASCII that stands in no group, and may miss
// some: it is only there to save time.
func requiredText(source string, exact bool) *needle {
	var runs []string
	var run []byte
	end := func() { runs, run = append(runs, string(run)), nil }
	depth := 0
	for at := 0; at < len(source); at = regex.Next(source, at) {
		c := source[at]
		switch {
		case c == '(':
			depth++
			end()
		case c == ')':
			depth--
			end()
		case depth > 0:
		case c == '|':
			return nil
		case c == '*' || c == '?':
			run = run[:max(len(run)-1, 0)]
			end()
		case c == '{':
			run = run[:max(len(run)-1, 0)]
			end()
			at += max(repetition(source[at:])-1, 0)
		case c == '\\':
			r, class, size := readEscape(source[at:])
			if size != 2 {
				return nil // what follows may belong to the escape
			}
			if class != 0 {
				end()
				break
			}
			run = append(run, byte(r))
		case strings.IndexByte("+^$.[]}", c) >= 0 || c >= utf8.RuneSelf:
			end()
		default:
			run = append(run, c)
		}
	}
	end()
	best := slices.MaxFunc(runs, func(a, b string) int { return len(a) - len(b) })
	if len(best) < minRequired {
		return nil
	}
	return newNeedle(best, exact)
}
