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

// Judge compiles an expression of a request and examines it. It returns the properties in it that no note
// has. The error is a [*Mistake], with the expression that was probably meant if that is known: for an
// expression in the syntax of other languages, with a text without quotes, or with functions that do not
// exist.
func Judge(text string, names Names) (p *formula.Program, unknown []string, err error) {
	p, parseErr := ParseExpression(text)
	if parseErr == nil {
		findings := Examine(p, names)
		if findings.Mistake == nil {
			return p, findings.Unknown, nil
		}
		findings.Mistake.confirm(names)
		if other := replaceSpellings(text); other != text {
			meant := &Mistake{Right: translate(other)}
			meant.confirm(names)
			if meant.Right != "" {
				findings.Mistake.Right = meant.Right
			}
		}
		return nil, nil, findings.Mistake
	}
	mistake := &Mistake{Reason: parseErr.Error()}
	if advice := dataviewAdvice(text); advice != "" {
		isTaskQuery := strings.HasPrefix(strings.ToLower(strings.TrimSpace(text)), "task")
		if isTaskQuery {
			advice = "the command \"tasks\" lists tasks; query lists notes"
		}
		mistake.Advice = advice
		return nil, nil, mistake
	}
	mistake.Right = translate(text)
	if conditions := conditionsOf(text); conditions != "" {
		mistake.Right = conditions
	}
	mistake.confirm(names)
	if mistake.Right == "" && mistake.Advice == "" {
		mistake.Advice = adviceFor(text)
	}
	return nil, nil, mistake
}

// confirm corrects the expression that was probably meant until it has no mistakes, and drops it if that
// does not succeed.
func (m *Mistake) confirm(names Names) {
	const rounds = 4 // for edits within other edits
	for range rounds {
		if m.Right == "" {
			return
		}
		p, err := ParseExpression(m.Right)
		if err != nil {
			m.Right = ""
			return
		}
		findings := Examine(p, names)
		if findings.Mistake == nil {
			return
		}
		m.Right = findings.Mistake.Right
		m.Advice = findings.Mistake.Advice
	}
	m.Right = ""
}

// adviceFor returns advice on the syntax, by the first word of another language in a text.
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

// elementKind is the kind of an element.
type elementKind uint8

const (
	blankElement elementKind = iota
	wordElement
	quotedElement
	signElement
)

// straight replaces typographic quotes, which text programs insert, by straight ones.
var straight = strings.NewReplacer("\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u2018", "'", "\u2019", "'", "`", `"`)

// elementsOf splits an expression into elements. Dashes, dots and slashes within words, and a leading #, belong to
// the words.
func elementsOf(text string) (elements []element) {
	for text != "" {
		size, kind := nextElement(text)
		elements = append(elements, element{text[:size], kind})
		text = text[size:]
	}
	return elements
}

// nextElement returns the length in bytes and the kind of the first element of a text.
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
			isInside := strings.ContainsRune("-./@'", c) && i+width+1 < len(text) && beginsWord(text[i+width+1:])
			if !isWordRune(c) && !isInside {
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

// isWordRune reports whether r can be in a word.
func isWordRune(r rune) bool {
	if r == '_' || r == '$' {
		return true
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// beginsWord reports whether a text begins with a character of a word.
func beginsWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return isWordRune(r)
}

// signs are the signs of more than one character. Longer signs are before shorter ones with the same beginning.
var signs = []string{"===", "!==", "<>", "=~", "~=", "&&", "||", "==", "!=", "<=", ">=", "=>", "=<", "??", ":="}

// operatorOf maps signs of other languages to operators.
var operatorOf = map[string]string{
	"===": "==", "!==": "!=", "<>": "!=", "=": "==", "=>": ">=", "=<": "<=", "&": "&&", "|": "||", ":=": "==",
	"≠": "!=", "≤": "<=", "≥": ">=",
}

// translate translates an expression from the syntax of other languages. The result need not be valid. It is ""
// for a text that is too long.
func translate(text string) string {
	if len(text) > maxTranslated {
		return ""
	}
	text = translateFilter(straight.Replace(replaceSpellings(strings.TrimSpace(text))))
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

// maxTranslated is the maximum length in bytes of an expression to translate. Expressions written by hand are
// shorter, and the contents of each pair of parentheses are split again.
const maxTranslated = 1000

// firstText returns the text of the first element, or "".
func firstText(elements []element) string {
	if len(elements) == 0 {
		return ""
	}
	return elements[0].text
}

// joinClauses translates the logical operators and the clauses between them.
func joinClauses(elements []element) string {
	var out strings.Builder
	var clause []element
	depth := 0
	isBetween := false
	flush := func() {
		out.WriteString(translateClause(clause))
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

// clauseForms are patterns of clauses in other languages, and their forms here, see fillClause. They are
// compiled on first use.
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

// clauseForm is a pattern of clauses in another language, and the form of such a clause here.
type clauseForm struct {
	pattern *regexp.Regexp
	form    string
}

// translateClause translates a clause between two logical operators.
func translateClause(elements []element) string {
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
		match := row.pattern.FindStringSubmatch(text)
		if match == nil {
			continue
		}
		form := row.form
		isTagTest := strings.HasPrefix(form, "file.hasTag") && strings.HasPrefix(strings.ToLower(text), "tag")
		if isTagTest && strings.Contains(text, "!=") {
			form = "!" + form
		}
		return fillClause(form, match[1:])
	}
	return translateOperand(text)
}

// textOf returns the text of some elements.
func textOf(elements []element) string {
	var out strings.Builder
	for _, e := range elements {
		out.WriteString(e.text)
	}
	return out.String()
}

// negated returns the negation of an expression.
func negated(expression string) string {
	node, err := formula.Parse(expression)
	_, isBinary := node.(*formula.BinaryNode)
	needsParentheses := isBinary || err != nil
	if needsParentheses && !isWrapped(expression) {
		return "!(" + expression + ")"
	}
	return "!" + expression
}

// isWrapped reports whether a single pair of parentheses encloses all of a text.
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

// fillClause replaces the parts of a clause in a form: $1 is an operand, $o1 an operand before a dot, $q1 a
// value, which gets quotes if it is a text, $s1 an operator, $l1 the elements of a list, and $k1 a comparison
// of the first part with a pattern of SQL.
func fillClause(form string, clauseParts []string) string {
	for i, text := range clauseParts {
		n := strconv.Itoa(i + 1)
		text = strings.TrimSpace(text)
		replace := func(mark string, value func() string) {
			if strings.Contains(form, mark+n) {
				form = strings.ReplaceAll(form, mark+n, value())
			}
		}
		replace("$o", func() string { return operand(translateOperand(text)) })
		replace("$q", func() string { return translateValue(text) })
		replace("$s", func() string {
			if operator := operatorOf[text]; operator != "" {
				return operator
			}
			return text
		})
		replace("$l", func() string {
			items := splitAtCommas(text)
			for i, item := range items {
				items[i] = translateValue(strings.TrimSpace(item))
			}
			return strings.Join(items, ", ")
		})
		replace("$k", func() string {
			return translateLike(operand(translateOperand(strings.TrimSpace(clauseParts[0]))), text)
		})
		replace("$", func() string { return translateOperand(text) })
	}
	return form
}

// translateLike translates a comparison of an operand with a pattern of SQL, in which % is any text.
func translateLike(operand, pattern string) string {
	body, err := unquoted(pattern)
	if err != nil {
		body = strings.Trim(pattern, `"'`)
	}
	text := strconv.Quote(strings.Trim(body, "%*"))
	isOpenStart := strings.HasPrefix(body, "%") || strings.HasPrefix(body, "*")
	isOpenEnd := strings.HasSuffix(body, "%") || strings.HasSuffix(body, "*")
	switch {
	case isOpenStart == isOpenEnd:
		if !isOpenStart {
			return operand + " == " + text
		}
		return operand + ".contains(" + text + ")"
	case isOpenStart:
		return operand + ".endsWith(" + text + ")"
	}
	return operand + ".startsWith(" + text + ")"
}

// linkText matches a link as it is written in notes, with its target.
var linkText = lazily(`^\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]$`)

// thousands matches a number of thousands, such as 5k.
var thousands = lazily(`(?i)^(\d+)k$`)

// bareSpan matches a duration without quotes, such as 7d.
var bareSpan = lazily(`(?i)(^|[\s+-])(\d+)\s*(d|w|m|h|y|days?|weeks?|months?|years?|hours?|minutes?)\b`)

// translateOperand translates one side of a comparison.
func translateOperand(text string) string {
	if link := linkText().FindStringSubmatch(text); link != nil {
		return "link(" + strconv.Quote(link[1]) + ")"
	}
	if strings.HasPrefix(text, "#") {
		return strconv.Quote(text[1:])
	}
	if _, err := formula.Parse(text); err == nil {
		return text
	}
	corrected := dataviewSpan().ReplaceAllString(text, `duration("$1")`)
	corrected = bareSpan().ReplaceAllString(corrected, `${1}"${2}${3}"`)
	if _, err := formula.Parse(corrected); err == nil {
		return corrected
	}
	return text
}

// dataviewSpan matches a duration of Dataview, such as dur(7 days).
var dataviewSpan = lazily(`(?i)\bdur(?:ation)?\(\s*(\d[^()"']*?)\s*\)`)

// apostrophe matches an apostrophe within a word.
var apostrophe = lazily(`[\pL]'[\pL]`)

// translateValue translates a value that a property is compared with. A text of several words gets quotes.
func translateValue(text string) string {
	withoutCommas := strings.ReplaceAll(text, ",", "")
	if grouped().MatchString(text) {
		return withoutCommas
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
	translation := translateOperand(text)
	if _, err := formula.Parse(translation); err == nil && translation != "" {
		return translation
	}
	if strings.ContainsAny(apostrophe().ReplaceAllString(text, ""), `"'()[]`) {
		return translation
	}
	return strconv.Quote(text)
}

// dataviewQuery matches a query of Dataview, or a similar one of SQL.
var dataviewQuery = lazily(
	`(?is)^\s*(?:table(?:\s+without\s+id)?|list(?:\s+without\s+id)?|task|calendar|select)\b\s*(.*?)\s*(?:\bfrom\b\s*(.*?)\s*)?(?:\bwhere\b\s*(.*?)\s*)?(?:\b(?:sort|order\s+by)\b\s*(.*?)\s*)?(?:\blimit\b\s*(\d+)\s*)?$`,
)

// dataviewAdvice returns how to write a query of Dataview or SQL as parameters. It returns "" for other texts.
func dataviewAdvice(text string) string {
	match := dataviewQuery().FindStringSubmatch(straight.Replace(text))
	if match == nil {
		return ""
	}
	columns := match[1]
	from := match[2]
	where := match[3]
	sort := match[4]
	limit := match[5]
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
		condition := translate(where)
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
