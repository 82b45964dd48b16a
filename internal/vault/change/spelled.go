package change

import (
	"regexp"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
)

// A formula can spell an address so that no text in it looks like one: of letters that are added or joined, reversed or
// replaced. What it makes is therefore worked out as far as it does not depend on notes.

// What stands in what is worked out for what is not known.
const (
	ofNotes   = "\x00" // a text of notes
	notWorked = "\x01" // what a method makes of constants that is not worked out here
)

// Bounds of what is worked out of one expression.
const (
	maxSpellings    = 8
	longestSpelling = 512
)

// speller works out what expressions of a base make.
type speller struct {
	formulas map[string]formula.Node
	known    map[formula.Node][]string // what was worked out, so that it is once
}

func newSpeller(formulas map[string]formula.Node) speller {
	return speller{formulas, map[formula.Node][]string{}}
}

// spellsAddress reports whether an expression, or a part of it, is an address of something that is not constant.
func (s speller) spellsAddress(expression formula.Node) (spells bool) {
	formula.Walk(expression, func(n formula.Node) {
		isMade := false
		switch n := n.(type) {
		case *formula.BinaryNode:
			isMade = n.Op == formula.Add
		case *formula.CallNode:
			isMade = true
		}
		spells = spells || isMade && slices.ContainsFunc(s.spellings(n), isOpenAddress)
	})
	return spells
}

// isOpenAddress reports whether a text that was worked out is an address with a text of notes, or may be one.
func isOpenAddress(text string) bool {
	if !strings.Contains(text, ofNotes) {
		return false
	}
	lower := strings.ToLower(text)
	isOfWeb := strings.Contains(lower, "//") || strings.Contains(lower, `/\`) || strings.HasPrefix(lower, "www.")
	hasScheme := slices.ContainsFunc([]string{"http:", "https:", "mailto:", "sms:"}, func(scheme string) bool {
		return strings.Contains(lower, scheme)
	})
	return isOfWeb || hasScheme || strings.Contains(lower, notWorked)
}

// spellings returns what an expression can be, one text for each way that its conditions can be decided.
func (s speller) spellings(n formula.Node) []string {
	if known, found := s.known[n]; found {
		return known
	}
	s.known[n] = []string{ofNotes} // for a formula that names itself
	all := s.workedOut(n)
	s.known[n] = all
	return all
}

func (s speller) workedOut(n formula.Node) []string {
	switch n := n.(type) {
	case *formula.StringNode:
		return []string{n.Value}
	case *formula.NullNode, *formula.BoolNode, *formula.NumberNode, *formula.RegexNode:
		return []string{""}
	case *formula.BinaryNode:
		return s.ofBinary(n)
	case *formula.ListNode:
		return s.joined(n.Items, "")
	case *formula.MemberNode:
		if name, ok := n.X.(*formula.NameNode); ok && strings.EqualFold(name.Text, "formula") {
			return s.ofFormula(n.Name)
		}
	case *formula.IndexNode: // an element of a list, or a property by its name
		if list, ok := n.X.(*formula.ListNode); ok {
			return s.eachOf(list.Items)
		}
		if name, ok := n.X.(*formula.NameNode); ok && strings.EqualFold(name.Text, "formula") {
			if key, ok := n.Key.(*formula.StringNode); ok {
				return s.ofFormula(key.Value)
			}
		}
	case *formula.CallNode:
		return s.ofCall(n)
	}
	return []string{ofNotes}
}

func (s speller) ofBinary(n *formula.BinaryNode) []string {
	switch n.Op {
	case formula.Add:
		return s.joined([]formula.Node{n.X, n.Y}, "")
	case formula.Or, formula.And:
		return s.eachOf([]formula.Node{n.X, n.Y})
	}
	return []string{""} // a number or a truth
}

// ofFormula returns what a formula of the base can be.
func (s speller) ofFormula(name string) []string {
	expression, known := s.formulas[name]
	if !known {
		return []string{ofNotes}
	}
	return s.spellings(expression)
}

// eachOf returns what any of some expressions can be.
func (s speller) eachOf(all []formula.Node) (spellings []string) {
	for _, n := range all {
		spellings = append(spellings, s.spellings(n)...)
	}
	return bounded(spellings)
}

// joined returns what some expressions can be one after the other.
func (s speller) joined(all []formula.Node, separator string) []string {
	spellings := []string{""}
	for i, n := range all {
		between := separator
		if i == 0 {
			between = ""
		}
		spellings = pairs(spellings, s.spellings(n), func(a, b string) string { return a + between + b })
	}
	return spellings
}

// pairs returns what is made of each pair of two lists.
func pairs(first, second []string, made func(a, b string) string) (all []string) {
	for _, a := range first {
		for _, b := range second {
			all = append(all, made(a, b))
		}
	}
	return bounded(all)
}

// bounded keeps spellings few and short. What is left out may be anything.
func bounded(spellings []string) []string {
	short := make([]string, 0, len(spellings))
	for _, text := range spellings {
		for strings.Contains(text, ofNotes+ofNotes) {
			text = strings.ReplaceAll(text, ofNotes+ofNotes, ofNotes)
		}
		short = append(short, text)
	}
	slices.Sort(short)
	spellings = slices.Compact(short)
	if len(spellings) > maxSpellings {
		spellings = append(slices.Clone(spellings[:maxSpellings-1]), ofNotes+notWorked)
	}
	for i, text := range spellings {
		if len(text) > longestSpelling {
			spellings[i] = ofNotes + notWorked
		}
	}
	return spellings
}

// ofCall returns what a function or a method can return.
func (s speller) ofCall(n *formula.CallNode) []string {
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
		return s.ofMethod(function, n.Args)
	}
	return []string{ofNotes}
}

// ofMethod returns what a method can return.
func (s speller) ofMethod(method *formula.MemberNode, args []formula.Node) []string {
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

// changed returns what a method makes of texts that is not worked out: of constants something else, of a text of notes
// another one.
func (s speller) changed(on []string) (all []string) {
	for _, text := range on {
		switch {
		case strings.Contains(text, ofNotes):
			all = append(all, text)
		case hasLetters(text):
			all = append(all, notWorked)
		default:
			all = append(all, "")
		}
	}
	return bounded(all)
}

// hasLetters reports whether a text has what an address is made of.
func hasLetters(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' || r == '/' || r == 1 })
}

// reversed returns texts from their end, or a list from its end.
func (s speller) reversed(of formula.Node, on []string) []string {
	if list, ok := of.(*formula.ListNode); ok {
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

// replaced returns texts with one thing in place of another.
func (s speller) replaced(on []string, pattern, by formula.Node) []string {
	replace := func(text, by string) string { return notWorked + text + by }
	switch pattern := pattern.(type) {
	case *formula.StringNode:
		replace = func(text, by string) string { return strings.ReplaceAll(text, pattern.Value, by) }
	case *formula.RegexNode:
		if matcher, err := regexp.Compile("(?i)" + pattern.Body); err == nil {
			replace = func(text, by string) string { return matcher.ReplaceAllString(text, by) }
		}
	}
	return pairs(on, s.spellings(by), replace)
}
