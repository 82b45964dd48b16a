package markdown

import (
	"bytes"
	"slices"
	"strings"
)

// References are the definitions in a text, which begin with "[label]:", and the references to them.
type References struct {
	Definitions []Definition // in the order of the text
	Uses        []Use        // in the order of the text
	// Open is the line that would close the code block, comment or formula that is open at the end of the text; "" if
	// none is open.
	Open string
}

// Definition is a footnote, "[^label]: text", or the target of reference links, "[label]: target".
type Definition struct {
	Label    string // folded, see [FoldLabel]; "^" precedes that of a footnote
	Span     Span   // its lines, including the last line break
	LabelAt  Span   // without brackets, including "^"
	TargetAt Span   // without angle brackets; zero for a footnote
	Line     int
}

// Use is a reference to a footnote, [^label], or a reference link: [text][label], [label][] or [label].
type Use struct {
	Label    string // as in a [Definition]
	At       Span   // the label without its brackets; empty for [label][]
	Shortcut bool   // whether it is [label] without a second pair of brackets
}

// FoldLabel returns a label in the form in which labels are compared: with folded case and single blanks.
func FoldLabel(label string) string { return FoldCase(strings.Join(strings.Fields(label), " ")) }

// ScanReferences finds the definitions and references in a text, except in code, formulas and HTML comments. The uses
// include texts in brackets that are not references, because their label is not defined.
func ScanReferences(text []byte) References {
	s := scanner{text: text, references: &References{}}
	s.scan()
	r := s.references
	for i := range r.Definitions {
		r.Definitions[i].Span.End = endOfDefinition(text, r.Definitions[i])
	}
	r.Definitions = slices.DeleteFunc(r.Definitions, func(d Definition) bool {
		return slices.ContainsFunc(r.Definitions, func(other Definition) bool {
			return other.Span.Start < d.Span.Start && d.Span.Start < other.Span.End
		})
	})
	slices.SortFunc(r.Uses, func(a, b Use) int { return a.At.Start - b.At.Start })
	return *r
}

// Defined returns the first definition of a label, which must be folded.
func (r References) Defined(label string) (Definition, bool) {
	i := slices.IndexFunc(r.Definitions, func(d Definition) bool { return d.Label == label })
	if i < 0 {
		return Definition{}, false
	}
	return r.Definitions[i], true
}

// addDefinitions adds the definitions in the current paragraph, which begin its lines. A definition of reference links
// must begin the paragraph or follow another definition; a footnote may follow any text.
func (s *scanner) addDefinitions() {
	follows := s.para[0].start == s.start || s.text[s.start] != '#' // not the text of a heading
	for _, line := range s.para {
		d, ok := definitionAt(s.text, line.start, line.end)
		isFootnote := ok && strings.HasPrefix(d.Label, "^")
		if follows = isFootnote || ok && follows; follows {
			d.Line = line.line
			s.references.Definitions = append(s.references.Definitions, d)
		}
	}
}

// addReferences adds the targets of the definitions at the beginning of the current paragraph as links.
func (s *scanner) addReferences() {
	for _, line := range s.para {
		d, ok := definitionAt(s.text, line.start, line.end)
		switch {
		case !ok:
			return
		case d.TargetAt == (Span{}): // a footnote
			continue
		}
		target := s.text[d.TargetAt.Start:d.TargetAt.End]
		end := d.TargetAt.End
		if end < line.end && s.text[end] == '>' {
			end++
		}
		if hasScheme(target) {
			continue
		}
		s.addLink(Link{Style: Reference, Line: line.line, Span: Span{line.start, end}}, s.decode(target))
	}
}

// definitionAt reads the definition at the beginning of the line text[start:end]. Its Line is not set, and its Span ends
// with the line.
func definitionAt(text []byte, start, end int) (d Definition, ok bool) {
	line := text[start:end]
	closing := bytes.Index(line, []byte("]:"))
	if len(line) == 0 || line[0] != '[' || closing < 0 {
		return d, false
	}
	inner := line[1:closing]
	label := FoldLabel(string(inner))
	if strings.Trim(label, "^ ") == "" || bytes.ContainsAny(inner, "[]") {
		return d, false
	}
	first := bytes.LastIndexByte(text[:start], '\n') + 1 // its Span includes the marks of containers
	d = Definition{Label: label, Span: Span{first, end}, LabelAt: Span{start + 1, start + closing}}
	if label[0] == '^' {
		return d, true
	}
	rest := segment{start: start + closing + len("]:"), end: end}
	rest.trim(text)
	address := text[rest.start:rest.end]
	size := bytes.IndexAny(address, " \t")
	if bytes.HasPrefix(address, []byte("<")) {
		rest.start++
		size = bytes.IndexByte(address[1:], '>')
		if size < 0 {
			return d, false
		}
	} else if size < 0 {
		size = len(address)
	}
	d.TargetAt = Span{rest.start, rest.start + size}
	return d, size > 0
}

// endOfDefinition returns where the lines of a definition end. A footnote includes the lines of its paragraph and the
// indented lines after it.
func endOfDefinition(text []byte, d Definition) int {
	_, next := lineEnd(text, d.Span.Start)
	if d.Label[0] != '^' {
		return next
	}
	footnoteEnd := next
	afterBlank := false
	for at := next; at < len(text); at = next {
		var end int
		end, next = lineEnd(text, at)
		line := text[at:end]
		bare := bytes.TrimLeft(line, " \t")
		isIndented := len(line)-len(bare) >= 2 || bytes.HasPrefix(line, []byte("\t"))
		_, begins := definitionAt(text, end-len(bare), end)
		switch {
		case len(bare) == 0:
			afterBlank = true
			continue
		case isIndented:
		case afterBlank, begins, opensBlock(bare):
			return footnoteEnd
		}
		afterBlank = false
		footnoteEnd = next
	}
	return footnoteEnd
}

// opensBlock reports whether a line, which is not empty, ends the paragraph before it: a heading, a fence, a quote, a
// rule, a table or a list item.
func opensBlock(line []byte) bool {
	switch line[0] {
	case '#', '>', '|', '`', '~', '%', '$', '<':
		return true
	case '-', '*', '+', '_':
		return isRule(line) || len(line) > 1 && isBlank(line[1])
	}
	rest := bytes.TrimLeft(line, "0123456789")
	if len(rest) == len(line) || len(rest) < 2 {
		return false
	}
	return (rest[0] == '.' || rest[0] == ')') && isBlank(rest[1])
}

// addUse adds the reference in the brackets from open to closing, which are not an inline link.
func (s *scanner) addUse(open, closing int, line segment) {
	inner := Span{open + 1, closing}
	content := s.text[inner.Start:inner.End]
	next := byte(0)
	if closing+1 < len(s.text) {
		next = s.text[closing+1]
	}
	previous := byte(0)
	if open > line.start {
		previous = s.text[open-1]
	}
	begins := open == line.start && next == ':'
	label := FoldLabel(string(content))
	switch {
	case begins, bytes.ContainsAny(content, "[]"), previous == '^': // ^[text] is an inline footnote
	case strings.HasPrefix(label, "^"):
		s.references.Uses = append(s.references.Uses, Use{Label: label, At: inner})
	case previous == ']' && s.pairEnd == open-1:
		u := Use{Label: label, At: inner}
		if label == "" {
			u.Label = FoldLabel(string(s.text[s.pairStart+1 : s.pairEnd]))
		}
		s.references.Uses = append(s.references.Uses, u)
	case label == "", next == '[':
	default:
		s.references.Uses = append(s.references.Uses, Use{Label: label, At: inner, Shortcut: true})
	}
	s.pairStart = open
	s.pairEnd = closing
}
