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

// The app evaluates the formulas of a base over all notes, and fetches the images that they show. A formula that makes an
// address of anything but constants can therefore carry texts of notes.

// addsOpenFormula reports whether a step adds such a formula.
func (s Step) addsOpenFormula() bool {
	made := openFormulas(s.Path, s.After.Text.ForProgram())
	if len(made) == 0 {
		return false
	}
	had := openFormulas(s.source(), s.Before.Text.ForProgram())
	return slices.ContainsFunc(made, func(formula string) bool { return !slices.Contains(had, formula) })
}

// openFormulas returns the expressions of a file that make an address of something that is not constant.
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
		parts := newSpeller(formulasOf(document))
		eachText(document, func(text string) {
			expression, err := formula.Parse(text)
			if err == nil && (makesAddress(expression) || parts.spellsAddress(expression)) {
				open = append(open, text)
			}
		})
	}
	return open
}

// namesBase reports whether a text has the word "base", in letters of any case.
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

// formulasOf returns the formulas of a base by their names.
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

// baseBlocks returns the bases in a note, also those in quotes, callouts and lists.
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

// fenceOfBase opens a base, with what is in front of it in a quote or a list. What follows its language does not matter.
var fenceOfBase = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?i)^((?:[ \\t>]|[-*+][ \\t]|\\d{1,9}[.)][ \\t]|\\[.\\] )*)(`{3,}|~{3,})[ \\t]*base(?:[ \\t\\r\\n]|$)")
})

// nestedBases returns the bases that have something in front of their lines, without it.
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

// eachText calls do with each text in a value.
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

// predicates are the methods that say something about a text and do not return it.
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

// shows are the functions that make an address of their first argument.
var shows = []string{"image", "link", "html"}

// makesAddress reports whether an expression makes an address of something that is not constant.
func makesAddress(expression formula.Node) (makes bool) {
	formula.Walk(expression, func(n formula.Node) {
		switch n := n.(type) {
		case *formula.BinaryNode:
			makes = makes || n.Op == formula.Add && isOpenSum(n)
		case *formula.CallNode:
			makes = makes || isOpenCall(n)
		}
	})
	return makes
}

// isOpenSum reports whether a sum of texts is an address with something that is not constant.
func isOpenSum(n *formula.BinaryNode) bool {
	if !isVariable(n) {
		return false
	}
	terms := termsOf(n)
	first, isText := terms[0].(*formula.StringNode)
	beginsScheme := isText && first.Value != "" && strings.HasPrefix("https://", strings.ToLower(first.Value))
	return beginsScheme || hasAddress(n)
}

// isOpenCall reports whether a call makes an address of something that is not constant.
func isOpenCall(n *formula.CallNode) bool {
	switch function := n.Function.(type) {
	case *formula.MemberNode:
		isPredicate := slices.Contains(predicates, strings.ToLower(function.Name))
		return !isPredicate && hasAddress(n) && isVariable(n)
	case *formula.NameNode:
		if !slices.Contains(shows, strings.ToLower(function.Text)) || len(n.Args) == 0 {
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

// termsOf returns the terms of a sum in order, and of anything else itself.
func termsOf(n formula.Node) []formula.Node {
	sum, ok := n.(*formula.BinaryNode)
	if !ok || sum.Op != formula.Add {
		return []formula.Node{n}
	}
	return append(termsOf(sum.X), termsOf(sum.Y)...)
}

// isVariable reports whether an expression has a property, a file or a value in it.
func isVariable(n formula.Node) (is bool) {
	functions := map[formula.Node]bool{}
	formula.Walk(n, func(n formula.Node) {
		if call, ok := n.(*formula.CallNode); ok {
			functions[call.Function] = true
		}
		if name, ok := n.(*formula.NameNode); ok && !functions[n] {
			is = is || name.Text != ""
		}
	})
	return is
}

// hasAddress reports whether a text in an expression is an address or the beginning of one.
func hasAddress(n formula.Node) (has bool) {
	formula.Walk(n, func(n formula.Node) {
		if text, ok := n.(*formula.StringNode); ok {
			lower := strings.ToLower(text.Value)
			isMessage := strings.Contains(lower, "mailto:") || strings.Contains(lower, "sms:")
			isOfWeb := strings.Contains(lower, "//") || strings.Contains(lower, "http") || strings.HasPrefix(lower, "www.")
			has = has || isMessage || isOfWeb
		}
	})
	return has
}
