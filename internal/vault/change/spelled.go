package change

import (
	"regexp"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
)

// A formula can build an address so that none of its texts looks like one: from joined letters, reversed, or
// with replaced characters. So the result of an expression is evaluated as far as it does not depend on notes.

// Placeholders in evaluated texts for parts that are unknown.
const (
	noteText    = "\x00" // any text of notes
	unevaluated = "\x01" // a constant from a method that is not evaluated here
)

// Limits for the evaluation of one expression.
const (
	maxSpellings      = 8
	maxSpellingLength = 512
)

// speller evaluates the expressions of a base to the texts that they may spell.
type speller struct {
	formulas map[string]formula.Node
	cache    map[formula.Node][]string // results, so that each node is evaluated only once
}

func newSpeller(formulas map[string]formula.Node) speller {
	return speller{formulas, map[formula.Node][]string{}}
}

// spellsAddress reports whether an expression, or a part of it, evaluates to an address with a part that is not
// constant.
func (s speller) spellsAddress(expression formula.Node) (hasAddress bool) {
	formula.Walk(expression, func(n formula.Node) {
		mayJoin := false
		switch n := n.(type) {
		case *formula.BinaryNode:
			mayJoin = n.Op == formula.Add
		case *formula.CallNode:
			mayJoin = true
		}
		hasAddress = hasAddress || mayJoin && slices.ContainsFunc(s.spellings(n), isOpenAddress)
	})
	return hasAddress
}

// isOpenAddress reports whether an evaluated text is an address with text of notes, or may be one.
func isOpenAddress(text string) bool {
	if !strings.Contains(text, noteText) {
		return false
	}
	lower := strings.ToLower(text)
	isOfWeb := strings.Contains(lower, "//") || strings.Contains(lower, `/\`) || strings.HasPrefix(lower, "www.")
	hasScheme := slices.ContainsFunc([]string{"http:", "https:", "mailto:", "sms:"}, func(scheme string) bool {
		return strings.Contains(lower, scheme)
	})
	return isOfWeb || hasScheme || strings.Contains(lower, unevaluated)
}

// spellings returns the possible values of an expression, one for each way in which its conditions may turn
// out.
func (s speller) spellings(n formula.Node) []string {
	if cached, ok := s.cache[n]; ok {
		return cached
	}
	s.cache[n] = []string{noteText} // ends the recursion of a formula that refers to itself
	values := s.evaluate(n)
	s.cache[n] = values
	return values
}

func (s speller) evaluate(n formula.Node) []string {
	switch n := n.(type) {
	case *formula.StringNode:
		return []string{n.Value}
	case *formula.NullNode, *formula.BoolNode, *formula.NumberNode, *formula.RegexNode:
		return []string{""}
	case *formula.BinaryNode:
		return s.evaluateBinary(n)
	case *formula.ListNode:
		return s.joined(n.Items, "")
	case *formula.MemberNode:
		if name, ok := n.X.(*formula.NameNode); ok && strings.EqualFold(name.Text, "formula") {
			return s.evaluateFormula(n.Name)
		}
	case *formula.IndexNode: // an element of a list, or a property by its name
		if list, ok := n.X.(*formula.ListNode); ok {
			return s.eachOf(list.Items)
		}
		if name, ok := n.X.(*formula.NameNode); ok && strings.EqualFold(name.Text, "formula") {
			if key, ok := n.Key.(*formula.StringNode); ok {
				return s.evaluateFormula(key.Value)
			}
		}
	case *formula.CallNode:
		return s.evaluateCall(n)
	}
	return []string{noteText}
}

func (s speller) evaluateBinary(n *formula.BinaryNode) []string {
	switch n.Op {
	case formula.Add:
		return s.joined([]formula.Node{n.X, n.Y}, "")
	case formula.Or, formula.And:
		return s.eachOf([]formula.Node{n.X, n.Y})
	}
	return []string{""} // a number or a boolean
}

// evaluateFormula returns the possible values of a formula of the base.
func (s speller) evaluateFormula(name string) []string {
	expression, known := s.formulas[name]
	if !known {
		return []string{noteText}
	}
	return s.spellings(expression)
}

// eachOf returns the possible values of any of the expressions.
func (s speller) eachOf(expressions []formula.Node) (spellings []string) {
	for _, n := range expressions {
		spellings = append(spellings, s.spellings(n)...)
	}
	return bounded(spellings)
}

// joined returns the possible concatenations of the values of expressions.
func (s speller) joined(expressions []formula.Node, separator string) []string {
	spellings := []string{""}
	for i, n := range expressions {
		between := separator
		if i == 0 {
			between = ""
		}
		spellings = pairs(spellings, s.spellings(n), func(a, b string) string { return a + between + b })
	}
	return spellings
}

// pairs returns combine for each pair of elements of two lists.
func pairs(first, second []string, combine func(a, b string) string) (combined []string) {
	for _, a := range first {
		for _, b := range second {
			combined = append(combined, combine(a, b))
		}
	}
	return bounded(combined)
}

// bounded limits the number and the length of spellings. A placeholder for any text replaces those that are
// left out.
func bounded(spellings []string) []string {
	short := make([]string, 0, len(spellings))
	for _, text := range spellings {
		for strings.Contains(text, noteText+noteText) {
			text = strings.ReplaceAll(text, noteText+noteText, noteText)
		}
		short = append(short, text)
	}
	slices.Sort(short)
	spellings = slices.Compact(short)
	if len(spellings) > maxSpellings {
		spellings = append(slices.Clone(spellings[:maxSpellings-1]), noteText+unevaluated)
	}
	for i, text := range spellings {
		if len(text) > maxSpellingLength {
			spellings[i] = noteText + unevaluated
		}
	}
	return spellings
}

// evaluateCall returns the possible values of a call.
func (s speller) evaluateCall(n *formula.CallNode) []string {
	switch function := n.Function.(type) {
	case *formula.NameNode:
		switch strings.ToLower(function.Text) {
		case "if":
			if len(n.Args) > 1 {
				return s.eachOf(n.Args[1:])
			}
		case "image", "link", "html", "list", "string", "escapehtml", "icon":
			return s.eachOf(n.Args)
		}
		return []string{""}
	case *formula.MemberNode:
		return s.evaluateMethod(function, n.Args)
	}
	return []string{noteText}
}

// evaluateMethod returns the possible values of a method call.
func (s speller) evaluateMethod(method *formula.MemberNode, args []formula.Node) []string {
	name := strings.ToLower(method.Name)
	if slices.Contains(predicates, name) {
		return []string{""}
	}
	on := s.spellings(method.X)
	switch name {
	case "lower", "upper", "title", "trim", "tostring", "flat", "unique":
		return on
	case "concat":
		return pairs(on, s.joined(args, ""), func(a, b string) string { return a + b })
	case "join":
		if list, ok := method.X.(*formula.ListNode); ok && len(args) > 0 {
			var all []string
			for _, separator := range s.spellings(args[0]) {
				all = append(all, s.joined(list.Items, separator)...)
			}
			return bounded(all)
		}
		return s.changed(on)
	case "reverse":
		return s.reversed(method.X, on)
	case "repeat":
		return pairs(on, []string{""}, func(a, _ string) string { return a + a })
	case "replace", "replaceall":
		if len(args) == 2 {
			return s.replaced(on, args[0], args[1])
		}
	}
	return s.changed(on)
}

// changed returns placeholders for the results of a method that is not evaluated: texts of notes remain texts
// of notes, and other texts become unknown constants.
func (s speller) changed(on []string) (results []string) {
	for _, text := range on {
		switch {
		case strings.Contains(text, noteText):
			results = append(results, text)
		case hasLetters(text):
			results = append(results, unevaluated)
		default:
			results = append(results, "")
		}
	}
	return bounded(results)
}

// hasLetters reports whether a text contains characters of an address, or a placeholder for a constant.
func hasLetters(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' || r == '/' || r == 1 })
}

// reversed returns the reversed texts, or a concatenation of the reversed list.
func (s speller) reversed(receiver formula.Node, on []string) []string {
	if list, ok := receiver.(*formula.ListNode); ok {
		items := slices.Clone(list.Items)
		slices.Reverse(items)
		return s.joined(items, "")
	}
	return pairs(on, []string{""}, func(a, _ string) string {
		runes := []rune(a)
		slices.Reverse(runes)
		return string(runes)
	})
}

// replaced returns the texts with each match of the pattern replaced.
func (s speller) replaced(on []string, pattern, replacement formula.Node) []string {
	replace := func(text, replacement string) string { return unevaluated + text + replacement }
	switch pattern := pattern.(type) {
	case *formula.StringNode:
		replace = func(text, replacement string) string { return strings.ReplaceAll(text, pattern.Value, replacement) }
	case *formula.RegexNode:
		if matcher, err := regexp.Compile("(?i)" + pattern.Body); err == nil {
			replace = func(text, replacement string) string { return matcher.ReplaceAllString(text, replacement) }
		}
	}
	return pairs(on, s.spellings(replacement), replace)
}
