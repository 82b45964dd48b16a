package frontmatter

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"
)

// The library of the app, yaml 2.7 of npm, refuses some documents that the Go library reads, and reads some that the Go
// library refuses. The app decides whether a block has properties, so these differences are handled here.

const (
	unclosedQuote = "a line of a quoted text is not indented by blanks"
	deepBlankLine = "a blank line at the beginning of a block of text has more blanks than the text"
)

// refusedByApp returns why the app refuses a document, nil if it reads it.
func refusedByApp(text []byte, document *yaml.Node) *Malformed {
	if !bytes.ContainsAny(text, `"'|>`) {
		return nil
	}
	r := rewriter{block: text, lines: lineStarts(text)}
	var refusal *Malformed
	var visit func(n *yaml.Node, least int)
	visit = func(n *yaml.Node, least int) {
		if refusal != nil {
			return
		}
		switch n.Kind {
		case yaml.ScalarNode:
			refusal = r.refusedScalar(n, least)
		case yaml.MappingNode, yaml.SequenceNode:
			if n.Style&yaml.FlowStyle == 0 {
				least = n.Column // columns count from 1, so this is one more than the blanks before its keys or dashes
			}
			for _, node := range n.Content {
				visit(node, least)
			}
		case yaml.DocumentNode:
			for _, node := range n.Content {
				visit(node, least)
			}
		}
	}
	visit(document, 0)
	return refusal
}

// refusedScalar returns why the app refuses a value whose lines must be indented by at least least blanks; nil if it
// reads it.
func (r *rewriter) refusedScalar(n *yaml.Node, least int) *Malformed {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle
	const block = yaml.LiteralStyle | yaml.FoldedStyle
	if n.Style&(quoted|block) == 0 {
		return nil
	}
	start := r.valueStart(n)
	if n.Style&quoted != 0 {
		size := quotedSize(r.block[start:])
		_, rest, folded := bytes.Cut(r.block[start:start+size], []byte("\n"))
		for line := range bytes.Lines(rest) {
			bare := bytes.TrimLeft(line, " ")
			isBlank := len(bytes.TrimRight(bare, "\r\n")) == 0 && bytes.HasSuffix(bare, []byte("\n"))
			if folded && !isBlank && len(line)-len(bare) < least {
				return &Malformed{n.Line, unclosedQuote}
			}
		}
		return nil
	}
	header, rest, _ := bytes.Cut(r.block[start:], []byte("\n"))
	mark, _, _ := bytes.Cut(header, []byte(" "))
	if bytes.ContainsAny(mark, "123456789") {
		return nil
	}
	deepest := 0 // the largest indent of the blank lines
	for line := range bytes.Lines(rest) {
		bare := bytes.TrimLeft(line, " ")
		indent := len(line) - len(bare)
		switch {
		case len(bytes.TrimRight(bare, "\r\n")) == 0:
			deepest = max(deepest, indent)
		case indent < least:
			return nil // the block has no text
		case indent < deepest:
			return &Malformed{n.Line, deepBlankLine}
		default:
			return nil
		}
	}
	return nil
}

// oddAnchors matches anchors and aliases. The Go library refuses punctuation in their names.
var oddAnchors = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`(?m)(^|[ \t\[{,])([&*])([^ \t\r\n\[\]{},]+)`) },
)

// plainInNames are the characters of names that are kept.
const plainInNames = "_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// withPlainAnchors replaces other characters in the names of anchors and aliases by letters, so that the names keep
// their lengths. count is the number of changed names.
func withPlainAnchors(text string) (plain string, count int) {
	plain = oddAnchors().ReplaceAllStringFunc(text, func(found string) string {
		mark := strings.IndexAny(found, "&*")
		name := found[mark+1:]
		other := strings.Map(func(r rune) rune {
			if strings.ContainsRune(plainInNames, r) {
				return r
			}
			return 'A' + r%26
		}, name)
		if other != name {
			count++
		}
		return found[:mark+1] + other
	})
	return plain, count
}

// countAnchors returns the number of anchors and aliases in a document.
func countAnchors(n *yaml.Node) (count int) {
	if n.Kind == yaml.AliasNode {
		return 1
	}
	if n.Anchor != "" {
		count++
	}
	for _, node := range n.Content {
		count += countAnchors(node)
	}
	return count
}
