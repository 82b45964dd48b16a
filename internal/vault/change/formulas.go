package change

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/internal/vault/search"
)

// The app evaluates the formulas of a base for all notes, and fetches the images that they return. A formula
// that builds an address from anything but constants can therefore carry texts of notes.

// addsOpenFormula reports whether a step adds a formula that builds an address from anything but constants.
func (s Step) addsOpenFormula() bool {
	after := openFormulas(s.Path, s.After.Text.ForProgram())
	if len(after) == 0 {
		return false
	}
	before := openFormulas(s.source(), s.Before.Text.ForProgram())
	return slices.ContainsFunc(after, func(formula string) bool { return !slices.Contains(before, formula) })
}

// openFormulas returns the expressions in a file that build an address from anything but constants.
func openFormulas(path disk.Path, text []byte) (open []string) {
	var blocks [][]byte
	switch strings.ToLower(path.Ext()) {
	case "base":
		blocks = [][]byte{text}
	case "md":
		blocks = baseBlocks(text)
	case "canvas":
		blocks = baseBlocks([]byte(search.CanvasText(text)))
	}
	for _, block := range blocks {
		document, err := frontmatter.ParseDocument(block)
		if err != nil {
			continue // the app shows an error in place of the base
		}
		speller := newSpeller(formulasOf(document))
		eachText(document, func(text string) {
			expression, err := formula.Parse(text)
			if err == nil && (makesAddress(expression) || speller.spellsAddress(expression)) {
				open = append(open, text)
			}
		})
	}
	return open
}

// namesBase reports whether a text contains the word "base" in any case.
func namesBase(text []byte) bool {
	const word = "base"
	for at := bytes.IndexAny(text, "bB"); at >= 0 && at+len(word) <= len(text); {
		if strings.EqualFold(string(text[at:at+len(word)]), word) {
			return true
		}
		next := bytes.IndexAny(text[at+1:], "bB")
		if next < 0 {
			return false
		}
		at += 1 + next
	}
	return false
}

// formulasOf returns the formulas of a base by name.
func formulasOf(document frontmatter.Value) map[string]formula.Node {
	byName := map[string]formula.Node{}
	for _, field := range document.Fields() {
		if field.Key != "formulas" || field.Value.Kind() != frontmatter.Map {
			continue
		}
		for _, named := range field.Value.Fields() {
			if expression, err := formula.Parse(named.Value.Text()); err == nil {
				byName[named.Key] = expression
			}
		}
	}
	return byName
}

// baseBlocks returns the bases in a note, including those in quotes, callouts and lists.
func baseBlocks(text []byte) (blocks [][]byte) {
	if !namesBase(text) {
		return nil
	}
	for _, span := range markdown.Scan(text).Bases {
		blocks = append(blocks, text[span.Start:span.End])
	}
	for _, block := range nestedBases(text) {
		isKnown := slices.ContainsFunc(blocks, func(known []byte) bool {
			return bytes.Equal(bytes.TrimSpace(known), bytes.TrimSpace(block))
		})
		if !isKnown {
			blocks = append(blocks, block)
		}
	}
	return blocks
}

// fenceOfBase matches the line that opens a base. Group 1 is the prefix of the line in a quote or list, group 2
// the fence. Anything may follow the language.
var fenceOfBase = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?i)^((?:[ \\t>]|[-*+][ \\t]|\\d{1,9}[.)][ \\t]|\\[.\\] )*)(`{3,}|~{3,})[ \\t]*base(?:[ \\t\\r\\n]|$)")
})

// nestedBases returns the bases whose lines have a prefix, without the prefix.
func nestedBases(text []byte) (blocks [][]byte) {
	var block []byte
	fence := ""
	indent := 0
	for line := range bytes.Lines(text) {
		if fence == "" {
			if m := fenceOfBase().FindSubmatch(line); m != nil {
				indent = len(m[1])
				fence = string(m[2])
			}
			continue
		}
		if bytes.HasPrefix(bytes.TrimLeft(line, " \t>"), []byte(fence)) {
			blocks = append(blocks, block)
			block = nil
			fence = ""
			continue
		}
		within := 0
		for within < min(indent, len(line)) && strings.IndexByte(" \t>", line[within]) >= 0 {
			within++
		}
		block = append(block, line[within:]...)
	}
	if fence != "" {
		blocks = append(blocks, block)
	}
	return blocks
}

// eachText calls do for each text in a value.
func eachText(v frontmatter.Value, do func(text string)) {
	switch v.Kind() {
	case frontmatter.List:
		for _, element := range v.List() {
			eachText(element, do)
		}
	case frontmatter.Map:
		for _, field := range v.Fields() {
			eachText(field.Value, do)
		}
	default:
		do(v.Text())
	}
}

// predicates are the methods that return a fact about a text rather than a text.
var predicates = []string{
	"contains",
	"containsany",
	"containsall",
	"startswith",
	"endswith",
	"matches",
	"isempty",
	"istruthy",
	"istype",
	"indexof",
}

// addressFunctions are the functions that build an address from their first argument.
var addressFunctions = []string{"image", "link", "html"}

// makesAddress reports whether an expression builds an address from anything but constants.
func makesAddress(expression formula.Node) (isAddress bool) {
	formula.Walk(expression, func(n formula.Node) {
		switch n := n.(type) {
		case *formula.BinaryNode:
			isAddress = isAddress || n.Op == formula.Add && isOpenSum(n)
		case *formula.CallNode:
			isAddress = isAddress || isOpenCall(n)
		}
	})
	return isAddress
}

// isOpenSum reports whether a sum of texts is an address with a part that is not constant.
func isOpenSum(n *formula.BinaryNode) bool {
	if !isVariable(n) {
		return false
	}
	terms := termsOf(n)
	first, isText := terms[0].(*formula.StringNode)
	beginsScheme := isText && first.Value != "" && strings.HasPrefix("https://", strings.ToLower(first.Value))
	return beginsScheme || hasAddress(n)
}

// isOpenCall reports whether a call builds an address from anything but constants.
func isOpenCall(n *formula.CallNode) bool {
	switch function := n.Function.(type) {
	case *formula.MemberNode:
		isPredicate := slices.Contains(predicates, strings.ToLower(function.Name))
		return !isPredicate && hasAddress(n) && isVariable(n)
	case *formula.NameNode:
		if !slices.Contains(addressFunctions, strings.ToLower(function.Text)) || len(n.Args) == 0 {
			return false
		}
		variable := 0
		terms := termsOf(n.Args[0])
		for _, term := range terms {
			if isVariable(term) {
				variable++
			}
		}
		return isVariable(terms[0]) && variable > 1
	}
	return false
}

// termsOf returns the terms of a sum in order; for any other expression, only itself.
func termsOf(n formula.Node) []formula.Node {
	sum, ok := n.(*formula.BinaryNode)
	if !ok || sum.Op != formula.Add {
		return []formula.Node{n}
	}
	return append(termsOf(sum.X), termsOf(sum.Y)...)
}

// isVariable reports whether an expression refers to a property, a file or a value.
func isVariable(n formula.Node) (hasName bool) {
	functions := map[formula.Node]bool{}
	formula.Walk(n, func(n formula.Node) {
		if call, ok := n.(*formula.CallNode); ok {
			functions[call.Function] = true
		}
		if name, ok := n.(*formula.NameNode); ok && !functions[n] {
			hasName = hasName || name.Text != ""
		}
	})
	return hasName
}

// hasAddress reports whether a text in an expression contains an address or the start of one.
func hasAddress(n formula.Node) (hasAny bool) {
	formula.Walk(n, func(n formula.Node) {
		if text, ok := n.(*formula.StringNode); ok {
			lower := strings.ToLower(text.Value)
			isMessage := strings.Contains(lower, "mailto:") || strings.Contains(lower, "sms:")
			isOfWeb := strings.Contains(lower, "//") || strings.Contains(lower, "http") || strings.HasPrefix(lower, "www.")
			hasAny = hasAny || isMessage || isOfWeb
		}
	})
	return hasAny
}
