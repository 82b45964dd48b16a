package guard

import (
	"bytes"
	"slices"
	"strings"
)

// In the properties of a note (the YAML at its start), the whole value of a property that is named like a secret
// counts, in any notation: plain, quoted, as a list, as a block, on the lines below. The lines are read without a YAML
// parser, so that invalid YAML is searched, too.

// propertiesEnd returns the end of the properties at the start of a text, or 0 if it has none. isOpen reports that the
// closing fence is missing.
func propertiesEnd(text []byte) (end int, isOpen bool) {
	start := len(text) - len(bytes.TrimPrefix(text, []byte("\ufeff")))
	if !bytes.HasPrefix(text[start:], []byte("---")) {
		return 0, false
	}
	for at, isFirst := start, true; at < len(text); isFirst = false {
		line, next := lineAt(text, at)
		isFence := string(bytes.TrimRight(line, " \t")) == "---"
		if isFirst && !isFence {
			return 0, false
		}
		if !isFirst && isFence {
			return at, false
		}
		at = next
	}
	return 0, true
}

// lineAt returns the line that begins at at, without its line end, and the start of the next line.
func lineAt(text []byte, at int) (line []byte, next int) {
	n := -1
	for size := 256; n < 0; size *= 4 { // a text with one kind of line ends is not searched as a whole for the other kind
		piece := text[at:min(len(text), at+size)]
		if n = bytes.IndexByte(piece, '\n'); n >= 0 {
			piece = piece[:n]
		}
		if first := bytes.IndexByte(piece, '\r'); first >= 0 {
			n = first
		}
		if n < 0 && at+size >= len(text) {
			return text[at:], len(text)
		}
	}
	next = at + n + 1
	if text[next-1] == '\r' && next < len(text) && text[next] == '\n' {
		next++
	}
	return text[at : at+n], next
}

// region is a part of a text whose lines are names and values: the properties of a note or a code block.
type region struct {
	start, end int
	isYAML     bool // otherwise it has lines with "="
}

// configFence matches a line that opens a code block with names and values.
var configFence = lazily(
	"(?i)^([ \\t>]*)(```+|~~~+)[ \\t]*(ya?ml|ini|toml|env|dotenv|properties|conf|cfg)\\b[^`\\r\\n]*\\r?\\n",
)

// fences finds the lines of a text that open a code block with names and values. It looks only at lines with a fence:
// most texts have few.
type fences struct {
	text []byte
	// backticks and tildes are the offsets of the next fence of each kind, or the length of the text.
	backticks, tildes int
}

func newFences(text []byte) *fences {
	return &fences{text, indexFrom(text, 0, "```"), indexFrom(text, 0, "~~~")}
}

// next returns the match of configFence in the first line that matches from an offset on, or nil. Its indexes are
// offsets in the text. An offset must not be before that of the call before.
func (f *fences) next(from int) []int {
	for {
		if f.backticks < from {
			f.backticks = indexFrom(f.text, from, "```")
		}
		if f.tildes < from {
			f.tildes = indexFrom(f.text, from, "~~~")
		}
		at := min(f.backticks, f.tildes)
		if at == len(f.text) {
			return nil
		}
		start := from + bytes.LastIndexByte(f.text[from:at], '\n') + 1
		end := min(len(f.text), indexFrom(f.text, at, "\n")+1)
		if mayOpenConfig(f.text[at:end]) {
			match := configFence().FindSubmatchIndex(f.text[start:end])
			if match != nil {
				for i := range match {
					match[i] += start
				}
				return match
			}
		}
		from = end
	}
}

// mayOpenConfig is a fast check before configFence: it returns false only if that cannot match a line with this fence
// and what follows it.
func mayOpenConfig(fence []byte) bool {
	language := bytes.TrimLeft(fence, "`~ \t")
	return len(language) > 0 && strings.IndexByte("yitedpc", language[0]|0x20) >= 0
}

// indexFrom returns the offset of the first piece at or after an offset, or the length of the text.
func indexFrom(text []byte, from int, piece string) int {
	n := bytes.Index(text[from:], []byte(piece))
	if n < 0 {
		return len(text)
	}
	return from + n
}

// regions returns the regions of the text, in order.
func (s *scan) regions() []region {
	if s.hasRegionCache {
		return s.regionCache
	}
	s.hasRegionCache = true
	end, _ := propertiesEnd(s.text)
	if end > 0 {
		s.regionCache = append(s.regionCache, region{0, end, true})
	}
	opening := newFences(s.text)
	for at := end; ; {
		m := opening.next(at)
		if m == nil {
			return s.regionCache
		}
		fence := s.text[m[4]:m[5]]
		isYAML := s.text[m[6]]|0x20 == 'y'
		start := m[1]
		for at = start; at < len(s.text); {
			line, next := lineAt(s.text, at)
			if bytes.HasPrefix(bytes.TrimLeft(line, " \t>"), fence) {
				break
			}
			at = next
		}
		s.regionCache = append(s.regionCache, region{start, at, isYAML})
	}
}

// regionAt returns the region that contains the offset at.
func (s *scan) regionAt(at int) (r region, found bool) {
	regions := s.regions()
	n, found := slices.BinarySearchFunc(regions, at, func(r region, at int) int {
		switch {
		case r.end <= at:
			return -1
		case r.start > at:
			return 1
		}
		return 0
	})
	if !found {
		return region{}, false
	}
	return regions[n], true
}

var (
	// keyRest matches the rest of the key of a property after a keyword, and the colon.
	keyRest = lazily(`^[\w-]{0,40}(?: [\w-]{1,20})?(?: ?\([^()\n]{0,40}\))?["']?[ \t]*:(?:[ \t\r\n]|$)`)
	// explicitKeyRest is keyRest for a key after "? ", whose colon begins the next line.
	explicitKeyRest = lazily(`^[\w-]{0,40}["']?[ \t]*\r?\n[ \t>]*:(?:[ \t\r\n]|$)`)
	// remarkKey matches the rest of a key that tells something about a secret, such as password_length.
	remarkKey = lazily(
		`(?i)^s?[-_ ]?(?:polic|manager|hint|chang|updat|expir|length|reset|rotat|date|age\b|less|location|type|strength|rule|require|url|link|file|path|store|count|min|max|protect|enabl|field|id\b|name|are\b|is\b)`,
	)
)

// property calls each with the scalars in the value of the property whose key contains the keyword at s.text[at:end]. It
// returns false if there is no such key.
func (s *scan) property(at, end int, each func(from, to int, value []byte)) bool {
	region, found := s.regionAt(at)
	if !found {
		return false
	}
	if !region.isYAML {
		return s.assignment(region, at, end, each)
	}
	rest := s.text[end:min(region.end, end+longestValue)]
	colon := keyRest().FindIndex(rest)
	if colon == nil {
		colon = explicitKeyRest().FindIndex(rest)
	}
	if colon == nil || remarkKey().Match(rest[:colon[1]]) {
		return false
	}
	start := max(s.lineStart(at), at-maxBeforeKey)
	before := bytes.TrimLeft(s.text[start:at], ">") // quote markers
	s.charge(len(before))
	r := properties{scan: s, end: region.end, each: each}
	r.flow = bytes.Count(before, []byte("{")) > bytes.Count(before, []byte("}"))
	key := bytes.TrimLeft(before, " \t-?{,\"'")
	if i := bytes.LastIndexAny(key, "{,"); r.flow && i >= 0 {
		key = bytes.TrimLeft(key[i+1:], " \t\"'")
	}
	if bytes.ContainsAny(key, ":#") { // the keyword is in a value
		return false
	}
	indent := len(before) - len(bytes.TrimLeft(before, " \t"))
	for indent+1 < len(before) && before[indent] == '-' && before[indent+1] == ' ' { // a list item
		indent += 2
	}
	at = end + colon[1]
	if s.text[at-1] != ':' {
		at-- // the match includes a blank after the colon
	}
	s.charge(r.belowEnd(at, indent) - at)
	r.value(at, indent)
	return true
}

// maxBeforeKey is how many bytes of the line before a key are searched for open braces.
const maxBeforeKey = 4 << 10

// assignedRest matches the rest of a name after a keyword in a line such as "password = …", and the value, which is one
// of the groups.
var assignedRest = lazily(`^[\w.-]{0,40}["']?[ \t]*[=:][ \t]*(?:"([^"\r\n]+)"|'([^'\r\n]+)'|([^\r\n"'][^\r\n]*))`)

// assignment is property for a line of a region that is not YAML.
func (s *scan) assignment(region region, at, end int, each func(from, to int, value []byte)) bool {
	start := s.lineStart(at)
	if at-start > longestValue {
		return false
	}
	piece := s.text[end:min(region.end, end+longestValue)]
	m := assignedRest().FindSubmatchIndex(piece)
	isInValue := bytes.ContainsAny(s.text[start:at], "=#;")
	if m == nil || isInValue || remarkKey().Match(piece) {
		return false
	}
	from, to := longest(m[2:])
	value := piece[from : from+commentStart(piece[from:to])]
	value = bytes.TrimRight(value, " \t")
	each(end+from, end+from+len(value), value)
	return true
}

// belowEnd returns the end of the lines below a key on the line at at that belong to its value. indent is the
// indentation of the key.
func (r *properties) belowEnd(at, indent int) int {
	_, at = lineAt(r.text, at)
	for at < r.end {
		line, next := lineAt(r.text, at)
		if !isBelow(line, indent) {
			break
		}
		at = next
	}
	return min(at, r.end)
}

// isBelow reports whether a line belongs to the value of a key with some indentation: it is empty, indented further, or
// a list item.
func isBelow(line []byte, indent int) bool {
	content := bytes.TrimLeft(line, " \t")
	lineIndent := len(line) - len(content)
	isItem := bytes.HasPrefix(content, []byte("- ")) || string(content) == "-"
	return len(content) == 0 || lineIndent > indent || lineIndent == indent && isItem
}

// properties reads the values of properties, and calls each with their scalars.
type properties struct {
	*scan
	end   int // of the region
	each  func(from, to int, value []byte)
	flow  bool // in braces or brackets
	depth int
}

// maxDepth is the maximum nesting of values that are read.
const maxDepth = 20

// value reads the value that begins at at, of a key with some indentation, and returns its end.
func (r *properties) value(at, indent int) int {
	r.depth++
	if r.depth > maxDepth {
		return r.end
	}
	defer func() { r.depth-- }()
	for at < r.end {
		switch c := r.text[at]; {
		case c == ' ' || c == '\t':
			at++
		case c == '&' || c == '!': // an anchor, a tag
			for at < r.end && strings.IndexByte(" \t\r\n", r.text[at]) < 0 {
				at++
			}
		case c == '\r' || c == '\n' || c == '#':
			if r.flow {
				_, at = lineAt(r.text, at)
				continue
			}
			return r.nested(at, indent)
		case c == '*':
			return r.alias(at)
		case c == '"' || c == '\'':
			return r.quoted(at)
		case c == '[' || c == '{':
			return r.collection(at)
		case (c == '|' || c == '>') && !r.flow:
			_, from := lineAt(r.text, at)
			to := r.belowEnd(at, indent)
			r.lines(from, to)
			return to
		default:
			return r.plain(at, indent)
		}
	}
	return at
}

// nested reads the lines below a key, and returns their end.
func (r *properties) nested(at, indent int) int {
	to := r.belowEnd(at, indent)
	_, at = lineAt(r.text, at)
	for at < to {
		line, next := lineAt(r.text, at)
		content := bytes.TrimLeft(line, " \t")
		from := at + len(line) - len(content)
		for from < at+len(line) && (bytes.HasPrefix(r.text[from:], []byte("- ")) || r.text[from] == ' ') {
			from++
		}
		valueIndent := from - at
		if colon := keyEnd(r.text[from : at+len(line)]); colon > 0 {
			from += colon
		}
		if from < at+len(line) && r.text[from] != '#' {
			next = max(next, r.value(from, valueIndent))
		}
		at = next
	}
	return to
}

// keyPattern matches the key of a property with the colon.
var keyPattern = lazily(`^(?:[^\s"'\[\]{}#&*!|>%@:,][^:#\n]{0,100}|"[^"\n]{0,100}"|'[^'\n]{0,100}'):(?:[ \t]|$)`)

// keyEnd returns the end of the key with which a text begins, colon included, or 0 if there is none.
func keyEnd(text []byte) int { return len(keyPattern().Find(text)) }

// quoted reads a quoted scalar, of one or several lines, and returns its end.
func (r *properties) quoted(at int) int {
	quote := r.text[at]
	from := at + 1
	to := from
	for to < r.end && r.text[to] != quote {
		if quote == '"' && r.text[to] == '\\' {
			to++
		}
		to++
		if quote == '\'' && to+1 < r.end && r.text[to] == quote && r.text[to+1] == quote {
			to += 2
		}
	}
	to = min(to, r.end)
	decode := decodeDoubleQuoted
	if quote == '\'' {
		decode = decodeSingleQuoted
	}
	r.pieces(from, to, decode)
	return min(to+1, r.end)
}

// decodeDoubleQuoted decodes a line of a double-quoted scalar.
func decodeDoubleQuoted(text []byte) []byte {
	decoded := unescape(text)
	if decoded == nil {
		return text
	}
	return decoded.text
}

// decodeSingleQuoted decodes a line of a single-quoted scalar.
func decodeSingleQuoted(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte("''"), []byte("'"))
}

// pieces calls each for the lines of the scalar r.text[from:to], decoded.
func (r *properties) pieces(from, to int, decode func([]byte) []byte) {
	whole := r.text[from:to]
	for at := from; at < to; {
		line, next := lineAt(whole, at-from)
		piece := bytes.Trim(line, " \t")
		if len(piece) > 0 {
			start := at + bytes.Index(line, piece)
			r.each(start, start+len(piece), decode(piece))
		}
		at = from + next
	}
}

// lines calls each for the lines of the scalar r.text[from:to], which needs no decoding.
func (r *properties) lines(from, to int) {
	r.pieces(from, to, func(text []byte) []byte { return text })
}

// collection reads a list in brackets or a mapping in braces, and returns its end.
func (r *properties) collection(at int) int {
	inner := properties{scan: r.scan, end: r.end, each: r.each, flow: true, depth: r.depth}
	isMap := r.text[at] == '{'
	for at++; at < r.end; {
		switch c := r.text[at]; {
		case c == ']' || c == '}':
			return at + 1
		case strings.IndexByte(" \t\r\n,", c) >= 0:
			at++
		default:
			if isMap {
				at += keyEnd(r.text[at:min(r.end, at+longestValue)])
			}
			at = max(at+1, inner.value(at, 0))
		}
	}
	return at
}

// plain reads an unquoted scalar with its continuation lines, and returns its end.
func (r *properties) plain(at, indent int) int {
	if r.flow {
		from := at
		for at < r.end && strings.IndexByte(",[]{}\r\n", r.text[at]) < 0 {
			at++
		}
		r.lines(from, at)
		return at
	}
	line, next := lineAt(r.text, at)
	r.lines(at, at+commentStart(line))
	for next < r.end {
		line, following := lineAt(r.text, next)
		content := bytes.TrimLeft(line, " \t")
		if len(line)-len(content) <= indent || len(content) == 0 || content[0] == '#' {
			break
		}
		r.lines(next, next+commentStart(line))
		next = following
	}
	return min(next, r.end)
}

// commentStart returns the index of the comment of a line, or the length of the line if it has none.
func commentStart(line []byte) int {
	for i := 1; i < len(line); i++ {
		if line[i] == '#' && (line[i-1] == ' ' || line[i-1] == '\t') {
			return i
		}
	}
	return len(line)
}

// alias reads the value with the anchor of the alias at at, and returns the end of the alias.
func (r *properties) alias(at int) int {
	to := at + 1
	for to < r.end && strings.IndexByte(" \t\r\n,]}", r.text[to]) < 0 {
		to++
	}
	name := r.text[at+1 : to]
	anchor := bytes.Index(r.text[:r.end], append([]byte("&"), name...))
	if len(name) > 0 && anchor >= 0 && anchor+1+len(name) < r.end {
		start := bytes.LastIndexAny(r.text[:anchor], "\r\n") + 1
		line := r.text[start:anchor]
		r.value(anchor, len(line)-len(bytes.TrimLeft(line, " \t")))
	}
	return to
}
