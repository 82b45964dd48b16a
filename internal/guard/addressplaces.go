package guard

import (
	"bytes"
	"strings"
)

// The expressions of addresses are slow, and a text can have 8 MiB. They look only where the bytes are without which
// nothing matches: a colon between what can be a scheme and what can follow it, two slashes in a line.

// addressWords finds addresses within the words of a text. A word has no white space.
type addressWords struct {
	text []byte
	end  int // of the word that was looked at last
}

// match returns the first match of [addresses] from a place on. Places may only grow from call to call.
func (w *addressWords) match(from int) (start, end int, found bool) {
	for {
		colon := schemeEnd(w.text, from)
		if colon < 0 {
			return 0, 0, false
		}
		if colon >= w.end {
			w.end = len(w.text)
			if n := bytes.IndexAny(w.text[colon:], whiteSpace); n >= 0 {
				w.end = colon + n
			}
			from += bytes.LastIndexAny(w.text[from:colon], whiteSpace) + 1
		}
		if m := addresses().FindIndex(w.text[from:w.end]); m != nil {
			return from + m[0], from + m[1], true
		}
		from = w.end
	}
}

// schemeEnd returns where the next colon is from a place on that can be the end of a scheme, or -1.
func schemeEnd(text []byte, from int) int {
	for ; ; from++ {
		n := bytes.IndexByte(text[from:], ':')
		if n < 0 || from+n+1 >= len(text) {
			return -1
		}
		from += n
		if from == 0 {
			continue
		}
		last, next := text[from-1], text[from+1]
		if next == '/' || next == '\\' || strings.IndexByte(endsOfSchemes, last) >= 0 {
			return from
		}
	}
}

// endsOfSchemes has the last bytes of the schemes that [addresses] knows without slashes. A long s counts as an s.
const endsOfSchemes = "pPsSoOlL\xbf"

// whiteSpace is what \s stands for in expressions.
const whiteSpace = "\t\n\f\r "

// brokenSchemesIn returns the places of schemes with tabs or ends of lines in them.
func brokenSchemesIn(text []byte) (all [][2]int) {
	for end := 0; ; {
		n := bytes.IndexByte(text[end:], ':')
		if n < 0 {
			return all
		}
		colon := end + n
		start := colon
		for start > end && isInBrokenScheme(text[start-1]) {
			start--
		}
		end = colon + 1
		for end < len(text) && isLineBreakOrTab(text[end]) {
			end++
		}
		if end == len(text) || !bytes.ContainsAny(text[start:end], "\t\r\n") {
			continue
		}
		if m := brokenScheme().FindIndex(text[start : end+1]); m != nil {
			broken := [2]int{start + m[0], start + m[1]}
			if bytes.ContainsAny(text[broken[0]:broken[1]], "\t\r\n") {
				all = append(all, broken)
			}
		}
	}
}

// isInBrokenScheme reports whether a byte can be in front of the colon of a broken scheme. A long s counts as an s.
func isInBrokenScheme(c byte) bool {
	return isLineBreakOrTab(c) || strings.IndexByte("hHtTpPsS\xc5\xbf", c) >= 0
}

func isLineBreakOrTab(c byte) bool { return c == '\t' || c == '\r' || c == '\n' }

// relativeIn returns the places of addresses with the scheme of the page.
func relativeIn(text []byte) (all [][2]int) {
	for end := 0; ; {
		n := slashes(text[end:])
		if n < 0 {
			return all
		}
		pair := end + n
		end = len(text)
		if n := bytes.IndexByte(text[pair:], '\n'); n >= 0 {
			end = pair + n
		}
		line := lineStart(text, pair)
		start := lineStart(text, endOfLabelBefore(text, pair))
		for _, m := range relative().FindAllSubmatchIndex(text[start:end], -1) {
			if place := [2]int{start + m[2], start + m[3]}; place[0] >= line {
				all = append(all, place)
			}
		}
	}
}

// slashes returns where the first two slashes are, of either kind, or -1.
func slashes(text []byte) int {
	for i := 0; ; {
		n := bytes.IndexAny(text[i:], "/\\")
		if n < 0 || i+n+1 >= len(text) {
			return -1
		}
		i += n + 1
		if text[i] == '/' || text[i] == '\\' {
			return i - 1
		}
	}
}

// endOfLabelBefore returns where the label ends that says that an address at a place is one: in front of the white space,
// quotes and brackets there, and of an equals sign. It may stand in a line above.
func endOfLabelBefore(text []byte, place int) int {
	label := bytes.TrimRight(text[:place], whiteSpace+"\"'<")
	if bytes.HasSuffix(label, []byte("=")) {
		label = bytes.TrimRight(label[:len(label)-1], whiteSpace)
	}
	return len(label)
}

// lineStart returns where the line of a place begins.
func lineStart(text []byte, place int) int { return bytes.LastIndexByte(text[:place], '\n') + 1 }
