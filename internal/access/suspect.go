package access

import (
	"bytes"
	"slices"
	"strings"
)

// What narrows access to a note is found by reading its properties and tags. Most notes have nothing that looks like it, which
// their bytes show: no reader of a format has to see them.

// MayNarrow reports whether a text may narrow access to its note: without the names of p where properties and tags
// are it does not. What cannot be told by bytes, such as a text of another encoding, may.
func (p Private) MayNarrow(text []byte) bool {
	if p.IsZero() {
		return false
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return true
	}
	return p.MayName(propertiesAtMost(text)) || p.MayTag(text)
}

// MayName reports whether a block of properties may contain one of the names, in whatever spelling.
func (p Private) MayName(block []byte) bool {
	contains := func(some string) bool { return bytes.Contains(block, []byte(some)) }
	if len(block) == 0 || slices.ContainsFunc([]string{`\x`, `\u`, `\U`, "\\\n", "\\\r"}, contains) {
		return len(block) > 0
	}
	block = []byte(Fold(string(block)))
	return slices.ContainsFunc(p.Properties, contains) || slices.ContainsFunc(p.Tags, contains)
}

// MayTag reports whether a text contains something that looks like one of the tags.
func (p Private) MayTag(text []byte) bool {
	for len(p.Tags) > 0 {
		at := bytes.IndexByte(text, '#')
		if at < 0 {
			break
		}
		text = text[at+1:]
		word := text[:min(len(text), 4*MaxPrivateName)]
		if end := bytes.IndexAny(word, " \t\r\n#"); end >= 0 {
			word = word[:end]
		}
		isTag := func(tag string) bool { return strings.HasPrefix(Fold(string(word)), tag) }
		if len(word) > 0 && slices.ContainsFunc(p.Tags, isTag) {
			return true
		}
	}
	return false
}

// Unfenced returns what follows the first fence of a text, with white space in front of it, nil where there is none. A line that
// only begins with dashes, such as that of a key, is no fence.
func Unfenced(text []byte) []byte {
	rest, fenced := bytes.CutPrefix(bytes.TrimLeft(text, " \t\r\n\ufeff"), []byte("---"))
	end := bytes.IndexAny(rest, "\r\n")
	if end < 0 {
		end = len(rest)
	}
	if !fenced || len(bytes.TrimLeft(rest[:end], " \t")) > 0 {
		return nil
	}
	return rest[end:]
}

// propertiesAtMost returns the part of a text that the block of its properties is in, if it has one.
func propertiesAtMost(text []byte) []byte {
	rest := Unfenced(text)
	for at := 0; at < len(rest); {
		line := rest[at:]
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n+1]
		}
		bare := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if string(bytes.TrimRight(bare, " \t")) == "---" {
			return rest[:at]
		}
		at += len(line)
	}
	return rest
}
