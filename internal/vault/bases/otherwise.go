package bases

import (
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/vault/bases/formula"
)

// This file replaces spellings of other languages in the text of an expression before it is parsed. The result is
// examined like any other expression, so that a wrong replacement does no harm.

// respelling is a pattern of a spelling in another language, and its replacement.
type respelling struct {
	pattern *regexp.Regexp
	form    string
}

// respellings are compiled on first use, because most processes do not need them.
var respellings = sync.OnceValue(func() []respelling {
	return []respelling{
		{regexp.MustCompile(`^\s*return\s+`), ""},
		{regexp.MustCompile(`\s--\s[^"']*$`), ""},
		{regexp.MustCompile(`^\s*\{\{\s*(.*?)\s*\}\}\s*$`), "$1"},
		{regexp.MustCompile(`\{\{\s*([\pL][\pL\d_.-]*)\s*\}\}`), "$1"},
		{regexp.MustCompile("`([\\pL][\\pL\\d_-]*)`(\\s*[=!<>])"), "$1$2"},
		{regexp.MustCompile(`(?i)\bprops?\(\s*["']([\pL][\pL\d_]*)["']\s*\)`), "$1"},
		{regexp.MustCompile(`(?i)\bprops?\(\s*["']([^"']+)["']\s*\)`), `note["$1"]`},
		{regexp.MustCompile(`\b(?:frontmatter|fm|page|doc)\.([\pL])`), "$1"},
		{regexp.MustCompile(`(^|[^\w.])(?:_|lodash)\.(\w+\()`), "$1$2"},
		{regexp.MustCompile(`\?\.`), "."},
		{regexp.MustCompile(`\bnew\s+Date\(\s*\)|\bDate\.now\(\s*\)|\bdatetime\.(?:now|today)\(\s*\)|\bmoment\(\s*\)`), "now()"},
		{regexp.MustCompile(`\bdate\.today\(\s*\)`), "today()"},
		{regexp.MustCompile(`\bnew\s+Date\(`), "date("},
		{regexp.MustCompile(`(?i)\bcurrent_timestamp\b(?:\(\s*\))?`), "now()"},
		{regexp.MustCompile(`(?i)\bcurrent_date\b(?:\(\s*\))?`), "today()"},
		{regexp.MustCompile(`\bMath\.(round|floor|ceil|abs)\(([^()]*)\)`), "($2).$1()"},
		{regexp.MustCompile(`\bMath\.(min|max)\(`), "$1("},
		{regexp.MustCompile(`\((\w+)\)\.(round|floor|ceil|abs)\(`), "$1.$2("},
		{regexp.MustCompile(`\.indexOf\(([^()]*)\)\s*(?:!==?\s*-1|>=\s*0|>\s*-1)`), ".contains($1)"},
		{regexp.MustCompile(`([\w.]+)\.indexOf\(([^()]*)\)\s*(?:===?\s*-1|<\s*0)`), "!$1.contains($2)"},
		{regexp.MustCompile(`\.charAt\(\s*0\s*\)`), ".slice(0, 1)"},
		{regexp.MustCompile(`\.get(?:UTC)?FullYear\(\s*\)`), ".year"},
		{regexp.MustCompile(`\.get(?:UTC)?Date\(\s*\)`), ".day"},
		{regexp.MustCompile(`\.get(?:UTC)?Hours\(\s*\)`), ".hour"},
		{regexp.MustCompile(`([\w.]+)\.(?:match|matches|search|test)\(\s*(/(?:[^/\\]|\\.)+/[a-z]*)\s*\)`), "$2.matches($1)"},
		{regexp.MustCompile(`(/(?:[^/\\]|\\.)+/[a-z]*)\.(?:test|exec|match)\(`), "$1.matches("},
		{regexp.MustCompile(`\btypeof\s*\(?\s*([\w.]+)\s*\)?\s*={1,3}\s*(["']\w+["'])`), "$1.isType($2)"},
		{regexp.MustCompile(`(?i)\bdate_?(?:time)?_?add\(\s*([^(),]+(?:\(\))?)\s*,\s*(\d+)\s*,\s*["']?(day|week|month|year|hour|minute)s?["']?\s*\)`), `$1 + "$2$3"`},
		{regexp.MustCompile(`(?i)\bdate_?(?:time)?_?sub(?:tract)?\(\s*([^(),]+(?:\(\))?)\s*,\s*(\d+)\s*,\s*["']?(day|week|month|year|hour|minute)s?["']?\s*\)`), `$1 - "$2$3"`},
		{regexp.MustCompile(`(?i)\btimedelta\(\s*(day|week|hour|minute)s?\s*=\s*(\d+)\s*\)`), `"$2$1"`},
		{regexp.MustCompile(`\$(\d)`), "$1"},
		{regexp.MustCompile(`(?i)\s+(?:is\s+)?(?:greater|more|larger|bigger|higher)\s+than\s+or\s+equals?(?:\s+to)?\s+|\s+(?:is\s+)?at\s+least\s+|\s+(?:is\s+)?on\s+or\s+after\s+`), " >= "},
		{regexp.MustCompile(`(?i)\s+(?:is\s+)?(?:less|smaller|lower|fewer)\s+than\s+or\s+equals?(?:\s+to)?\s+|\s+(?:is\s+)?at\s+most\s+|\s+(?:is\s+)?on\s+or\s+before\s+`), " <= "},
		{regexp.MustCompile(`(?i)\s+(?:is\s+)?(?:greater|more|larger|bigger|higher|later)\s+than\s+|\s+(?:is\s+)?after\s+`), " > "},
		{regexp.MustCompile(`(?i)\s+(?:is\s+)?(?:less|smaller|lower|fewer|earlier)\s+than\s+|\s+(?:is\s+)?before\s+`), " < "},
		{regexp.MustCompile(`(?i)\s+(?:is\s+)?equals?\s+to\s+`), " == "},
	}
})

// longSpan matches a duration with the word of its unit.
var longSpan = lazily(`(?i)"(\d+)(day|week|month|year|hour|minute)"`)

// shortSpans replaces the words of units in durations by letters.
func shortSpans(text string) string {
	return longSpan().ReplaceAllStringFunc(text, func(span string) string {
		part := longSpan().FindStringSubmatch(span)
		letter := strings.ToLower(part[2][:1])
		if strings.EqualFold(part[2], "month") {
			letter = "M"
		}
		return `"` + part[1] + letter + `"`
	})
}

// relativeDay matches a comparison with a time relative to now, such as < 7 days ago.
var relativeDay = lazily(
	`(?i)([<>]=?|={1,3}|!=)\s*(?:(in)\s+)?(\d+)\s*(day|week|month|year|hour|minute)s?(?:\s+(ago))?\b`,
)

// replaceSpellings replaces the spellings of other languages in a text. It returns the text unchanged if that would
// change a quoted text of several words.
func replaceSpellings(text string) string {
	original := text
	for _, r := range respellings() {
		text = r.pattern.ReplaceAllString(text, r.form)
	}
	text = relativeDay().ReplaceAllStringFunc(shortSpans(text), func(comparison string) string {
		part := relativeDay().FindStringSubmatch(comparison)
		sign := "+"
		if part[5] != "" {
			sign = "-"
		}
		if part[2] == "" && part[5] == "" {
			return comparison
		}
		return part[1] + " today() " + sign + " " + shortSpans(`"`+part[3]+part[4]+`"`)
	})
	for _, quoted := range severalWords().FindAllString(original, -1) {
		if !strings.Contains(text, quoted) {
			return original
		}
	}
	return text
}

// severalWords matches a quoted text of several words.
var severalWords = lazily(`"[^"]* [^"]*"|'[^']* [^']*'`)

// templateFilter matches a value with a template filter, as in tags | length > 2.
var templateFilter = lazily(
	`^\s*([\pL][\pL\d_.]*)\s*\|\s*([\pL][\pL\d_]*)\s*(?::\s*("[^"]*"|'[^']*'|[\w.]+)|\(([^()]*)\))?\s*((?:==|!=|<=|>=|<|>).*)?$`,
)

// translateFilter translates an expression with a template filter into a call. It returns other texts unchanged.
func translateFilter(text string) string {
	match := templateFilter().FindStringSubmatch(text)
	if match == nil {
		return text
	}
	args := []string{match[1]}
	if argument := match[3] + match[4]; argument != "" {
		args = append(args, argument)
	}
	if translateCall(match[2], args) == "" {
		return text
	}
	return strings.TrimSpace(match[2] + "(" + strings.Join(args, ", ") + ") " + match[5])
}

// foreignNames maps names of values in other languages, in lower case, to expressions.
var foreignNames = map[string]string{
	"true": "true", "false": "false", "null": "null", "none": "null", "nil": "null", "undefined": "null",
	"current_date": "today()",
}

// foreignRoots are objects of other languages, which do not exist here.
var foreignRoots = map[string]bool{
	"Math": true, "Date": true, "JSON": true, "Object": true, "Array": true, "String": true, "Number": true,
	"_": true, "moment": true, "dv": true,
	"datetime": true, "page": true, "frontmatter": true,
}

// examineCall examines a call of a method: of an object that does not exist, or with the same result for every note.
func (e *examiner) examineCall(n *formula.CallNode, f *formula.MemberNode) {
	if root, ok := f.X.(*formula.NameNode); ok && foreignRoots[root.Text] && !e.names.isProperty(root.Text) {
		e.refuse("there is no object "+strconv.Quote(root.Text), "functions are written behind a value, as in rating.round(), or alone, as in today()")
		return
	}
	if len(n.Args) != 1 {
		return
	}
	literal, isText := n.Args[0].(*formula.StringNode)
	member, isField := f.X.(*formula.MemberNode)
	if !isText || e.mistake != nil {
		return
	}
	start := literal.Position()
	end := e.textEnd(start)
	isName := isField && isFileMember(member, "name")
	isPath := isField && (isFileMember(member, "path") || isFileMember(member, "folder"))
	switch {
	case f.Name == "endsWith" && isName && literal.Value == ".md":
		from, _, known := e.extent(f.X)
		_, to := e.arguments(n)
		if known {
			e.refuse("file.name of a note has no .md", "", textEdit{from, to, `file.ext == "md"`})
		}
	case f.Name == "startsWith" && isPath && isBelowRoot(literal.Value):
		e.refuse("a path has no slash at its start", "", textEdit{start, end, strconv.Quote(strings.TrimPrefix(literal.Value, "/"))})
	case f.Name == "format" && hasForeignDays(literal.Value):
		meant := strings.NewReplacer("yyyy", "YYYY", "yy", "YY", "dd", "DD", "d", "D").Replace(literal.Value)
		e.refuse("in a format dd is the day of the week", "", textEdit{start, end, strconv.Quote(meant)})
	}
}

// hasForeignDays reports whether a date format has the day of the month as in other languages, such as dd.
func hasForeignDays(format string) bool {
	return strings.Contains(format, "yy") && strings.Contains(format, "d") && !strings.ContainsAny(format, "YD[")
}

// examineChain examines a comparison of the result of another comparison, as in 2 <= rating <= 4.
func (e *examiner) examineChain(n *formula.BinaryNode) {
	inner, ok := n.X.(*formula.BinaryNode)
	isChain := ok && isOrder(n.Op) && isOrder(inner.Op)
	if !isChain || e.mistake != nil {
		return
	}
	from, to, known := e.extent(inner.Y)
	if !known {
		return
	}
	e.refuse("a comparison of two comparisons compares true and false", "", textEdit{to, to, " && " + e.source[from:to]})
}

// isBelowRoot reports whether a path begins with a slash but is not just a slash.
func isBelowRoot(path string) bool { return strings.HasPrefix(path, "/") && path != "/" }

// isOrder reports whether an operator compares the order of two values.
func isOrder(op formula.Operator) bool {
	switch op {
	case formula.Less, formula.Greater, formula.LessEqual, formula.GreaterEqual:
		return true
	}
	return false
}

// examineCase examines the comparison of a call of lower() with a text that has capital letters, which is never equal.
func (e *examiner) examineCase(operand, with formula.Node, op formula.Operator) {
	call, isCall := operand.(*formula.CallNode)
	literal, isText := with.(*formula.StringNode)
	isEquality := op == formula.Equal || op == formula.NotEqual
	isComparison := isCall && isText && isEquality
	if !isComparison || e.mistake != nil {
		return
	}
	f, isMethod := call.Function.(*formula.MemberNode)
	lower := strings.ToLower(literal.Value)
	if !isMethod || f.Name != "lower" || lower == literal.Value {
		return
	}
	start := literal.Position()
	e.refuse("a text in lower case equals none with capital letters", "", textEdit{start, e.textEnd(start), strconv.Quote(lower)})
}

// jsonOperators maps operators of JSON queries to operators.
var jsonOperators = map[string]string{
	"$eq": "==", "$ne": "!=", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<=",
}

// conditionsOf translates a query that is a JSON object, such as {"status": "open"}. It returns "" for other texts.
func conditionsOf(text string) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) != nil {
		return ""
	}
	var conditions []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		var comparisons map[string]json.RawMessage
		if json.Unmarshal(object[name], &comparisons) != nil {
			comparisons = map[string]json.RawMessage{"$eq": object[name]}
		}
		for _, operator := range slices.Sorted(maps.Keys(comparisons)) {
			conditions = append(conditions, name+" "+jsonOperators[operator]+" "+string(comparisons[operator]))
		}
	}
	return strings.Join(conditions, " && ")
}

// separateColumns returns names of columns that are separated by blanks with commas between them. It returns "" for
// other texts.
func separateColumns(text string) string {
	names := strings.Fields(text)
	for _, name := range names {
		node, err := formula.Parse(name)
		if err != nil || !isID(node) || len(names) < 2 {
			return ""
		}
	}
	return strings.Join(names, ", ")
}

// plainNumber matches a number without grouping.
var plainNumber = lazily(`^-?\d+(?:\.\d+)?$`)

// foreignLayouts are unambiguous layouts of dates that are not dates here.
var foreignLayouts = []string{"2006-1-2", "2006/1/2", "2006.1.2", "2.1.2006", "January 2, 2006", "January 2 2006", "2 January 2006", "Jan 2, 2006", "Jan 2 2006", "2 Jan 2006"}

// dateMeant returns the date that a text has in another layout. It returns "" for other texts, and for valid dates.
func dateMeant(text string) string {
	text = strings.TrimSpace(text)
	for _, layout := range foreignLayouts {
		if day, err := time.Parse(layout, text); err == nil && day.Format(time.DateOnly) != text {
			return day.Format(time.DateOnly)
		}
	}
	return ""
}

// hasNoEnding reports whether a path has no extension, so that it cannot be the path of a note.
func hasNoEnding(text string) bool {
	return text != "" && !strings.HasSuffix(text, "/") && path.Ext(text) == ""
}

// lazily returns a function that compiles a pattern on first use.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
