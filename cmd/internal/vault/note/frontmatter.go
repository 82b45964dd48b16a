package note

import "bytes"

// BodyStart returns where the body of a note begins: behind the block of
// properties at its very start, or behind a byte order mark, or at 0.
//
// The block is what stands between a first line "---" and the next such line;
// whether it is good YAML does not matter here, because text put in front of a
// broken block would hide it for ever. For the same reason blanks behind the
// dashes and a byte order mark before them are forgiven.
func BodyStart(text []byte) int {
	start := len(text) - len(bytes.TrimPrefix(text, []byte(bom)))
	rest, ok := fence(text[start:])
	if !ok || len(rest) == 0 {
		return start
	}
	for len(rest) > 0 {
		if after, ok := fence(rest); ok {
			return len(text) - len(after)
		}
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	return start
}

// fence returns what follows the first line of text, if that line is a fence.
func fence(text []byte) (rest []byte, ok bool) {
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	return rest, string(bytes.TrimRight(line, " \t")) == "---"
}

// endsInFrontmatter reports whether text is a block of properties and nothing
// else.
func endsInFrontmatter(text []byte) bool {
	start := BodyStart(text)
	return start == len(text) && start > len(bom)
}
