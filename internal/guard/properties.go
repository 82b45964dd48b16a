package guard

import (
	"bytes"
	"slices"
	"strings"
)

// In the properties of a note, the YAML at its start, the whole value of a property that is named like a secret counts,
// however it is written: plain, in quotes, as a list, as a block, on the lines below. The lines are read here without a
// parser of YAML, so that a block that is no YAML is searched, too.

// propertiesEnd returns where the properties at the start of a text end, 0 if it has none. They are open if the fence
// that closes them is not in the text.
func propertiesEnd(text []byte) (end int, isOpen bool) {
	start := len(text) - len(bytes.TrimPrefix(text, []byte("\ufeff")))
	if !bytes.HasPrefix(text[start:], []byte("---")) {
		return 0, false
	}
	for at, first := start, true; at < len(text); first = false {
		line, next := lineAt(text, at)
		isFence := string(bytes.TrimRight(line, " \t")) == "---"
		if first && !isFence {
			return 0, false
		}
		if !first && isFence {
			return at, false
		}
		at = next
	}
	return 0, true
}

// lineAt returns the line that begins at a place, and where the next one begins.
func lineAt(text []byte, at int) (line []byte, next int) {
	n := -1
	for size := 256; n < 0; size *= 4 { // what has ends of one kind only is not searched for the other as a whole
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

// region is a part of a text in which lines are names and values: the properties of a note, a block of code.
type region struct {
	start, end int
	isYAML     bool // else it is of lines with "="
}

// fenceOfNames opens a block of code with names and values.
var fenceOfNames = lazily(
	"(?im)^([ \\t>]*)(```+|~~~+)[ \\t]*(ya?ml|ini|toml|env|dotenv|properties|conf|cfg)\\b[^`\\r\\n]*\\r?\\n",
)

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
	isFenced := bytes.Contains(s.text, []byte("```")) || bytes.Contains(s.text, []byte("~~~"))
	if !isFenced {
		return s.regionCache
	}
	for at := end; ; {
		m := fenceOfNames().FindSubmatchIndex(s.text[at:])
		if m == nil {
			return s.regionCache
		}
		fence := s.text[at+m[4] : at+m[5]]
		isYAML := s.text[at+m[6]]|0x20 == 'y'
		start := at + m[1]
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

// regionAt returns the region that has a place.
func (s *scan) regionAt(at int) (r region, found bool) {
	all := s.regions()
	n, found := slices.BinarySearchFunc(all, at, func(r region, at int) int {
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
	return all[n], true
}

var (
	// keyRest is the rest of the key of a property after a keyword, with the colon.
	keyRest = lazily(`^[\w-]{0,40}(?: [\w-]{1,20})?(?: ?\([^()\n]{0,40}\))?["']?[ \t]*:(?:[ \t\r\n]|$)`)
	// keyAbout is that of a key that says something about a secret.
	keyAbout = lazily(
		`(?i)^s?[-_ ]?(?:polic|manager|hint|chang|updat|expir|length|reset|rotat|date|age\b|less|location|type|strength|rule|require|url|link|file|path|store|count|min|max|protect|enabl|field|id\b|name|are\b|is\b)`,
	)
)

// property calls each with the scalars of the value of the property whose key has a keyword from at to end. It is
// false if there is no such key.
func (s *scan) property(at, end int, each func(from, to int, value []byte)) bool {
	block, found := s.regionAt(at)
	if !found {
		return false
	}
	if !block.isYAML {
		return s.assignment(block, at, end, each)
	}
	rest := s.text[end:min(block.end, end+longestValue)]
	colon := keyRest().FindIndex(rest)
	if colon == nil || keyAbout().Match(rest[:colon[1]]) {
		return false
	}
	start := max(s.lineStart(at), at-longestInBraces)
	before := bytes.TrimLeft(s.text[start:at], ">") // of a quote
	s.charge(len(before))
	r := properties{scan: s, end: block.end, each: each}
	r.flow = bytes.Count(before, []byte("{")) > bytes.Count(before, []byte("}"))
	key := bytes.TrimLeft(before, " \t-?{,\"'")
	if i := bytes.LastIndexAny(key, "{,"); r.flow && i >= 0 {
		key = bytes.TrimLeft(key[i+1:], " \t\"'")
	}
	if bytes.ContainsAny(key, ":#") { // it is in a value
		return false
	}
	indent := len(before) - len(bytes.TrimLeft(before, " \t"))
	for indent+1 < len(before) && before[indent] == '-' && before[indent+1] == ' ' { // an item of a list
		indent += 2
	}
	at = end + colon[1]
	if s.text[at-1] != ':' {
		at-- // what is behind the colon
	}
	s.charge(r.below(at, indent) - at)
	r.value(at, indent)
	return true
}

// longestInBraces is how much of a line in front of a key is looked at for braces that are open.
const longestInBraces = 4 << 10

// assignedRest is the rest of a name after a keyword in a line such as "password = …", and the value.
var assignedRest = lazily(`^[\w.-]{0,40}["']?[ \t]*[=:][ \t]*(?:"([^"\r\n]+)"|'([^'\r\n]+)'|([^\r\n"'][^\r\n]*))`)

// assignment is property for a line of a block that is no YAML.
func (s *scan) assignment(block region, at, end int, each func(from, to int, value []byte)) bool {
	start := s.lineStart(at)
	if at-start > longestValue {
		return false
	}
	piece := s.text[end:min(block.end, end+longestValue)]
	m := assignedRest().FindSubmatchIndex(piece)
	isInValue := bytes.ContainsAny(s.text[start:at], "=#;")
	if m == nil || isInValue || keyAbout().Match(piece) {
		return false
	}
	from, to := longest(m[2:])
	value := piece[from : from+withoutComment(piece[from:to])]
	value = bytes.TrimRight(value, " \t")
	each(end+from, end+from+len(value), value)
	return true
}

// below returns where the lines end that are below a key with some indentation, at or behind a place.
func (r *properties) below(at, indent int) int {
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

// isBelow reports whether a line belongs to the value of a key with some indentation: it is empty, has more, or is an
// item of a list.
func isBelow(line []byte, indent int) bool {
	bare := bytes.TrimLeft(line, " \t")
	more := len(line) - len(bare)
	isItem := bytes.HasPrefix(bare, []byte("- ")) || string(bare) == "-"
	return len(bare) == 0 || more > indent || more == indent && isItem
}

// properties reads values.
type properties struct {
	*scan
	end   int
	each  func(from, to int, value []byte)
	flow  bool // in braces or brackets
	depth int
}

// deepest is how deep values are read.
const deepest = 20

// value reads a value behind a key with some indentation, and returns where it ends.
func (r *properties) value(at, indent int) int {
	if r.depth++; r.depth > deepest {
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
			to := r.below(at, indent)
			r.lines(from, to)
			return to
		default:
			return r.plain(at, indent)
		}
	}
	return at
}

// nested reads the lines below a key.
func (r *properties) nested(at, indent int) int {
	to := r.below(at, indent)
	_, at = lineAt(r.text, at)
	for at < to {
		line, next := lineAt(r.text, at)
		bare := bytes.TrimLeft(line, " \t")
		from := at + len(line) - len(bare)
		for from < at+len(line) && (bytes.HasPrefix(r.text[from:], []byte("- ")) || r.text[from] == ' ') {
			from++
		}
		column := from - at
		if colon := keyEnd(r.text[from : at+len(line)]); colon > 0 {
			from += colon
		}
		if from < at+len(line) && r.text[from] != '#' {
			next = max(next, r.value(from, column))
		}
		at = next
	}
	return to
}

// aKey is the key of a property with the colon.
var aKey = lazily(`^(?:[^\s"'\[\]{}#&*!|>%@:,][^:#\n]{0,100}|"[^"\n]{0,100}"|'[^'\n]{0,100}'):(?:[ \t]|$)`)

// keyEnd returns where the key ends with which a text begins, 0 if it begins with none.
func keyEnd(text []byte) int { return len(aKey().Find(text)) }

// quoted reads a scalar in quotes, of one line or several.
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
	decode := func(text []byte) []byte {
		if v := unescape(text); quote == '"' && v != nil {
			return v.text
		}
		if quote == '\'' {
			return bytes.ReplaceAll(text, []byte("''"), []byte("'"))
		}
		return text
	}
	r.pieces(from, to, decode)
	return min(to+1, r.end)
}

// pieces calls each for the lines of a scalar.
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

// lines reads the lines of a block.
func (r *properties) lines(from, to int) {
	r.pieces(from, to, func(text []byte) []byte { return text })
}

// collection reads a list or a mapping in brackets or braces.
func (r *properties) collection(at int) int {
	within := properties{scan: r.scan, end: r.end, each: r.each, flow: true, depth: r.depth}
	isMap := r.text[at] == '{'
	for at++; at < r.end; {
		switch c := r.text[at]; {
		case c == ']' || c == '}':
			return at + 1
		case strings.IndexByte(" \t\r\n,", c) >= 0:
			at++
		default:
			if colon := keyEnd(r.text[at:min(r.end, at+longestValue)]); isMap && colon > 0 {
				at += colon
			}
			if next := within.value(at, 0); next > at {
				at = next
			} else {
				at++
			}
		}
	}
	return at
}

// plain reads a scalar without quotes, and its further lines.
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
	r.lines(at, at+withoutComment(line))
	for next < r.end {
		line, after := lineAt(r.text, next)
		bare := bytes.TrimLeft(line, " \t")
		if len(line)-len(bare) <= indent || len(bare) == 0 || bare[0] == '#' {
			break
		}
		r.lines(next, next+withoutComment(line))
		next = after
	}
	return min(next, r.end)
}

// withoutComment returns the length of a line without its comment.
func withoutComment(line []byte) int {
	for i := 1; i < len(line); i++ {
		if line[i] == '#' && (line[i-1] == ' ' || line[i-1] == '\t') {
			return i
		}
	}
	return len(line)
}

// alias reads the value with an anchor that an alias names.
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
