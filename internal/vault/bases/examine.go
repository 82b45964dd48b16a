package bases

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
)

// Names has the meanings of the names in an expression, except functions.
type Names struct {
	// Properties are the properties of the notes that the caller may see, and those that have a type.
	Properties []string
	// Formulas are the formulas of the base; nil if the expression is not in a base.
	Formulas map[string]*formula.Program
	// Meant returns the path, folder or name that was probably meant by a text that is compared with a field of a file:
	// "path", "folder", "name" or "basename". It returns "" if a file has the text itself, or if nothing is similar. It
	// may be nil.
	Meant func(field, text string) string
}

// meant calls Meant for a text that is compared with a field of a file. It returns "" for other fields.
func (n Names) meant(field, text string) string {
	if n.Meant == nil || text == "" {
		return ""
	}
	switch field {
	case "path", "folder", "name", "basename":
		return n.Meant(field, text)
	}
	return ""
}

// isProperty reports whether there is a property with a name, in any case.
func (n Names) isProperty(name string) bool {
	return slices.ContainsFunc(n.Properties, func(known string) bool { return strings.EqualFold(known, name) })
}

// Mistake is an error in an expression that the app would understand in another way than it was probably
// meant, or not at all.
type Mistake struct {
	Reason string
	// Right is the expression that was probably meant, or "" if that is not known.
	Right string
	// Advice says what to write instead if there is no Right.
	Advice string
}

// Error returns the reason.
func (m *Mistake) Error() string { return m.Reason }

// Hint returns the expression to write, or the advice.
func (m *Mistake) Hint() string {
	if m.Right == "" {
		return m.Advice
	}
	return "write " + excerpt.Clip(m.Right, maxHint)
}

// maxHint is the maximum length of an expression in a hint. Callers copy expressions of normal length unchanged.
const maxHint = 400

// Findings are the results of [Examine].
type Findings struct {
	// Mistake is nil if the expression can be evaluated as it is.
	Mistake *Mistake
	// Unknown are the properties in the expression that no note has, without duplicates.
	Unknown []string
}

// Examine searches an expression with valid syntax for mistakes: a text without quotes, which the app
// reads as a property that no note has; functions and fields that do not exist; and comparisons that have
// the same result for every note.
func Examine(p *formula.Program, names Names) Findings {
	if p == nil || p.Node() == nil {
		return Findings{}
	}
	e := examiner{source: p.Source(), names: names, skip: map[formula.Node]bool{}, texts: map[formula.Node]bool{}}
	formula.Walk(p.Node(), e.visit)
	if len(e.edits) == 0 && e.mistake == nil {
		return Findings{Unknown: e.unknown}
	}
	if e.mistake.Advice == "" {
		e.mistake.Right = e.corrected()
	}
	return Findings{Mistake: e.mistake, Unknown: e.unknown}
}

// Doubts returns the mistakes in the expressions of a base, see [Examine], except those that are already
// among the problems of the base. The app evaluates such expressions as they are.
func (b *Base) Doubts(names Names) (doubts []Problem) {
	names.Formulas = b.Formulas
	addMistake := func(where string, p *formula.Program, line int) {
		mistake := Examine(p, names).Mistake
		if mistake == nil {
			return
		}
		isKnown := slices.ContainsFunc(b.Problems, func(known Problem) bool {
			return known.Expression == p.Source() && strings.Contains(known.Text, mistake.Reason)
		})
		if !isKnown {
			text := where + mistake.Reason + "; " + mistake.Hint()
			doubts = append(doubts, Problem{Line: line, Text: text, Position: -1, Expression: p.Source()})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Formulas)) {
		addMistake(whereOf("formulas", name), b.Formulas[name], 0)
	}
	for _, name := range slices.Sorted(maps.Keys(b.Summaries)) {
		addMistake(whereOf("summaries", name), b.Summaries[name], 0)
	}
	var inFilter func(where string, f *Filter)
	inFilter = func(where string, f *Filter) {
		if f == nil {
			return
		}
		if f.Expression != nil {
			addMistake(where, f.Expression, f.Line)
		}
		for _, part := range f.Parts {
			inFilter(where, part)
		}
	}
	inFilter("Filters: ", b.Filter)
	for _, v := range b.Views {
		inFilter(fmt.Sprintf("View %q: ", v.Name), v.Filter)
	}
	return doubts
}

// examiner walks through an expression, parents before children.
type examiner struct {
	source  string
	names   Names
	skip    map[formula.Node]bool // nodes that are not to be examined as properties
	texts   map[formula.Node]bool // elements of lists, in which an unknown name is a text
	edits   []textEdit
	mistake *Mistake // the first mistake
	unknown []string
}

// textEdit replaces a part of the source.
type textEdit struct {
	start, end int
	text       string
}

// refuse records a mistake. The edits correct it; without edits, advice says what to do.
func (e *examiner) refuse(reason, advice string, edits ...textEdit) {
	if e.mistake == nil {
		e.mistake = &Mistake{Reason: reason, Advice: advice}
	}
	e.edits = append(e.edits, edits...)
}

// corrected returns the source with all edits, except edits within other edits.
func (e *examiner) corrected() string {
	edits := slices.Clone(e.edits)
	slices.SortStableFunc(edits, func(a, b textEdit) int { return a.start - b.start })
	var out strings.Builder
	at := 0
	for _, edit := range edits {
		if edit.start < at {
			continue
		}
		out.WriteString(e.source[at:edit.start])
		out.WriteString(edit.text)
		at = edit.end
	}
	out.WriteString(e.source[at:])
	return out.String()
}

// visit examines a node.
func (e *examiner) visit(n formula.Node) {
	switch n := n.(type) {
	case *formula.BinaryNode:
		isEquality := n.Op == formula.Equal || n.Op == formula.NotEqual
		if isEquality || isOrder(n.Op) {
			e.comparison(n)
		}
	case *formula.ListNode:
		for _, item := range n.Items {
			e.texts[item] = true
		}
	case *formula.CallNode:
		e.call(n)
	case *formula.MemberNode:
		e.member(n)
	case *formula.IndexNode:
		e.skipNamespace(n.X)
		e.property(n)
	case *formula.NameNode:
		e.property(n)
	}
}

// comparison examines the two sides of a comparison.
func (e *examiner) comparison(n *formula.BinaryNode) {
	left := e.unquotedText(n.X)
	right := e.unquotedText(n.Y)
	link := e.linkAt(n.Y)
	switch {
	case link != nil:
		e.refuseLink(*link)
		e.skipAll(n.Y)
	case right != nil:
		e.quote(*right)
		e.skipAll(n.Y)
	case left != nil && e.isOperand(n.Y):
		e.quote(*left)
		e.skipAll(n.X)
	}
	e.examineChain(n)
	e.examineCase(n.X, n.Y, n.Op)
	e.examineCase(n.Y, n.X, n.Op)
	e.constant(n.X, n.Y, n.Op)
	e.constant(n.Y, n.X, n.Op)
}

// skipAll marks a node and all nodes below it as examined.
func (e *examiner) skipAll(n formula.Node) {
	formula.Walk(n, func(descendant formula.Node) { e.skip[descendant] = true })
}

// quote records the mistake of a text without quotes.
func (e *examiner) quote(t sourceText) {
	reason := fmt.Sprintf("no note has the property %s, and a text needs quotes", excerpt.Quoted(t.text))
	if t.isDate {
		reason = fmt.Sprintf("%s without quotes is a subtraction", excerpt.Short(t.text))
	}
	if formula.IsFunction(t.text) {
		e.refuse(fmt.Sprintf("%s is a function", excerpt.Quoted(t.text)), "", textEdit{t.start, t.end, t.text + "()"})
		return
	}
	replacement := strconv.Quote(t.text)
	if value := foreignNames[strings.ToLower(t.text)]; value != "" {
		replacement = value
	}
	if day := dayOf[strings.ToLower(t.text)]; day != "" {
		replacement = day
	}
	e.refuse(reason, "", textEdit{t.start, t.end, replacement})
}

// sourceText is a part of the source that was probably meant as a text, although it has no quotes.
type sourceText struct {
	start, end int
	text       string
	isDate     bool // a date such as 2026-01-31, which is read as a subtraction
}

// isoDate matches a date without quotes, which is read as a subtraction.
var isoDate = lazily(`^\d{4}-\d{1,2}(-\d{1,2})?$`)

// unquotedText returns an operand that was probably meant as a text: a name that is not a property, or several
// such names joined by dashes, slashes and dots. It returns nil for other operands.
func (e *examiner) unquotedText(n formula.Node) *sourceText {
	if e.skip[n] {
		return nil
	}
	start, end, ok := e.extent(n)
	if !ok {
		return nil
	}
	text := e.source[start:end]
	_, isNumber := n.(*formula.NumberNode)
	switch {
	case isoDate().MatchString(text):
		return &sourceText{start, end, text, true}
	case isNumber || e.isKnown(n):
		return nil
	}
	return &sourceText{start, end, text, false}
}

// extent returns the range of an operand in the source. ok is false if it cannot be a text without quotes.
func (e *examiner) extent(n formula.Node) (start, end int, ok bool) {
	switch n := n.(type) {
	case *formula.NameNode:
		return n.Position(), n.Position() + len(n.Text), true
	case *formula.NumberNode:
		length := strings.IndexFunc(e.source[n.Position():], func(r rune) bool { return r < '0' || r > '9' })
		if length < 0 {
			length = len(e.source) - n.Position()
		}
		return n.Position(), n.Position() + length, length > 0
	case *formula.MemberNode:
		start, _, ok = e.extent(n.X)
		return start, n.Position() + len(n.Name), ok
	case *formula.BinaryNode:
		if n.Op != formula.Subtract && n.Op != formula.Divide {
			return 0, 0, false
		}
		start, leftEnd, leftOK := e.extent(n.X)
		rightStart, end, rightOK := e.extent(n.Y)
		// A subtraction usually has blanks around its sign, a word with a dash never has.
		isTight := leftEnd == n.Position() && rightStart == n.Position()+1
		return start, end, leftOK && rightOK && isTight
	}
	return 0, 0, false
}

// hasSlashAround reports whether a folder, other than the root, begins or ends with a slash.
func hasSlashAround(folder string) bool {
	return len(folder) > 1 && strings.Trim(folder, "/") != folder
}

// isKnown reports whether an operand has a meaning without quotes, because a property or a namespace in it
// exists.
func (e *examiner) isKnown(n formula.Node) bool {
	known := true
	switch n := n.(type) {
	case *formula.NameNode:
		isReserved := namespaces[n.Text] || slices.Contains(listVariables, n.Text) || n.Text == "values"
		return isReserved || e.names.isProperty(n.Text)
	case *formula.MemberNode:
		return e.isKnown(n.X)
	case *formula.BinaryNode:
		if n.Op == formula.Subtract || n.Op == formula.Divide {
			_, isNumber := n.X.(*formula.NumberNode)
			known = !isNumber && e.isKnown(n.X)
			if _, isNumber := n.Y.(*formula.NumberNode); !isNumber {
				known = known || e.isKnown(n.Y)
			}
		}
	}
	return known
}

// isOperand reports whether an operand is a name or a member that exists.
func (e *examiner) isOperand(n formula.Node) bool {
	_, isNumber := n.(*formula.NumberNode)
	_, _, isWords := e.extent(n)
	return isWords && !isNumber && e.isKnown(n)
}

// linkAt returns a link that is written as in a note, [[target]], which is read as a list in a list. It returns nil
// for other nodes.
func (e *examiner) linkAt(n formula.Node) *sourceText {
	if _, ok := n.(*formula.ListNode); !ok {
		return nil
	}
	start := n.Position()
	end := strings.Index(e.source[start:], "]]")
	if end < 0 {
		return nil
	}
	end += start + len("]]")
	match := linkText().FindStringSubmatch(e.source[start:end])
	if match == nil || strings.ContainsAny(match[1], `"'`) {
		return nil
	}
	return &sourceText{start: start, end: end, text: match[1]}
}

// refuseLink records the mistake of a link that is written as in a note.
func (e *examiner) refuseLink(link sourceText) {
	reason := fmt.Sprintf("%s is a list in a list", excerpt.Short(e.source[link.start:link.end]))
	e.refuse(reason, "", textEdit{link.start, link.end, "link(" + strconv.Quote(link.text) + ")"})
}

// namespaces are the names that have members and are not properties.
var namespaces = map[string]bool{"file": true, "note": true, "formula": true, "this": true}

// skipNamespace marks a namespace before a dot or a bracket, which is not a property itself.
func (e *examiner) skipNamespace(n formula.Node) {
	if name, ok := n.(*formula.NameNode); ok && namespaces[name.Text] {
		e.skip[n] = true
	}
}

// property records a property that no note has.
func (e *examiner) property(n formula.Node) {
	name, ok := propertyName(n)
	switch {
	case !ok, e.skip[n], slices.Contains(listVariables, name), name == "values", e.names.isProperty(name):
		return
	case e.texts[n]:
		if t := e.unquotedText(n); t != nil {
			e.quote(*t)
			return
		}
	}
	if !slices.Contains(e.unknown, name) {
		e.unknown = append(e.unknown, name)
	}
}

// member examines x.name.
func (e *examiner) member(n *formula.MemberNode) {
	e.skipNamespace(n.X)
	e.property(n)
	if e.skip[n] {
		return
	}
	namespace, _ := n.X.(*formula.NameNode)
	switch {
	case namespace == nil:
	case namespace.Text == "file" && !formula.IsFileField(n.Name):
		e.refuse(fmt.Sprintf(`Cannot find "%s" on type File`, n.Name), "")
		if other := fieldOf(n.Name); other != "" {
			e.edits = append(e.edits, textEdit{n.Position(), n.Position() + len(n.Name), other})
		} else {
			e.mistake.Advice = "the fields of a file are " + strings.Join(formula.FileFields(), ", ")
		}
	case namespace.Text == "formula" && e.names.Formulas[n.Name] == nil:
		e.refuse(
			fmt.Sprintf("no formula is called %q", n.Name),
			"formulas are those of the base; write the expression itself, or name a property",
		)
	}
}

// textFunctions are the methods and functions with text arguments: an argument that is a name, but not a
// property, was probably meant as a text.
var textFunctions = []string{
	"contains", "containsAll", "containsAny", "startsWith", "endsWith", "hasTag", "hasLink", "hasProperty",
	"inFolder", "link", "file", "date", "duration", "format",
	"isType", "split", "join", "icon", "image", "linksTo", "replace",
}

// call examines a call, and marks the nodes in it that are not properties.
func (e *examiner) call(n *formula.CallNode) {
	e.skip[n.Function] = true
	name := ""
	switch f := n.Function.(type) {
	case *formula.NameNode:
		name = f.Text
		if !formula.IsFunction(name) {
			e.unknownFunction(n, f)
			return
		}
	case *formula.MemberNode:
		e.skipNamespace(f.X)
		name = f.Name
		if !formula.IsMethod(name) {
			e.unknownMethod(n, f)
			return
		}
		e.examineCall(n, f)
	}
	if !slices.Contains(textFunctions, name) {
		return
	}
	for _, argument := range n.Args {
		if link := e.linkAt(argument); link != nil {
			e.refuseLink(*link)
			e.skipAll(argument)
			continue
		}
		t := e.unquotedText(argument)
		if t == nil {
			continue
		}
		if name == "date" || !formula.IsFunction(t.text) {
			e.argument(n, name, *t)
			e.skipAll(argument)
		}
	}
}

// argument records the mistake of an argument that is a text without quotes.
func (e *examiner) argument(n *formula.CallNode, function string, t sourceText) {
	f, isFunction := n.Function.(*formula.NameNode)
	day := dayOf[strings.ToLower(t.text)]
	if isFunction && function == "date" && day != "" {
		_, end := e.arguments(n)
		e.refuse(
			fmt.Sprintf("no note has the property %s", excerpt.Quoted(t.text)),
			"",
			textEdit{f.Position(), end, day},
		)
		return
	}
	e.quote(t)
}

// dayOf maps names of days in other languages to expressions.
var dayOf = map[string]string{
	"today": "today()", "now": "now()", "tomorrow": `(today() + "1d")`, "yesterday": `(today() - "1d")`,
}

// constant records a comparison of an operand with a text literal that has the same result for every note.
func (e *examiner) constant(operand, with formula.Node, op formula.Operator) {
	literal, isText := with.(*formula.StringNode)
	if !isText || e.mistake != nil {
		return
	}
	start := literal.Position()
	c := literalComparison{
		examiner: e,
		operand:  operand,
		op:       op,
		text:     literal.Value,
		start:    start,
		end:      e.textEnd(start),
	}
	if m, ok := operand.(*formula.MemberNode); ok && isFileMember(operand, m.Name) {
		c.field = strings.ToLower(m.Name)
	}
	if op == formula.Equal || op == formula.NotEqual {
		c.examineEquality()
		return
	}
	c.examineOrder()
}

// literalComparison is a comparison of an operand with a text literal.
type literalComparison struct {
	*examiner
	operand    formula.Node
	field      string // in lower case, if the operand is a field of a file
	op         formula.Operator
	text       string // the value of the literal
	start, end int    // the range of the literal in the source
}

// replace records a mistake that is corrected by replacing the literal.
func (c *literalComparison) replace(reason, replacement string) {
	c.refuse(reason, "", textEdit{c.start, c.end, replacement})
}

// examineEquality examines a comparison with == or !=.
func (c *literalComparison) examineEquality() {
	if lower := strings.ToLower(c.text); isLowered(c.operand) && c.text != lower {
		c.replace("lower() has no capital letters", strconv.Quote(lower))
		return
	}
	isTime := c.field == "mtime" || c.field == "ctime"
	if isTime && c.refuseDay() {
		return
	}
	if c.isList() && c.refuseList() {
		return
	}
	if c.examineField() {
		return
	}
	meant := ""
	if !hasSlashAround(c.text) {
		meant = c.names.meant(c.field, c.text)
	}
	switch {
	case meant != "":
		c.replace(fmt.Sprintf("no file has the %s %s", c.field, excerpt.Quoted(c.text)), strconv.Quote(meant))
	case c.field == "path" && hasNoEnding(c.text):
		c.replace("file.path has the ending of the file", strconv.Quote(c.text+".md"))
	case c.field == "folder" && c.text == "":
		c.replace("file.folder of the root of the vault is a slash", `"/"`)
	case c.field == "ext" && isOtherCaseOfMD(c.text):
		c.replace("file.ext is as the file has it", `"md"`)
	}
}

// examineField examines the equality of a field of a file with a text that has another form than the field. It reports
// whether it has recorded a mistake.
func (c *literalComparison) examineField() bool {
	switch {
	case c.field == "name" && strings.HasSuffix(c.text, ".md"):
		c.replace("file.name of a note has no .md", strconv.Quote(strings.TrimSuffix(c.text, ".md")))
	case c.field == "ext" && strings.HasPrefix(c.text, "."):
		c.replace("file.ext has no dot", strconv.Quote(strings.TrimPrefix(c.text, ".")))
	case c.field == "folder" && hasSlashAround(c.text):
		c.replace("file.folder has no slash at its ends", strconv.Quote(strings.Trim(c.text, "/")))
	default:
		return false
	}
	return true
}

// examineOrder examines a comparison with an operator such as <. Texts are compared letter by letter.
func (c *literalComparison) examineOrder() {
	if c.refuseDay() {
		return
	}
	quoted := excerpt.Quoted(c.text)
	if date := dateMeant(c.text); date != "" {
		c.replace(fmt.Sprintf("%s is a text and no date", quoted), strconv.Quote(date))
		return
	}
	switch {
	case plainNumber().MatchString(c.text):
		c.replace(fmt.Sprintf("%s is a text, which is compared letter by letter", quoted), c.text)
	case grouped().MatchString(c.text):
		c.replace(fmt.Sprintf("%s is not a number", quoted), strings.ReplaceAll(c.text, ",", ""))
	}
}

// refuseDay records the mistake if the text is the name of a day, and reports whether it is.
func (c *literalComparison) refuseDay() bool {
	day := dayOf[strings.ToLower(strings.TrimSpace(c.text))]
	if day == "" {
		return false
	}
	c.replace(fmt.Sprintf("%s is a text and no date", excerpt.Quoted(c.text)), day)
	return true
}

// isList reports whether the operand is always a list.
func (c *literalComparison) isList() bool {
	switch c.field {
	case "links", "embeds", "backlinks", "tags":
		return true
	}
	name, isProperty := propertyName(c.operand)
	return isProperty && (name == "tags" || name == "aliases")
}

// refuseList records the mistake that a list is compared with a text. It returns false if the operand has no range in
// the source.
func (c *literalComparison) refuseList() bool {
	from, to, ok := c.extent(c.operand)
	if !ok {
		return false
	}
	method := c.source[from:to] + ".contains(" + c.source[c.start:c.end] + ")"
	if c.op == formula.NotEqual {
		method = "!" + method
	}
	reason := fmt.Sprintf("%s is a list, which equals no text", c.source[from:to])
	c.refuse(reason, "", textEdit{min(from, c.start), max(to, c.end), method})
	return true
}

// isLowered reports whether an expression is a call of lower().
func isLowered(n formula.Node) bool {
	call, ok := n.(*formula.CallNode)
	if !ok {
		return false
	}
	method, ok := call.Function.(*formula.MemberNode)
	return ok && method.Name == "lower"
}

// grouped matches a number with commas between groups of three digits.
var grouped = lazily(`^-?\d{1,3}(,\d{3})+(\.\d+)?$`)

// textEnd returns the offset after the string literal that begins at start.
func (e *examiner) textEnd(start int) int {
	quote := e.source[start]
	for i := start + 1; i < len(e.source); i++ {
		switch e.source[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return len(e.source)
}

// arguments returns the source of each argument of a call, and the offset after the call.
func (e *examiner) arguments(n *formula.CallNode) (texts []string, end int) {
	open := n.Position()
	end = len(e.source)
	depth := 0
	for i := open; i < len(e.source); i++ {
		c := e.source[i]
		switch c {
		case '"', '\'':
			i = e.textEnd(i) - 1
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		}
		if depth == 0 {
			end = i + 1
			break
		}
	}
	if len(n.Args) == 0 {
		return nil, end
	}
	for _, part := range splitAtCommas(e.source[open+1 : end-1]) {
		texts = append(texts, strings.TrimSpace(part))
	}
	return texts, end
}

// unknownFunction records a function that does not exist, with the function that was probably meant.
func (e *examiner) unknownFunction(n *formula.CallNode, f *formula.NameNode) {
	reason := fmt.Sprintf(`Cannot find function "%s"`, f.Text)
	args, end := e.arguments(n)
	right := translateCall(f.Text, args)
	if right == "" {
		near := excerpt.Nearest(f.Text, formula.Functions())
		if near == "" {
			functions := strings.Join(formula.Functions(), ", ")
			advice := "the functions are " + functions + "; others are written behind a value, as in tags.contains(\"x\")"
			e.refuse(reason, advice)
			return
		}
		right = near + "(" + strings.Join(args, ", ") + ")"
	}
	e.refuse(reason, "", textEdit{f.Position(), end, right})
	// The first argument becomes part of the new source unchanged, and is still examined.
	for _, argument := range n.Args {
		if t := e.unquotedText(argument); t != nil && argument != n.Args[0] {
			e.skipAll(argument)
		}
	}
}

// unknownMethod records a method that no value has, with the method that was probably meant.
func (e *examiner) unknownMethod(n *formula.CallNode, f *formula.MemberNode) {
	reason := fmt.Sprintf(`Cannot find function "%s"`, f.Name)
	_, end := e.arguments(n)
	start := f.Position()
	lower := strings.ToLower(f.Name)
	switch right := methodOf[lower]; {
	case right != "":
		e.refuse(reason, "", textEdit{start, start + len(f.Name), right})
	case slices.Contains([]string{"length", "size", "count", "len"}, lower) && len(n.Args) == 0:
		e.refuse(reason, "", textEdit{start, end, "length"})
	case formula.IsPart(lower) && len(n.Args) == 0:
		e.refuse(reason, "", textEdit{start, end, lower})
	case slices.Contains([]string{"upper", "touppercase", "uppercase"}, lower):
		e.refuse(reason, "", textEdit{start, start + len(f.Name), "lower"})
	default:
		for _, name := range formula.Methods() {
			if strings.EqualFold(name, f.Name) {
				e.refuse(reason, "", textEdit{start, start + len(f.Name), name})
				return
			}
		}
		if near := excerpt.Nearest(f.Name, formula.Methods()); near != "" {
			e.refuse(reason, "", textEdit{start, start + len(f.Name), near})
			return
		}
		e.refuse(reason, "the functions of values are "+strings.Join(formula.Methods(), ", "))
	}
}

// methodOf maps names of methods in other languages, in lower case, to methods.
var methodOf = map[string]string{
	"includes": "contains", "include": "contains", "has": "contains", "contain": "contains",
	"indexof": "contains", "in": "contains", "includesany": "containsAny",
	"some": "containsAny", "any": "containsAny", "hasany": "containsAny", "every": "containsAll",
	"all": "containsAll", "hasall": "containsAll",
	"tolower": "lower", "tolowercase": "lower", "lowercase": "lower", "lcase": "lower",
	"beginswith": "startsWith", "substring": "slice", "substr": "slice",
	"strip": "trim", "isnull": "isEmpty", "isblank": "isEmpty", "empty": "isEmpty", "isnone": "isEmpty",
	"dateformat": "format", "strftime": "format",
	"tostr": "toString", "str": "toString", "distinct": "unique", "flatten": "flat", "hastags": "hasTag",
	"tagged": "hasTag", "infolders": "inFolder",
	"inpath": "inFolder", "linkto": "hasLink", "haslinks": "hasLink", "hasfield": "hasProperty",
	"titlecase": "title", "average": "mean", "avg": "mean",
	"total": "sum",
}

// fieldOf returns the field of a file with a name in another language, otherwise the field with the most
// similar name, or "".
func fieldOf(name string) string {
	fields := map[string]string{
		"cday": "ctime", "created": "ctime", "cdate": "ctime", "birthtime": "ctime", "mday": "mtime",
		"modified": "mtime", "updated": "mtime", "mdate": "mtime",
		"outlinks": "links", "inlinks": "backlinks", "etags": "tags", "tag": "tags", "title": "name",
		"filename": "name", "stem": "name", "extension": "ext", "type": "ext",
		"parent": "folder", "dir": "folder", "directory": "folder", "frontmatter": "properties",
		"aliases": "properties.aliases", "stat": "size", "length": "size",
	}
	if field := fields[strings.ToLower(name)]; field != "" {
		return field
	}
	return excerpt.Nearest(name, formula.FileFields())
}

// translateCall translates a call of a function of another language. It returns "" for an unknown function.
func translateCall(name string, args []string) string {
	lower := strings.ToLower(name)
	for _, row := range callForms {
		if slices.Contains(strings.Fields(row.names), lower) && len(args) == arity(row.form) {
			return fill(row.form, args)
		}
	}
	for _, function := range formula.Functions() {
		if strings.EqualFold(function, name) {
			return function + "(" + strings.Join(args, ", ") + ")"
		}
	}
	for _, method := range formula.Methods() {
		switch {
		case !strings.EqualFold(method, name):
		case formula.IsOfFiles(method):
			return "file." + method + "(" + strings.Join(args, ", ") + ")"
		case len(args) > 0:
			return operand(args[0]) + "." + method + "(" + strings.Join(args[1:], ", ") + ")"
		}
	}
	if formula.IsPart(lower) && len(args) == 1 {
		return operand(args[0]) + "." + lower
	}
	return ""
}

// callForms has the names of functions of other languages, in lower case, and the form of their calls here. In a
// form, $ and a digit is an argument, which is put into parentheses if necessary before a dot.
var callForms = [...]struct{ names, form string }{
	{"contains econtains containsword includes has instr", "$1.contains($2)"},
	{"icontains", "$1.lower().contains($2.lower())"},
	{"length len size count", "$1.length"},
	{"lower lcase tolower lowercase tolowercase", "$1.lower()"},
	{"upper ucase toupper uppercase touppercase", "$1.lower()"},
	{"empty isempty isnull isblank isnone", "$1.isEmpty()"},
	{"nonnull notnull isnotnull notempty isnotempty", "!$1.isEmpty()"},
	{"equal equals eq", "$1 == $2"},
	{"unequal notequal ne neq", "$1 != $2"},
	{"larger greater gt greaterthan", "$1 > $2"},
	{"largereq greatereq gte ge", "$1 >= $2"},
	{"smaller less lt lessthan", "$1 < $2"},
	{"smallereq lesseq lte le", "$1 <= $2"},
	{"test", "$/2/.matches($1)"},
	{"not", "!($1)"},
	{"and", "$1 && $2"},
	{"or", "$1 || $2"},
	{"default coalesce nvl ifnull ifempty", "if($1, $1, $2)"},
	{"choice iif iff ternary cond when", "if($1, $2, $3)"},
	{"choice iif iff ternary cond when", "if($1, $2)"},
	{"exists defined hasfield", "!$1.isEmpty()"},
	{"tagged taggedwith tag tags hastags", "file.hasTag($1)"},
	{"folder infolder infolders inpath", "file.inFolder($1)"},
	{"linksto linkto links haslinks", "file.hasLink($1)"},
	{"concat concatenate datetimeadd dateadd add", "$1 + $2"},
	{"datediff subtract datesub", "$1 - $2"},
	{"dateformat formatdate strftime todate_format date_format", "$1.format($2)"},
	{"striptime", "$1.date()"},
	{"regexmatch regextest matches regexp regex", "$/1/.matches($2)"},
	{"regexreplace", "$2.replace($/1/g, $3)"},
	{"dur durationof interval", "duration($1)"},
	{"string str text tostring to_string", "$1.toString()"},
	{"array aslist tolist", "list($1)"},
	{"num int float tonumber parseint parsefloat", "number($1)"},
	{"currentdate curdate current_date", "today()"},
	{"distinct", "$1.unique()"},
	{"average avg", "$1.mean()"},
	{"substring substr", "$1.slice($2, $3)"},
	{"substring substr", "$1.slice($2)"},
	{"beginswith", "$1.startsWith($2)"},
}

// arity returns the number of arguments in a form.
func arity(form string) int {
	highest := 0
	for _, c := range form {
		if '1' <= c && c <= '9' {
			highest = max(highest, int(c-'0'))
		}
	}
	return highest
}

// fill replaces the arguments in a form. $/1/ is the first argument as a regular expression.
func fill(form string, args []string) string {
	for i, arg := range args {
		n := strconv.Itoa(i + 1)
		if body, err := unquoted(arg); err == nil {
			form = strings.ReplaceAll(form, "$/"+n+"/", "/"+strings.ReplaceAll(body, "/", `\/`)+"/")
		}
		form = strings.ReplaceAll(form, "$"+n+".", operand(arg)+".")
		form = strings.ReplaceAll(form, "$"+n, arg)
	}
	return form
}

// unquoted returns the content of a string literal.
func unquoted(literal string) (string, error) {
	node, err := formula.Parse(literal)
	if err != nil {
		return "", err
	}
	if text, ok := node.(*formula.StringNode); ok {
		return text.Value, nil
	}
	return "", strconv.ErrSyntax
}

// operand puts an expression into parentheses if a dot after it would not apply to all of it.
func operand(text string) string {
	node, err := formula.Parse(text)
	switch node.(type) {
	case *formula.BinaryNode, *formula.UnaryNode, *formula.NumberNode:
		return "(" + text + ")"
	}
	if err != nil || !utf8.ValidString(text) {
		return "(" + text + ")"
	}
	return text
}

// isOtherCaseOfMD reports whether an extension is "md" with capital letters.
func isOtherCaseOfMD(extension string) bool {
	return extension != "md" && strings.EqualFold(extension, "md")
}
