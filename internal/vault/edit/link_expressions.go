package edit

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
)

// nameKind says how a string in an expression names a file or a folder.
type nameKind int

const (
	noName nameKind = iota
	linkName
	folderName
	pathName
)

// functionNames maps functions and methods to the kind of name that their first argument is.
var functionNames = map[string]nameKind{
	"link": linkName, "file": linkName, "image": linkName, // functions
	"hasLink": linkName, "linksTo": linkName, "inFolder": folderName, // methods
}

// fileFields maps fields of a file to the kind of name that they are compared with.
var fileFields = map[string]nameKind{"folder": folderName, "path": pathName}

// expressions returns the edits to the names of files and folders in a base: in link("x"), file("x"), image("x"),
// file.hasLink("x"), x.linksTo("x"), file.inFolder("x"), and in comparisons of file.folder or file.path with "x". A name
// is resolved like a link in the base; a [[link]] in a string keeps its brackets. Invalid bases and expressions have no
// names.
func (m *Move) expressions(text []byte, source string) (edits []replacement, left []StaleLink) {
	if m.names == nil { // a heading is renamed, and bases do not name headings
		return nil, nil
	}
	bare, places := withoutQuoteMarks(text)
	reasons := map[int][]StaleLink{} // by line
	patches, unwritten := frontmatter.RewritePieces(bare, func(s frontmatter.Scalar) []frontmatter.Patch {
		if s.Key == "name" || s.Key == "displayName" { // of a view or a column
			return nil
		}
		pieces, lost := m.expression(s.Text, source)
		for _, l := range lost {
			l.Line = s.Line
			left = append(left, l)
		}
		for _, p := range pieces {
			reasons[s.Line] = append(reasons[s.Line], StaleLink{s.Line, s.Text[p.Start:p.End], unlocated})
		}
		return pieces
	})
	for _, s := range unwritten {
		left = append(left, reasons[s.Line]...)
	}
	for _, p := range patches {
		span := markdown.Span{Start: places[p.Start], End: places[p.End]}
		edits = append(edits, replacement{span, p.Text})
	}
	return edits, left
}

// expression returns the pieces of one expression that are replaced, and the names that could not be changed.
func (m *Move) expression(text, source string) (pieces []frontmatter.Patch, left []StaleLink) {
	root, err := formula.Parse(text)
	if err != nil {
		return nil, nil
	}
	formula.Walk(root, func(n formula.Node) {
		kind, literals := namesIn(n)
		for _, literal := range literals {
			written, reason := m.renamed(kind, literal.Value, source)
			switch {
			case reason != "":
				left = append(left, StaleLink{Target: literal.Value, Reason: reason})
			case written != "" && written != literal.Value:
				span := markdown.Span{Start: literal.Position(), End: literal.End}
				pieces = append(pieces, frontmatter.Patch{Span: span, Text: formula.Quote(written, text[span.Start])})
			}
		}
	})
	slices.SortFunc(pieces, func(a, b frontmatter.Patch) int { return a.Start - b.Start })
	return pieces, left
}

// namesIn returns the string literals that name files or folders in a node itself, and the kind of these names.
func namesIn(n formula.Node) (nameKind, []*formula.StringNode) {
	switch n := n.(type) {
	case *formula.BinaryNode:
		if n.Op != formula.Equal && n.Op != formula.NotEqual {
			return noName, nil
		}
		if kind := fieldOf(n.X); kind != noName {
			return kind, stringsOf(n.Y)
		}
		return fieldOf(n.Y), stringsOf(n.X)
	case *formula.CallNode:
		if len(n.Args) == 0 {
			return noName, nil
		}
		switch function := n.Function.(type) {
		case *formula.NameNode:
			return functionNames[function.Text], stringsOf(n.Args[0])
		case *formula.MemberNode:
			if list, isList := function.X.(*formula.ListNode); isList && function.Name == "contains" {
				return fieldOf(n.Args[0]), stringsOf(list.Items...)
			}
			return functionNames[function.Name], stringsOf(n.Args[0])
		}
	}
	return noName, nil
}

// fieldOf returns the kind of name that a field is compared with, such as file.folder or this.file.path.
func fieldOf(n formula.Node) nameKind {
	member, isMember := n.(*formula.MemberNode)
	if !isMember {
		return noName
	}
	switch owner := member.X.(type) {
	case *formula.NameNode:
		if owner.Text == "file" || owner.Text == "this" {
			return fileFields[member.Name]
		}
	case *formula.MemberNode:
		if owner.Name == "file" {
			return fileFields[member.Name]
		}
	}
	return noName
}

// stringsOf returns the string literals among nodes.
func stringsOf(nodes ...formula.Node) (literals []*formula.StringNode) {
	for _, n := range nodes {
		if literal, ok := n.(*formula.StringNode); ok {
			literals = append(literals, literal)
		}
	}
	return literals
}

// renamed returns the name old as it must be after the move, "" if it does not change. reason is why it cannot be
// changed.
func (m *Move) renamed(kind nameKind, old, source string) (written, reason string) {
	switch kind {
	case folderName:
		bare := strings.Trim(old, "/")
		for from, to := range m.folders { // none of them contains another one
			if rest, in := strings.CutPrefix(bare, from); in && (rest == "" || rest[0] == '/') {
				return strings.Replace(old, bare, to+rest, 1), ""
			}
		}
	case pathName:
		return m.to[old], ""
	case linkName:
		raw := old
		isBare := !strings.HasPrefix(old, "[[")
		if isBare {
			raw = "[[" + old + "]]"
		}
		link, ok := markdown.ParseLink(raw)
		if !ok {
			return "", ""
		}
		some, reason := m.link(raw, link, source)
		written = string(apply([]byte(raw), some))
		if isBare {
			written = strings.TrimSuffix(strings.TrimPrefix(written, "[["), "]]")
		}
		return written, reason
	}
	return "", ""
}

// quoteMarks matches the marks of quotes at the beginning of a line.
var quoteMarks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[ \t]*(?:>[ \t]?)+`) })

// withoutQuoteMarks returns a code block without the marks of the quotes around it. places has the offset in text of each
// byte of bare, and of its end.
func withoutQuoteMarks(text []byte) (bare []byte, places []int) {
	quoted := len(text) > 0
	for line := range bytes.Lines(text) {
		quoted = quoted && (quoteMarks().Match(line) || len(bytes.TrimSpace(line)) == 0)
	}
	at := 0
	for line := range bytes.Lines(text) {
		skipped := 0
		if quoted {
			skipped = len(quoteMarks().Find(line))
		}
		bare = append(bare, line[skipped:]...)
		for i := skipped; i < len(line); i++ {
			places = append(places, at+i)
		}
		at += len(line)
	}
	return bare, append(places, at)
}
