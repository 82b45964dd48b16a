package markdown

import (
	"bytes"
	"strings"
)

// maxBrackets bounds how many open brackets are remembered. A text with more
// is no text; all it loses is a link around them.
const maxBrackets = 64

// bracket is an open square bracket that may begin an inline link.
type bracket struct {
	place
	embed bool
}

type brackets struct {
	open [maxBrackets]bracket
	size int
}

func (b *brackets) push(open bracket) {
	if b.size == maxBrackets {
		b.size = 0
	}
	b.open[b.size] = open
	b.size++
}

func (b *brackets) pop() (bracket, bool) {
	if b.size == 0 {
		return bracket{}, false
	}
	b.size--
	return b.open[b.size], true
}

// linked forgets the brackets around a link, for no link holds another. An
// embed may hold one, and be held.
func (b *brackets) linked() {
	kept := 0
	for _, open := range b.open[:b.size] {
		if open.embed {
			b.open[kept] = open
			kept++
		}
	}
	b.size = kept
}

// ParseLink reads text that consists of exactly one link and is not an embed,
// which is how a property links. Line and Span of the link are those in text.
func ParseLink(text string) (Link, bool) {
	if len(text) < len("[](x)") || text[0] != '[' || strings.ContainsAny(text, "\r\n") {
		return Link{}, false
	}
	s := scanner{text: []byte(text), source: text, line: 1}
	s.para = []segment{{0, len(text), 1}}
	s.scanText()
	if len(s.note.Links) == 0 {
		return Link{}, false
	}
	link := s.note.Links[0]
	return link, link.Span == Span{0, len(text)}
}

// openBracket reads a wikilink, or remembers the bracket.
func (s *scanner) openBracket(at int, line segment) int {
	if at+1 < line.end && s.text[at+1] == '[' {
		if end := s.wikilink(at, line); end > 0 {
			return end
		}
	}
	s.brackets.push(bracket{place{at, s.seg}, s.isEmbed(at, line)})
	return at + 1
}

// isEmbed reports whether the bracket at at has an exclamation mark in front.
func (s *scanner) isEmbed(at int, line segment) bool {
	return at > line.start && s.text[at-1] == '!' && s.literal != at
}

// wikilink reads the wikilink at at and returns where it ends, or 0 if there
// is none. Two opening brackets inside begin another, which is the link then.
func (s *scanner) wikilink(at int, line segment) (end int) {
	start := at + len("[[")
	closing := start
	for {
		if closing+1 >= line.end {
			s.looked += closing - at
			return 0
		}
		if s.text[closing] == ']' && s.text[closing+1] == ']' {
			break
		}
		if s.text[closing] == '[' && (closing == start || s.text[closing+1] == '[') {
			s.looked += closing - at
			return 0
		}
		closing++
	}
	end = closing + len("]]")
	target, display := splitWikilink(s.string(start, closing))
	if target == "" {
		return end
	}
	link := Link{Display: display, Style: Wikilink, Line: line.line, Span: Span{at, end}}
	s.addLink(link, target, s.isEmbed(at, line))
	return end
}

// splitWikilink splits what stands between the brackets at the first bar,
// which in a table has a backslash in front. A bar in the first place is part
// of the target.
func splitWikilink(inner string) (target, display string) {
	if inner == "" {
		return "", ""
	}
	target = inner
	if bar := strings.IndexByte(inner[1:], '|'); bar >= 0 {
		target, display = strings.TrimSuffix(inner[:1+bar], `\`), inner[1+bar+1:]
	}
	return strings.TrimSpace(target), strings.TrimSpace(display)
}

// addLink notes link, in its place by where it begins.
func (s *scanner) addLink(link Link, target string, embed bool) {
	link.Target = target
	link.Path = target
	if n := strings.IndexByte(target, '#'); n >= 0 {
		link.Path, link.Subpath = target[:n], target[n:]
	}
	if embed {
		link.Embed = true
		link.Span.Start--
	}
	links := append(s.note.Links, link)
	for n := len(links) - 1; n > 0 && links[n-1].Span.Start > link.Span.Start; n-- {
		links[n-1], links[n] = links[n], links[n-1]
	}
	s.note.Links = links
}

// closeBracket reads the target of an inline link, if the bracket at at closes
// the text of one.
func (s *scanner) closeBracket(at int, line segment) int {
	open, ok := s.brackets.pop()
	if !ok || at+1 >= line.end || s.text[at+1] != '(' {
		return at + 1
	}
	r := reader{text: s.text[at+2 : line.end]}
	target, ok := r.destination()
	s.looked += min(r.at, len(r.text))
	if !ok {
		return at + 1
	}
	end := at + 2 + r.at
	if !open.embed {
		s.brackets.linked()
	}
	if len(target) == 0 || isExternal(target) {
		return end
	}
	link := Link{
		Display: s.joined(place{open.at + 1, open.seg}, at), Style: Inline,
		Line: s.para[open.seg].line, Span: Span{open.at, end},
	}
	s.addLink(link, s.decode(target), open.embed)
	return end
}

// isExternal reports whether target begins with a scheme.
func isExternal(target []byte) bool {
	colon := bytes.IndexByte(target, ':')
	if colon < 1 || !isLetter(target[0]) {
		return false
	}
	for _, b := range target[:colon] {
		if !isNameByte(b) {
			return false
		}
	}
	return true
}
