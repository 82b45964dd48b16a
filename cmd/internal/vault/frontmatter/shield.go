package frontmatter

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The library refuses control characters and takes three others for line ends,
// as YAML 1.1 did; the app does neither. While the library has the text, they
// are replaced by characters for private use that nobody uses.
const shieldBase = 0x10f000

// shield returns block as the library should see it, with a line end behind the
// last line: without, a text in literal style that ends the block has none.
// Broken UTF-8 is replaced, as whoever reads a file as text does.
func shield(block []byte) []byte {
	if plain(block) {
		return endLine(bytes.Clone(block))
	}
	out := make([]byte, 0, len(block)+len(block)/4+1)
	for len(block) > 0 {
		r, size := utf8.DecodeRune(block)
		block = block[size:]
		if isShielded(r) {
			r = shieldBase | r&0xff
		}
		out = utf8.AppendRune(out, r)
	}
	return endLine(out)
}

func endLine(block []byte) []byte {
	if bytes.HasSuffix(block, []byte("\n")) {
		return block
	}
	return append(block, '\n')
}

// plain reports whether block holds nothing but printable ASCII and line ends.
func plain(block []byte) bool {
	for _, b := range block {
		if b >= 0x7f || b < ' ' && b != '\n' && b != '\r' && b != '\t' {
			return false
		}
	}
	return true
}

func isShielded(r rune) bool {
	switch {
	case r < ' ':
		return r != '\n' && r != '\r' && r != '\t'
	case 0x7f <= r && r <= 0x9f:
		return true
	}
	return r == 0x2028 || r == 0x2029 || r == 0xfffe || r == 0xffff
}

// unshield undoes what shield did to the characters in text.
func unshield(text string) string {
	const first = "\xf4\x8f" // of every replacement in UTF-8
	if !strings.Contains(text, first) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r < shieldBase || r > shieldBase|0xff {
			return r
		}
		for _, high := range []rune{0, 0x2000, 0xff00} {
			if shielded := high | r&0xff; isShielded(shielded) {
				return shielded
			}
		}
		return r
	}, text)
}

// joinHalves replaces pairs of escapes for the halves of a character, which
// JavaScript joins, by the character.
func joinHalves(text string) (joined string, ok bool) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, `\u`)
		out.WriteString(before)
		if !found {
			return out.String(), ok
		}
		if r := pair(rest); r != utf8.RuneError {
			out.WriteRune(r)
			text, ok = rest[len(`d83d\ude00`):], true
			continue
		}
		out.WriteString(`\u`)
		text = rest
	}
}

// pair returns the character whose halves stand at the start of text, the first
// without its mark.
func pair(text string) rune {
	if len(text) < len(`d83d\ude00`) || text[4:6] != `\u` {
		return utf8.RuneError
	}
	high, err := strconv.ParseUint(text[:4], 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	low, err := strconv.ParseUint(text[6:10], 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return utf16.DecodeRune(rune(high), rune(low))
}
