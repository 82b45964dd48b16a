package access

import (
	"bytes"
	"slices"
	"strings"
)

// Whether a note restricts access to itself is decided by parsing its properties and tags. The functions of this file are
// fast checks of its bytes, so that most notes need no parser.

// MayNarrow reports whether a text may restrict access to its note. It returns false only if no property or tag in the
// text can be one of p. A text whose bytes are inconclusive, such as one in another encoding, may.
func (p Private) MayNarrow(text []byte) bool {
	if p.IsZero() {
		return false
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return true
	}
	return p.MayName(propertiesAtMost(text)) || p.MayTag(text)
}

// MayName reports whether a block of properties may contain one of the names in any spelling.
func (p Private) MayName(block []byte) bool {
	contains := func(text string) bool { return bytes.Contains(block, []byte(text)) }
	if slices.ContainsFunc(escapesOfNames, contains) { // a name may be spelled with them
		return true
	}
	block = []byte(Fold(string(block)))
	return slices.ContainsFunc(p.Properties, contains) || slices.ContainsFunc(p.Tags, contains)
}

// escapesOfNames are the beginnings of YAML escapes that can spell a name otherwise.
var escapesOfNames = []string{`\x`, `\u`, `\U`, "\\\n", "\\\r"}

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

// Unfenced returns the text after the line of the fence with which a text begins, or nil if there is no fence. White
// space may precede the fence. A line that only begins with dashes, such as that of a key, is no fence.
func Unfenced(text []byte) []byte {
	rest, hasDashes := bytes.CutPrefix(bytes.TrimLeft(text, " \t\r\n\ufeff"), []byte("---"))
	end := bytes.IndexAny(rest, "\r\n")
	if end < 0 {
		end = len(rest)
	}
	if !hasDashes || len(bytes.TrimLeft(rest[:end], " \t")) > 0 {
		return nil
	}
	return rest[end:]
}

// propertiesAtMost returns the part of a text that contains its block of properties, if it has one.
func propertiesAtMost(text []byte) []byte {
	rest := Unfenced(text)
	for at := 0; at < len(rest); {
		line := rest[at:]
		if n := bytes.IndexByte(line, '\n'); n >= 0 {
			line = line[:n+1]
		}
		content := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if string(bytes.TrimRight(content, " \t")) == "---" {
			return rest[:at]
		}
		at += len(line)
	}
	return rest
}
