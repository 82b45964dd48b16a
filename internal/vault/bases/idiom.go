package bases

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
)

// Judge compiles an expression of a request and says what is wrong with it. The error is a
// [*Mistake] with the expression that was probably meant, where that is known: in words of other
// languages, without quotes around a text, or with functions that do not exist.
func Judge(text string, names Names) (p *formula.Program, unknown []string, err error) {
	p, parsed := ParseExpression(text)
	if parsed == nil {
		found := Examine(p, names)
		if found.Mistake == nil {
			return p, found.Unknown, nil
		}
		found.Mistake.confirm(names)
		if other := respelled(text); other != text {
			meant := &Mistake{Right: translated(other)}
			if meant.confirm(names); meant.Right != "" {
				found.Mistake.Right = meant.Right
			}
		}
		return nil, nil, found.Mistake
	}
	mistake := &Mistake{Reason: parsed.Error()}
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(text)), "task") && asDataview(text) != "" {
		mistake.Advice = "the command \"tasks\" lists tasks; query lists notes"
		return nil, nil, mistake
	}
	if request := asDataview(text); request != "" {
		mistake.Advice = request
		return nil, nil, mistake
	}
	mistake.Right = translated(text)
	if conditions := ofObject(text); conditions != "" {
		mistake.Right = conditions
	}
	mistake.confirm(names)
	if mistake.Right == "" && mistake.Advice == "" {
		mistake.Advice = adviceFor(text)
	}
	return nil, nil, mistake
}

// confirm mends the expression that was probably meant until nothing is wrong with it, and
// forgets it if that does not succeed.
func (m *Mistake) confirm(names Names) {
	const rounds = 4 // of edits within each other
	for range rounds {
		if m.Right == "" {
			return
		}
		p, err := ParseExpression(m.Right)
		if err != nil {
			m.Right = ""
			return
		}
		found := Examine(p, names)
		if found.Mistake == nil {
			return
		}
		m.Right = found.Mistake.Right
		m.Advice = found.Mistake.Advice
	}
	m.Right = ""
}

// adviceFor says how the words of other languages are spelled here.
func adviceFor(text string) string {
	for _, t := range elementsOf(text) {
		switch strings.ToLower(t.text) {
		case "case", "when", "then":
			return `a choice is if(condition, value, otherwise), as in if(done, "x", "y")`
		case "and", "or", "not", "is", "in", "like", "between":
			return `operators are && || ! == != < > <= >=; a list or a text has .contains("x"), and a text needs quotes`
		}
	}
	return `an expression is such as status == "open" && due < today(); a text needs quotes`
}

// element is a word, a quoted text, a symbol or a run of blanks of an expression in another language.
type element struct {
	text string
	kind elementKind
}

type elementKind uint8

const (
	blankElement elementKind = iota
	wordElement
	quotedElement
	signElement
)

// straight are quotes that a text program makes of straight ones.
var straight = strings.NewReplacer("\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u2018", "'", "\u2019", "'", "`", `"`)

// elementsOf splits an expression. Words include dashes, dots and slashes within them, and a leading #.
func elementsOf(text string) (all []element) {
	for text != "" {
		size, kind := nextElement(text)
		all = append(all, element{text[:size], kind})
		text = text[size:]
	}
	return all
}

func nextElement(text string) (size int, kind elementKind) {
	r, width := utf8.DecodeRuneInString(text)
	switch {
	case unicode.IsSpace(r):
		return len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace)), blankElement
	case r == '"' || r == '\'':
		for i := 1; i < len(text); i++ {
			switch {
			case text[i] == '\\':
				i++
			case text[i] == text[0]:
				return i + 1, quotedElement
			}
		}
		return len(text), quotedElement
	case strings.HasPrefix(text, "[["):
		if end := strings.Index(text, "]]"); end > 0 {
			return end + len("]]"), quotedElement
		}
	case isWordRune(r) || r == '#' || r == '@':
		end := len(text)
		for i, c := range text[width:] {
			inner := strings.ContainsRune("-./@'", c) && i+width+1 < len(text) && isWordByte(text[i+width+1:])
			if !isWordRune(c) && !inner {
				end = i + width
				break
			}
		}
		return end, wordElement
	}
	for _, s := range signs {
		if strings.HasPrefix(text, s) {
			return len(s), signElement
		}
	}
	return width, signElement
}

func isWordRune(r rune) bool {
	if r == '_' || r == '$' {
		return true
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func isWordByte(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return isWordRune(r)
}

// signs has longer ones before their beginnings.
var signs = []string{"===", "!==", "<>", "=~", "~=", "&&", "||", "==", "!=", "<=", ">=", "=>", "=<", "??", ":="}

// spelled are signs of other languages as they are spelled here.
var spelled = map[string]string{
	"===": "==", "!==": "!=", "<>": "!=", "=": "==", "=>": ">=", "=<": "<=", "&": "&&", "|": "||", ":=": "==", "≠": "!=", "≤": "<=", "≥": ">=",
}

// translated returns an expression in the words of other languages as it is spelled here, "" if
// it is not understood.
func translated(text string) string {
	if len(text) > maxTranslated {
		return ""
	}
	text = unfiltered(straight.Replace(respelled(strings.TrimSpace(text))))
	if _, err := formula.Parse(text); err == nil {
		return text
	}
	elements := elementsOf(text)
	first := strings.ToLower(firstText(elements))
	if first == "where" || first == "filter" || first == "having" {
		elements = elements[1:]
	}
	if last := len(elements) - 1; last >= 0 && elements[last].text == ";" {
		elements = elements[:last]
	}
	return strings.TrimSpace(joinClauses(elements))
}

// maxTranslated bounds the bytes of an expression that is translated: what is written by hand is
// shorter, and each pair of parentheses is looked at again.
const maxTranslated = 1000

func firstText(elements []element) string {
	if len(elements) == 0 {
		return ""
	}
	return elements[0].text
}

// joinClauses translates the comparisons between the logical operators, and these.
func joinClauses(elements []element) string {
	var out strings.Builder
	var clause []element
	depth := 0
	isBetween := false
	flush := func() {
		out.WriteString(clauseHere(clause))
		clause = nil
	}
	for _, e := range elements {
		lower := strings.ToLower(e.text)
		operator := ""
		switch {
		case e.kind == signElement && (e.text == "(" || e.text == "["):
			depth++
		case e.kind == signElement && (e.text == ")" || e.text == "]"):
			depth--
		case depth > 0:
		case e.kind == wordElement && lower == "between":
			isBetween = true
		case e.kind == wordElement && lower == "and" && isBetween:
			isBetween = false
		case e.kind == wordElement && lower == "and", e.text == "&&", e.text == "&":
			operator = "&&"
		case e.kind == wordElement && lower == "or", e.text == "||", e.text == "|":
			operator = "||"
		}
		if operator == "" {
			clause = append(clause, e)
			continue
		}
		flush()
		out.WriteString(" " + operator + " ")
	}
	flush()
	return out.String()
}

// clauseForms are comparisons of other languages and their form here, where $1 and so on are
// operands, "$l2" a list, and $q2 a text.
// They are compiled when the first of them is needed.
var clauseForms = sync.OnceValue(func() []clauseForm {
	return []clauseForm{
		{regexp.MustCompile(`(?is)^([\pL][\pL\d_.-]*)\s*(===|!==|==|!=|<>|=)\s*([\pL][^"'()\[\]=<>!&|]*\s[^"'()\[\]=<>!&|]*)$`), "$1 $s2 $q3"},
		{regexp.MustCompile(`(?is)^(.+?)\s+if\s+(.+?)\s+else\s+(.+)$`), "if($2, $1, $3)"},
		{regexp.MustCompile(`(?is)^has\s+no\s+(.+)$`), "$o1.isEmpty()"},
		{regexp.MustCompile(`(?is)^-#([\pL\d_/-]+)$`), "!file.hasTag($q1)"},
		{regexp.MustCompile(`(?is)^([\pL][\pL\d_-]*)\s*:\s*(<=|>=|<|>)\s*(.+)$`), "$1 $s2 $q3"},
		{regexp.MustCompile(`(?is)^(.+?)\s+is\s+not\s+(?:null|none|empty|missing|blank|undefined|nil)$`), "!$o1.isEmpty()"},
		{regexp.MustCompile(`(?is)^(.+?)\s+is\s+(?:null|none|empty|missing|blank|undefined|nil)$`), "$o1.isEmpty()"},
		{regexp.MustCompile(`(?is)^(.+?)\s+(?:is\s+not|isn't|not\s+equals?|does\s+not\s+equal)\s+(.+)$`), "$1 != $q2"},
		{regexp.MustCompile(`(?is)^(.+?)\s+(?:is|equals?|eq)\s+(.+)$`), "$1 == $q2"},
		{regexp.MustCompile(`(?is)^(.+?)\s+not\s+in\s*[\[(](.*)[\])]$`), "![$l2].contains($1)"},
		{regexp.MustCompile(`(?is)^(.+?)\s+in\s*[\[(](.*)[\])]$`), "[$l2].contains($1)"},
		{regexp.MustCompile(`(?is)^(.+?)\s+not\s+in\s+(.+)$`), "!$o2.contains($q1)"},
		{regexp.MustCompile(`(?is)^(.+?)\s+in\s+(.+)$`), "$o2.contains($q1)"},
		{regexp.MustCompile(`(?is)^(.+?)\s+not\s+i?like\s+(.+)$`), "!$k2"},
		{regexp.MustCompile(`(?is)^(.+?)\s+i?like\s+(.+)$`), "$k2"},
		{regexp.MustCompile(`(?is)^(.+?)\s+between\s+(.+?)\s+and\s+(.+)$`), "$1 >= $q2 && $1 <= $q3"},
		{
			regexp.MustCompile(
				`(?is)^(.+?)\s+(?:does\s+not\s+contain|doesn't\s+contain|not\s+contains?|not\s+includes?)\s+(.+)$`,
			),
			"!$o1.contains($q2)",
		},
		{regexp.MustCompile(`(?is)^(.+?)\s+(?:contains?|includes?|has)\s+(.+)$`), "$o1.contains($q2)"},
		{regexp.MustCompile(`(?is)^(.+?)\s+(?:starts?\s?with|begins?\s?with)\s+(.+)$`), "$o1.startsWith($q2)"},
		{regexp.MustCompile(`(?is)^(.+?)\s+ends?\s?with\s+(.+)$`), "$o1.endsWith($q2)"},
		{regexp.MustCompile(`(?is)^(.+?)\s*(?:=~|~=|\s+matches)\s*(/.+/[a-z]*)$`), "$2.matches($1)"},
		{regexp.MustCompile(`(?is)^(.+?)\s*(?:=~|~=|~)\s*("[^"\\]*"|'[^'\\]*'|[\pL\d]+)$`), "$o1.contains($q2)"},
		{regexp.MustCompile(`(?is)^(?:exists|has)\s+(.+)$`), "!$o1.isEmpty()"},
		{regexp.MustCompile(`(?is)^(.+?)\s+exists$`), "!$o1.isEmpty()"},
		{regexp.MustCompile(`(?is)^(.+?)\s*\?\?\s*(.+)$`), "if($1, $1, $2)"},
		{regexp.MustCompile(`(?is)^(.+?)\s*\?\s*(.+?)\s*:\s*(.+)$`), "if($1, $2, $3)"},
		{regexp.MustCompile(`(?is)^\[\s*([\pL][\pL\d_-]*)\s*:\s*([^\]]+)\]$`), "$1 == $q2"},
		{regexp.MustCompile(`(?is)^tags?\s*(?:==?|:|!=)\s*#?(.+)$`), "file.hasTag($q1)"},
		{regexp.MustCompile(`(?is)^(?:folder|in|dir)\s*:\s*(.+)$`), "file.inFolder($q1)"},
		{regexp.MustCompile(`(?is)^path\s*:\s*(.+)$`), "file.path.contains($q1)"},
		{regexp.MustCompile(`(?is)^(?:file|name|title)\s*:\s*(.+)$`), "file.name.contains($q1)"},
		{regexp.MustCompile(`(?is)^([\pL][\pL\d_-]*)\s*:\s*([^:].*)$`), "$1 == $q2"},
		{regexp.MustCompile(`(?is)^(.+?)\s*(===|!==|==|!=|<>|<=|>=|=>|=<|≠|≤|≥|=|<|>)\s*(.+)$`), "$1 $s2 $q3"},
	}
})

type clauseForm struct {
	pattern *regexp.Regexp
	form    string
}

// clauseHere translates what is between two logical operators.
func clauseHere(elements []element) string {
	text := strings.TrimSpace(textOf(elements))
	lower := strings.ToLower(text)
	switch {
	case text == "":
		return ""
	case strings.HasPrefix(lower, "not ") || strings.HasPrefix(lower, "not("):
		return negated(joinClauses(elementsOf(strings.TrimSpace(text[len("not"):]))))
	case strings.HasPrefix(text, "!") && !strings.HasPrefix(text, "!="):
		return negated(joinClauses(elementsOf(strings.TrimSpace(text[1:]))))
	case isWrapped(text):
		return "(" + joinClauses(elementsOf(text[1:len(text)-1])) + ")"
	}
	if node, err := formula.Parse(text); err == nil && node != nil {
		return text
	}
	if strings.HasPrefix(text, "#") && len(elementsOf(text)) == 1 {
		return "file.hasTag(" + strconv.Quote(text[1:]) + ")"
	}
	for _, row := range clauseForms() {
		found := row.pattern.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		form := row.form
		if strings.HasPrefix(strings.ToLower(text), "tag") && strings.Contains(text, "!=") &&
			strings.HasPrefix(form, "file.hasTag") {
			form = "!" + form
		}
		return fillClause(form, found[1:])
	}
	return operandHere(text)
}

func textOf(elements []element) string {
	var out strings.Builder
	for _, e := range elements {
		out.WriteString(e.text)
	}
	return out.String()
}

func negated(expression string) string {
	node, err := formula.Parse(expression)
	if _, isBinary := node.(*formula.BinaryNode); (isBinary || err != nil) && !isWrapped(expression) {
		return "!(" + expression + ")"
	}
	return "!" + expression
}

// isWrapped reports whether one pair of parentheses is around all of a text.
func isWrapped(text string) bool {
	if !strings.HasPrefix(text, "(") || !strings.HasSuffix(text, ")") {
		return false
	}
	depth := 0
	elements := elementsOf(text)
	for i, e := range elements {
		switch e.text {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth == 0 && i < len(elements)-1 {
			return false
		}
	}
	return depth == 0
}

// fillClause puts the parts of a clause into a form.
func fillClause(form string, found []string) string {
	for i, text := range found {
		n := strconv.Itoa(i + 1)
		text = strings.TrimSpace(text)
		replace := func(mark string, value func() string) {
			if strings.Contains(form, mark+n) {
				form = strings.ReplaceAll(form, mark+n, value())
			}
		}
		replace("$o", func() string { return operand(operandHere(text)) })
		replace("$q", func() string { return valueHere(text) })
		replace("$s", func() string {
			if here := spelled[text]; here != "" {
				return here
			}
			return text
		})
		replace("$l", func() string {
			items := parts(text)
			for i, item := range items {
				items[i] = valueHere(strings.TrimSpace(item))
			}
			return strings.Join(items, ", ")
		})
		replace("$k", func() string { return likeHere(operand(operandHere(strings.TrimSpace(found[0]))), text) })
		replace("$", func() string { return operandHere(text) })
	}
	return form
}

// likeHere is a comparison with a pattern of SQL, in which % is any text.
func likeHere(of, pattern string) string {
	body, err := unquoted(pattern)
	if err != nil {
		body = strings.Trim(pattern, `"'`)
	}
	bare := strconv.Quote(strings.Trim(body, "%*"))
	atStart := strings.HasPrefix(body, "%") || strings.HasPrefix(body, "*")
	atEnd := strings.HasSuffix(body, "%") || strings.HasSuffix(body, "*")
	switch {
	case atStart == atEnd:
		if !atStart {
			return of + " == " + bare
		}
		return of + ".contains(" + bare + ")"
	case atStart:
		return of + ".endsWith(" + bare + ")"
	}
	return of + ".startsWith(" + bare + ")"
}

// linkText is a link as it is written in notes.
var linkText = lazily(`^\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]$`)

// thousands is a number of thousands, such as 5k.
var thousands = lazily(`(?i)^(\d+)k$`)

// bareSpan is a time without quotes, such as 7d.
var bareSpan = lazily(`(?i)(^|[\s+-])(\d+)\s*(d|w|m|h|y|days?|weeks?|months?|years?|hours?|minutes?)\b`)

// operandHere translates one side of a comparison.
func operandHere(text string) string {
	if link := linkText().FindStringSubmatch(text); link != nil {
		return "link(" + strconv.Quote(link[1]) + ")"
	}
	if strings.HasPrefix(text, "#") {
		return strconv.Quote(text[1:])
	}
	if _, err := formula.Parse(text); err == nil {
		return text
	}
	mended := dataviewSpan().ReplaceAllString(text, `duration("$1")`)
	mended = bareSpan().ReplaceAllString(mended, `${1}"${2}${3}"`)
	if _, err := formula.Parse(mended); err == nil {
		return mended
	}
	return text
}

// dataviewSpan is a duration of Dataview.
var dataviewSpan = lazily(`(?i)\bdur(?:ation)?\(\s*(\d[^()"']*?)\s*\)`)

// apostrophe is one within a word.
var apostrophe = lazily(`[\pL]'[\pL]`)

// valueHere translates what a property is compared with: a text of several words gets quotes.
func valueHere(text string) string {
	bare := strings.ReplaceAll(text, ",", "")
	if grouped().MatchString(text) {
		return bare
	}
	if number := thousands().FindStringSubmatch(text); number != nil {
		return number[1] + "000"
	}
	if body, err := unquoted(text); err == nil {
		if link := linkText().FindStringSubmatch(body); link != nil {
			return text
		}
		return strconv.Quote(body)
	}
	here := operandHere(text)
	if _, err := formula.Parse(here); err == nil && here != "" {
		return here
	}
	if strings.ContainsAny(apostrophe().ReplaceAllString(text, ""), `"'()[]`) {
		return here
	}
	return strconv.Quote(text)
}

// dataviewQuery is a query of Dataview.
var dataviewQuery = lazily(
	`(?is)^\s*(?:table(?:\s+without\s+id)?|list(?:\s+without\s+id)?|task|calendar|select)\b\s*(.*?)\s*(?:\bfrom\b\s*(.*?)\s*)?(?:\bwhere\b\s*(.*?)\s*)?(?:\b(?:sort|order\s+by)\b\s*(.*?)\s*)?(?:\blimit\b\s*(\d+)\s*)?$`,
)

// asDataview says how a query of Dataview, or of SQL, is written as parameters; "" for another text.
func asDataview(text string) string {
	found := dataviewQuery().FindStringSubmatch(straight.Replace(text))
	if found == nil {
		return ""
	}
	columns := found[1]
	from := found[2]
	where := found[3]
	sort := found[4]
	limit := found[5]
	var conditions, params []string
	for _, e := range elementsOf(from) {
		switch {
		case e.kind == quotedElement && linkText().MatchString(e.text):
			conditions = append(conditions, "file.hasLink("+strconv.Quote(linkText().FindStringSubmatch(e.text)[1])+")")
		case e.kind == quotedElement:
			conditions = append(conditions, "file.inFolder("+strconv.Quote(strings.Trim(e.text, `"'`))+")")
		case e.kind == wordElement && strings.HasPrefix(e.text, "#"):
			conditions = append(conditions, "file.hasTag("+strconv.Quote(e.text[1:])+")")
		}
	}
	if where != "" {
		condition := translated(where)
		if _, err := formula.Parse(condition); err != nil || condition == "" {
			condition = where
		}
		conditions = append(conditions, condition)
	}
	if len(conditions) > 0 {
		params = append(params, "where="+strings.Join(conditions, " && "))
	}
	if columns != "" && columns != "*" {
		params = append(params, "select="+columns)
	}
	if sort != "" {
		params = append(params, "sort="+sort)
	}
	if limit != "" {
		params = append(params, "limit="+limit)
	}
	if len(params) == 0 {
		return "a query is made of parameters: where=, select=, sort= and limit="
	}
	return excerpt.Clip(fmt.Sprintf("a query is made of parameters: %s", strings.Join(params, "; ")), maxHint)
}
