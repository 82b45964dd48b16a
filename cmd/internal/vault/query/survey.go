package query

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// What is read off a regex before any engine has it: whether JavaScript knows
// it, a spelling that compiles fast, and text that every match must hold.

// maxBroad is how many escapes for "anything but" a regex may hold within
// classes: each can cost the backtracking engine 15 milliseconds to compile.
const maxBroad = 32

// survey refuses groups that other dialects have and JavaScript does not, and
// what takes too long to compile.
func survey(source string) error {
	broad := 0
	for at := 0; at < len(source); {
		next := after(source, at)
		piece := source[at:next]
		if len(piece) > len(`\W`) {
			broad += strings.Count(piece, `\W`) + strings.Count(piece, `\S`) + strings.Count(piece, `\D`)
		}
		if rest, ok := strings.CutPrefix(source[at:], "(?"); ok && !knownGroup(rest) {
			return errors.New("unknown kind of group")
		}
		at = next
	}
	if broad > maxBroad {
		return errors.New(`too many of \W, \S and \D in classes`)
	}
	return nil
}

// knownGroup reports whether JavaScript knows a group that goes on like this.
func knownGroup(rest string) bool {
	if rest != "" && strings.IndexByte("=!<:", rest[0]) >= 0 {
		return true
	}
	flags, _, found := strings.Cut(rest, ":")
	return found && strings.Trim(flags, "ims-") == ""
}

// cheapSpelling returns a regex of the same meaning that the backtracking engine
// compiles in microseconds if case is to be ignored: classes that leave out
// little are cheap only as the opposite of what they leave out.
func cheapSpelling(source string, dotAll bool) string {
	var out strings.Builder
	for at := 0; at < len(source); {
		next := after(source, at)
		piece := source[at:next]
		switch {
		case piece == `\W` || piece == `\S` || piece == `\D`:
			piece = `[^\` + strings.ToLower(piece[1:]) + "]"
		case piece == "." && !dotAll:
			piece = `[^\n\r\u2028\u2029]`
		}
		out.WriteString(piece)
		at = next
	}
	return out.String()
}

// after returns where the next piece of a regex begins: behind a character, an
// escape or a class.
func after(source string, at int) int {
	switch source[at] {
	case '\\':
		return min(at+2, len(source))
	case '[':
		for at++; at < len(source) && source[at] != ']'; at++ {
			if source[at] == '\\' {
				at++
			}
		}
	}
	return min(at+1, len(source))
}

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
	for at := 0; at < len(source); at = after(source, at) {
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
