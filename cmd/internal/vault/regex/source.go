package regex

import (
	"errors"
	"strings"
)

// maxBroad is how many escapes for "anything but" a regex may hold within
// classes: each can cost the backtracking engine 15 milliseconds to compile.
const maxBroad = 32

// check refuses groups that other dialects have and JavaScript does not, and
// what takes too long to compile.
func check(source string) error {
	broad := 0
	for at := 0; at < len(source); {
		next := Next(source, at)
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
		next := Next(source, at)
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

// Next returns where the next piece of a regex begins: behind a character, an
// escape or a class.
func Next(source string, at int) int {
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
