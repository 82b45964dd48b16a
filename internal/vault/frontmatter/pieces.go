package frontmatter

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// Patch is a span of a text and its replacement.
type Patch struct {
	markdown.Span
	Text string
}

// Scalar is a single value in a YAML document.
type Scalar struct {
	Key  string // the key of the value, or of the list that contains it; "" without one
	Text string // the decoded text
	Line int    // counted from 1
}

// RewritePieces returns the patches that replace pieces of the strings in a YAML document. change is called for
// each string; it returns the pieces to replace, in order, with their positions in the decoded string. Quotes,
// escapes and layout stay, except that a plain string is quoted if necessary.
//
// left are the strings whose pieces cannot be replaced. A document that cannot be read has no strings.
func RewritePieces(text []byte, change func(Scalar) []Patch) (patches []Patch, left []Scalar) {
	document, err := load(shield(text))
	if err != nil {
		return nil, nil
	}
	r := rewriter{block: text, lines: lineStarts(text)}
	var all []pieces
	eachScalar(&document, "", func(n *yaml.Node, key string) {
		p := pieces{Scalar: Scalar{Key: key, Text: unshield(n.Value), Line: n.Line}}
		p.wanted = p.Text
		if scalar(n).kind == String {
			p.changes = change(p.Scalar)
		}
		if len(p.changes) > 0 {
			p.locate(text, r.valueStart(n))
		}
		all = append(all, p)
	})
	for _, write := range []func(*pieces) []Patch{(*pieces).inPlace, (*pieces).quoted} {
		patches = nil
		for i := range all {
			patches = append(patches, write(&all[i])...)
		}
		if readsAs(patched(text, patches), all) {
			for _, p := range all {
				if len(p.changes) > 0 && p.sources == nil {
					left = append(left, p.Scalar)
				}
			}
			return patches, left
		}
	}
	for _, p := range all {
		if len(p.changes) > 0 {
			left = append(left, p.Scalar)
		}
	}
	return nil, left
}

// eachScalar visits the scalars of a document in order, except those behind aliases.
func eachScalar(n *yaml.Node, key string, visit func(n *yaml.Node, key string)) {
	switch n.Kind {
	case yaml.ScalarNode:
		visit(n, key)
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			eachScalar(n.Content[i+1], n.Content[i].Value, visit)
		}
	case yaml.SequenceNode, yaml.DocumentNode:
		for _, node := range n.Content {
			eachScalar(node, key, visit)
		}
	}
}

// readsAs reports whether the scalars of a document have the wanted texts.
func readsAs(text []byte, wanted []pieces) bool {
	document, err := load(shield(text))
	if err != nil {
		return false
	}
	var read []string
	eachScalar(&document, "", func(n *yaml.Node, _ string) { read = append(read, unshield(n.Value)) })
	return slices.EqualFunc(read, wanted, func(text string, p pieces) bool { return text == p.wanted })
}

// patched applies patches, which must be in the order of text and must not overlap.
func patched(text []byte, patches []Patch) []byte {
	var out []byte
	at := 0
	for _, p := range patches {
		out = append(append(out, text[at:p.Start]...), p.Text...)
		at = p.End
	}
	return append(out, text[at:]...)
}

// pieces are the pieces to replace in one string.
type pieces struct {
	Scalar
	changes []Patch
	wanted  string // the string with the changes
	start   int    // offset of the value in the document
	mark    byte   // its first byte, which tells quotes and blocks
	// sources has the offset in the document of each byte of the string, and of its end; nil if they are not known.
	sources []int
}

// locate sets sources and wanted. start is the offset of the value in the document.
func (p *pieces) locate(document []byte, start int) {
	if start >= len(document) {
		return
	}
	p.start = start
	p.mark = document[start]
	from := start
	switch p.mark {
	case '"', '\'':
		from++
	case '|', '>':
		line := bytes.IndexByte(document[start:], '\n')
		if line < 0 {
			return
		}
		from += line
	}
	if p.sources = sourcesOf(document, from, p.mark, p.Text); p.sources != nil {
		p.wanted = string(patched([]byte(p.Text), p.changes))
	}
}

// sourcesOf returns the offset in document of each byte of a string, and of its end; nil if the two do not match. from
// is where the string begins, after its mark. Blanks at line breaks are skipped in both, because lines may be folded.
func sourcesOf(document []byte, from int, mark byte, text string) []int {
	sources := make([]int, len(text)+1)
	for at := 0; at < len(text); {
		if from == len(document) && strings.TrimSpace(text[at:]) == "" {
			break // a block at the end of the document has a line break that is not in the document
		}
		if size := breakLength(document[from:], mark); size > 0 {
			for ; at < len(text) && strings.IndexByte(" \t\r\n", text[at]) >= 0; at++ {
				sources[at] = from
			}
			from += size
			continue
		}
		written, size := characterAt(document[from:], mark)
		if size == 0 || !strings.HasPrefix(text[at:], written) {
			return nil
		}
		for end := at + len(written); at < end; at++ {
			sources[at] = from
		}
		from += size
	}
	sources[len(text)] = from
	return sources
}

// breakLength returns the length of the white space at the beginning of source if it contains a line end, otherwise 0.
func breakLength(source []byte, mark byte) int {
	escaped := 0
	after, isEscape := bytes.CutPrefix(source, []byte(`\`))
	if mark == '"' && isEscape && startsLine(after) {
		escaped = 1
	}
	rest := source[escaped:]
	size := len(rest) - len(bytes.TrimLeft(rest, " \t\r\n"))
	if bytes.IndexByte(rest[:size], '\n') < 0 {
		return 0
	}
	return escaped + size
}

// startsLine reports whether a text begins with the end of a line.
func startsLine(text []byte) bool { return len(text) > 0 && (text[0] == '\n' || text[0] == '\r') }

// characterAt decodes the beginning of source: text is its meaning and size its length; size is 0 if it is not valid.
func characterAt(source []byte, mark byte) (text string, size int) {
	switch {
	case len(source) == 0:
		return "", 0
	case mark == '"' && source[0] == '\\':
		return escapeAt(source)
	case mark == '\'' && source[0] == '\'':
		if !bytes.HasPrefix(source, []byte("''")) {
			return "", 0
		}
		return "'", len("''")
	}
	return string(source[:1]), 1
}

// digitsOfEscapes maps the letter of an escape to its number of hexadecimal digits.
var digitsOfEscapes = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// escapeAt returns the meaning and the length of the escape sequence at the beginning of source; size is 0 if it is
// not valid.
func escapeAt(source []byte) (text string, size int) {
	if len(source) < len(`\n`) {
		return "", 0
	}
	digits := digitsOfEscapes[source[1]]
	if digits == 0 {
		named := map[byte]string{
			'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v", 'f': "\f", 'r': "\r", 'e': "\x1b",
			' ': " ", '"': `"`, '/': "/", '\\': `\`, 'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029",
		}
		return named[source[1]], len(`\n`)
	}
	code := func(at int) (rune, bool) {
		if len(source) < at+2+digits {
			return 0, false
		}
		n, err := strconv.ParseUint(string(source[at+2:at+2+digits]), 16, 32)
		return rune(n), err == nil
	}
	first, ok := code(0)
	if !ok {
		return "", 0
	}
	size = 2 + digits
	if second, pair := code(size); pair && utf16.IsSurrogate(first) {
		if joined := utf16.DecodeRune(first, second); joined != utf8.RuneError {
			return string(joined), 2 * size
		}
	}
	return string(first), size
}

// inPlace returns the patches that replace only the pieces.
func (p *pieces) inPlace() (patches []Patch) {
	if p.sources == nil {
		return nil
	}
	for _, c := range p.changes {
		written := c.Text
		switch p.mark {
		case '"':
			quoted := doubleQuote(c.Text)
			written = quoted[1 : len(quoted)-1]
		case '\'':
			written = strings.ReplaceAll(c.Text, "'", "''")
		}
		span := markdown.Span{Start: p.sources[c.Start], End: p.sources[c.End]}
		patches = append(patches, Patch{span, written})
	}
	return patches
}

// quoted is like inPlace, except that it puts a plain string in quotes.
func (p *pieces) quoted() []Patch {
	if p.sources == nil || strings.IndexByte(`"'|>`, p.mark) >= 0 {
		return p.inPlace()
	}
	span := markdown.Span{Start: p.start, End: p.sources[len(p.Text)]}
	return []Patch{{span, "'" + strings.ReplaceAll(p.wanted, "'", "''") + "'"}}
}
