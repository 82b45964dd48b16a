package guard

import (
	"bytes"
	"strings"
)

// The patterns of addresses are slow, and a text may have 8 MiB. They are tried only next to the bytes that every match
// needs: a colon between what may be a scheme and what may follow it, or two slashes.

// addressWords finds addresses within the words of a text. A word has no white space.
type addressWords struct {
	text []byte
	end  int // of the last word that was searched
}

// match returns the first match of [addresses] at or after from, which must not decrease from call to call.
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

// schemeEnd returns the index of the next colon at or after from that may end a scheme, or -1.
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
		last := text[from-1]
		next := text[from+1]
		if next == '/' || next == '\\' || strings.IndexByte(endsOfSchemes, last) >= 0 {
			return from
		}
	}
}

// endsOfSchemes has the last bytes of the schemes that [addresses] accepts without slashes, including that of a long s,
// which case folding makes an s.
const endsOfSchemes = "pPsSoOlL\xbf"

// whiteSpace has the bytes that \s matches.
const whiteSpace = "\t\n\f\r "

// brokenSchemesIn returns the start and end of each scheme with tabs or line ends in it.
func brokenSchemesIn(text []byte) (schemes [][2]int) {
	for end := 0; ; {
		n := bytes.IndexByte(text[end:], ':')
		if n < 0 {
			return schemes
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
				schemes = append(schemes, broken)
			}
		}
	}
}

// isInBrokenScheme reports whether a byte may precede the colon of a broken scheme. A long s counts as an s.
func isInBrokenScheme(c byte) bool {
	return isLineBreakOrTab(c) || strings.IndexByte("hHtTpPsS\xc5\xbf", c) >= 0
}

func isLineBreakOrTab(c byte) bool { return c == '\t' || c == '\r' || c == '\n' }

// relativeIn returns the start and end of each address without a scheme.
func relativeIn(text []byte) (places [][2]int) {
	for end := 0; ; {
		n := indexSlashes(text[end:])
		if n < 0 {
			return places
		}
		slashesAt := end + n
		end = len(text)
		if n := bytes.IndexByte(text[slashesAt:], '\n'); n >= 0 {
			end = slashesAt + n
		}
		line := lineStart(text, slashesAt)
		start := lineStart(text, endOfLabelBefore(text, slashesAt))
		for _, m := range relative().FindAllSubmatchIndex(text[start:end], -1) {
			if place := [2]int{start + m[2], start + m[3]}; place[0] >= line {
				places = append(places, place)
			}
		}
	}
}

// indexSlashes returns the index of the first two adjacent slashes, of either kind, or -1.
func indexSlashes(text []byte) int {
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

// endOfLabelBefore returns the end of the label that marks an address at place, such as href: it precedes white space,
// quotes, brackets and an equals sign, and may be on a line above.
func endOfLabelBefore(text []byte, place int) int {
	label := bytes.TrimRight(text[:place], whiteSpace+"\"'<")
	if bytes.HasSuffix(label, []byte("=")) {
		label = bytes.TrimRight(label[:len(label)-1], whiteSpace)
	}
	return len(label)
}

// lineStart returns the start of the line that contains place.
func lineStart(text []byte, place int) int { return bytes.LastIndexByte(text[:place], '\n') + 1 }
