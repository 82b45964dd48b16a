package search

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

func TestQueriesAreUnderstood(t *testing.T) {
	for _, c := range []struct{ name, query, want string }{
		{"one word", "milk", "milk"},
		{"terms side by side", "milk eggs", "milk eggs"},
		{"blanks do not matter", "\t milk \u00a0 eggs  ", "milk eggs"},
		{"and before or", "a b OR c d", "a b OR c d"},
		{"or in parentheses", "(a OR b) c", "(a OR b) c"},
		{"a group that is not needed for its meaning stays", "a (b c)", "a (b c)"},
		{"groups around one term go", "((a))", "a"},
		{"or within or stays", "a OR (b OR c)", "a OR (b OR c)"},
		{"or of groups", "(a b) OR c", "a b OR c"},
		{"small or is a word", "a or b", "a or b"},
		{"AND is a word", "a AND b", "a AND b"},
		{"a word may begin with OR", "ORIGIN ORs", "ORIGIN ORs"},
		{"or touches brackets", "(a)OR(b)", "a OR b"},
		{"not a word", "a -b", "a -b"},
		{"not binds tighter than and", "-a b", "-a b"},
		{"not a group", "-(a OR b)", "-(a OR b)"},
		{"not a group of one", "-(a)", "-a"},
		{"not an operator", "-line:(a b)", "-line:(a b)"},
		{"not twice", "--a", "--a"},
		{"a dash inside of a word", "well-known", "well-known"},
		{"phrase", `"star wars"`, `"star wars"`},
		{"phrase with quotes", `"they said \"hello\""`, `"they said \"hello\""`},
		{"phrase with backslash", `"a\\b"`, `"a\\b"`},
		{"other backslashes are text", `"a\nb"`, `"a\\nb"`},
		{"empty phrase", `""`, `""`},
		{"a quote ends a word", `a"b"c`, `a "b" c`},
		{"a parenthesis ends a word", "f(x)", "f x"},
		{"brackets inside of a word", "a[0]", "a[0]"},
		{"slashes inside of a word", "a/b/c", "a/b/c"},
		{"regex", `/a\/[/]b/`, `/a\/[/]b/`},
		{"regex with flags", "/a/gi", "/a/gi"},
		{"operators in any case", "FILE:a Task-TODO:b", "file:a task-todo:b"},
		{"operator with group", "line:( a  b )", "line:(a b)"},
		{"operator with a negated term", "file:-a", "file:-a"},
		{"operator in operator", "section:(a line:(b c))", "section:(a line:(b c))"},
		{"operator with operator", "match-case:file:A", "match-case:file:A"},
		{"every operator", "file:a path:a content:a match-case:a ignore-case:a tag:a line:a block:a section:a task:a task-todo:a task-done:a",
			"file:a path:a content:a match-case:a ignore-case:a tag:a line:a block:a section:a task:a task-todo:a task-done:a"},
		{"a name with a blank behind its colon is text", "foo: bar", "foo: bar"},
		{"a name in quotes is text", `"foo:bar"`, `"foo:bar"`},
		{"a drive is text", `C:/x C:\x`, `C:/x C:\x`},
		{"a name within an operator is text", "file:foo:bar path:foo:bar tag:foo:bar", "file:foo:bar path:foo:bar tag:foo:bar"},
		{"an address is text", "https://example.org/a?b=c", "https://example.org/a?b=c"},
		{"tag", "tag:#a/b", "tag:#a/b"},
		{"property", "[status]", "[status]"},
		{"property with value", "[ status : draft ]", "[status:draft]"},
		{"property with or", "[status:draft OR done]", "[status:draft OR done]"},
		{"property with group", "[status:(a b) OR -c]", "[status:a b OR -c]"},
		{"property with phrase", `["my prop":"a b"]`, `["my prop":"a b"]`},
		{"property of several words", "[my prop:a]", "[my prop:a]"},
		{"property with names", "[(due OR start):null]", "[due OR start:null]"},
		{"property by regex", "[/^d/:/x/i]", "[/^d/:/x/i]"},
		{"property compared", "[rating:<5] [rating:>-1.5]", "[rating:<5] [rating:>-1.5]"},
		{"operators in values are text", "[a:file:b]", "[a:file:b]"},
		{"a colon in a value", "[a:12:30]", "[a:12:30]"},
		{"letters of all kinds", "größe 日本語", "größe 日本語"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := require.Value(ParseQuery(c.query, QueryOptions{}))(t)
			assert.Equal(t, q.String(), c.want, "%s is understood as", c.query)
		})
	}
}

// TestOperatorsThatDoNotExist have an error that lists the operators, and begins with
// what was most likely meant.
func TestOperatorsThatDoNotExist(t *testing.T) {
	const dates = `use the command "recent" with since=`
	for _, c := range []struct {
		query string
		at    int
		hint  string
	}{
		{"foo:bar", 1, `did you mean the property "[foo:bar]"?`},
		{"status:draft -x", 1, `did you mean the property "[status:draft] -x"?`},
		{"a tags:#work", 3, `did you mean "a tag:#work"?`},
		{"Title:Plan", 1, `did you mean "file:Plan"?`},
		{"folder:Work", 1, `did you mean "path:Work"?`},
		{"body:x", 1, `did you mean "content:x"?`},
		{"fiel:x", 1, `did you mean "file:x"?`},
		{"task_todo:x", 1, `did you mean "task-todo:x"?`},
		{"modified:today", 1, dates},
		{"line:(a created:2026)", 9, dates},
		{"-(foo:bar)", 3, `did you mean the property "-([foo:bar])"?`},
		{"foo:(a b)", 1, "operators: file: path: content: tag: line: block: section: task: task-todo: task-done: match-case: ignore-case:"},
	} {
		_, err := ParseQuery(c.query, QueryOptions{})
		var wrong *ParseError
		if !errors.As(err, &wrong) || wrong.Code() != CodeNoOperator || wrong.At != c.at ||
			!strings.Contains(wrong.Hint(), c.hint) || !strings.Contains(wrong.Hint(), "operators: file:") {
			t.Errorf("%s: %v, %+v", c.query, err, wrong)
		}
	}
	for _, name := range operators {
		_, err := ParseQuery(name+":a", QueryOptions{})
		assert.NoError(t, err, "the list has %s", name)
	}
}

func TestHowAQueryWasRead(t *testing.T) {
	for query, want := range map[string]string{
		"a b":                       "",
		`"a b"`:                     "",
		"a b OR c":                  "(a b) OR c",
		"a (b OR c)":                "a (b OR c)",
		"tag:#work -draft":          "tag:#work -draft",
		"-(a b)":                    "-(a b)",
		"line:(a b) [status:done]":  "line:(a b) [status:done]",
		"task-todo:call path:Work/": "task-todo:call path:Work/",
		"[a OR b:1]":                "[a OR b:1]",
	} {
		assert.Equal(t, mustParse(t, query, QueryOptions{}).Reading(), want, "%s is read as", query)
	}
	for _, query := range []string{"a b OR c", "a (b OR c)", "-(a b) c", "line:(a OR b) -[c:d e OR f]", `"a b" OR -/x y/`} {
		read := mustParse(t, query, QueryOptions{}).Reading()
		assert.Equal(t, mustParse(t, read, QueryOptions{}).Reading(), read, "%s, read as a query again", query)
	}
	assert.Equal(t, new(Query).Reading(), "", "the zero query is read as")
}

// Words of other languages are text here, and the query in the words of this one is offered.
func TestWordsOfOtherLanguages(t *testing.T) {
	for query, want := range map[string]string{
		"solar AND roof":                "solar roof",
		"solar AND NOT roof":            "solar -roof",
		"solar NOT roof":                "solar -roof",
		"solar && roof":                 "solar roof",
		"solar || roof":                 "solar OR roof",
		"solar and !roof":               "solar and -roof",
		"tag=work":                      "tag:#work",
		"tag=#work solar":               "tag:#work solar",
		"tags=work":                     "tag:#work",
		"status=open":                   "[status:open]",
		`status="in progress" AND roof`: `[status:"in progress"] roof`,
		"status == open":                "[status:open]",
		"folder=Projects":               "path:Projects",
		"WHERE status = open":           "[status:open]",
		"solar roof":                    "",
		"#work":                         "",
		"salt and pepper":               "",
		`"a AND b"`:                     "",
		"a OR b":                        "",
		"https://a.example/?x=1":        "",
		"E=mc²":                         "[E:mc²]",
		"line:(a AND b)":                "line:(a b)",
		"x != y":                        "-[x:y]",
		"[[Ann Lee]]":                   `"[[Ann Lee]]"`,
		"see [[Ann]]":                   `see "[[Ann]]"`,
		"NOT a != b":                    "[a:b]",
		"a NOT -b":                      "a b",
		"a NOT NOT b":                   "a b",
		"a AND NOT b":                   "a -b",
		`[[Ann]]"x y" AND b`:            "",
		`[[A "B" C]] AND d`:             `"[[A "B" C]]" d`,
		`"a [[b" c AND d]]`:             `"a [[b" c d]]`,
	} {
		assert.Equal(t, Meant(query), want, "%s is probably", query)
		if want != "" {
			mustParse(t, want, QueryOptions{})
		}
	}
}

func TestHalfTypedQueriesAreRefused(t *testing.T) {
	nested := func(n int, open, close string) string {
		return strings.Repeat(open, n) + "a" + strings.Repeat(close, n)
	}
	for _, c := range []struct {
		query string
		at    int
		code  string
	}{
		{" \t\n", 1, "query_empty"},
		{"a\xff", 1, "query_not_text"},
		{strings.Repeat("a", maxLength+1), 1, "query_too_long"},
		{strings.Repeat("a ", maxTerms+1), 2*maxTerms + 1, "query_too_long"},
		{"[" + strings.Repeat("a OR ", maxTerms) + "b]", 5*maxTerms + 3, "query_too_long"},
		{nested(maxDepth, "(", ")"), maxDepth + 1, "query_too_deep"},
		{nested(maxDepth, "-", ""), maxDepth + 1, "query_too_deep"},
		{"[" + nested(maxDepth, "(", ")") + "]", maxDepth + 1, "query_too_deep"},
		{nested(maxScopes+1, "line:", ""), 5*maxScopes + 6, "query_too_deep"},
		{`grün "ab`, 6, "quote_open"},
		{`["a`, 2, "quote_open"},
		{"a (", 3, "group_open"},
		{"[a:(b]", 4, "group_open"},
		{"[(a:b]", 2, "group_open"},
		{"a)", 2, "group_unopened"},
		{")", 1, "group_empty"},
		{"a ]", 3, "group_unopened"},
		{"[a:b)]", 5, "group_unopened"},
		{"[a)]", 3, "group_unopened"},
		{"a ()", 4, "group_empty"},
		{"file:()", 7, "group_empty"},
		{"a OR", 5, "or_alone"},
		{"OR a", 1, "or_alone"},
		{"(a OR) b", 6, "or_alone"},
		{"-OR", 2, "or_alone"},
		{"file:OR", 6, "or_alone"},
		{"a - b", 3, "dash_alone"},
		{"[a:-]", 4, "dash_alone"},
		{"file:", 5, "operator_empty"},
		{"(line:)", 6, "operator_empty"},
		{"tag:#", 5, "operator_empty"},
		{"[a", 1, "property_open"},
		{"[a:", 1, "property_open"},
		{"[a OR ", 1, "property_open"},
		{`["a" b]`, 1, "property_open"},
		{"[]", 1, "property_unnamed"},
		{"[[link]]", 1, "property_unnamed"},
		{"[a:]", 4, "property_valueless"},
		{"[a:b OR ]", 9, "or_alone"},
		{"[a:[b]]", 4, "property_in_property"},
		{"[a:<]", 4, "comparison_without_number"},
		{"[a:>2024-01-01]", 4, "comparison_without_number"},
		{"/a", 1, "regex_open"},
		{`/a\/`, 1, "regex_open"},
		{"/[/", 1, "regex_open"},
		{"//", 1, "regex_empty"},
		{"x /usr/bin", 8, "regex_flag"},
		{"/a/gg", 5, "regex_flag"},
		{"/(a/", 1, "regex_bad"},
		{"/(?>a)/", 1, "regex_bad"},
		{"/(?i)a/", 1, "regex_bad"},
		{"/" + strings.Repeat(`[a\W]`, 33) + "/", 1, "regex_bad"},
		{"/(?/", 1, "regex_bad"},
		{"[/(/:a]", 2, "regex_bad"},
	} {
		t.Run(fmt.Sprintf("%.20s", c.query), func(t *testing.T) {
			_, err := ParseQuery(c.query, QueryOptions{})
			var known *ParseError
			require.That(t, errors.As(err, &known), "%q: error %v", c.query, err)
			assert.Equal(t, known.At, c.at, "%q: %s at %d, want %s at %d", c.query, known.Code(), known.At, c.code, c.at)
			assert.Equal(t, known.Code(), c.code, "%q: %s at %d, want %s at %d", c.query, known.Code(), known.At, c.code, c.at)
			assert.That(t, known.Hint() != "", "%q: error %q, hint %q", c.query, known, known.Hint())
			assert.Contains(t, known.Error(), fmt.Sprint(c.at), "%q: error %q, hint %q", c.query, known, known.Hint())
		})
	}
}

func TestDeepestAllowedQueries(t *testing.T) {
	for _, query := range []string{
		strings.Repeat("(", maxDepth-1) + "a" + strings.Repeat(")", maxDepth-1),
		strings.Repeat("line:", maxScopes) + "a",
		strings.TrimSpace(strings.Repeat("a ", maxTerms)),
	} {
		_, err := ParseQuery(query, QueryOptions{})
		assert.NoError(t, err, "%.40s", query)
	}
}

func TestTheZeroQueryFindsNothing(t *testing.T) {
	var q Query
	require.That(t, !q.Match(&fakeNote{}), "the zero query does something")
	require.That(t, q.Lines(&fakeNote{}) == nil, "the zero query does something")
	require.That(t, !q.NeedsText(), "the zero query does something")
	require.That(t, q.Err() == nil, "the zero query does something")
	assert.Equal(t, q.String(), "", "the zero query does something")
}

func TestErrorsAboutRegexesAreShort(t *testing.T) {
	_, err := ParseQuery("a /(b/", QueryOptions{})
	want := "query, character 3: not a regex: missing closing )"
	require.That(t, err != nil, "%v, want %s", err, want)
	assert.Equal(t, err.Error(), want)
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a b OR -c", `line:("a\"b" /x[/]/i)`, "[a OR b:<5 OR null]", "tag:#a -(x)", "[/a/:b]", "foo:bar", "a - b",
		"[(a", `["`, "/a/y", "match-case:section:(A section:B)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		begin := time.Now()
		q, err := ParseQuery(text, QueryOptions{})
		took := time.Since(begin)
		require.That(t, took <= 2*time.Second, "%q took %v", text, took)
		if err != nil {
			var known *ParseError
			require.That(t, errors.As(err, &known), "%q: error %#v", text, err)
			require.That(t, known.At >= 1, "%q: error %#v", text, err)
			require.That(t, known.Hint() != "", "%q: error %#v", text, err)
			require.That(t, known.Code() != "", "%q: error %#v", text, err)
			return
		}
		again, err := ParseQuery(q.String(), QueryOptions{})
		require.That(t, err == nil || len(q.String()) > maxLength, "%q is written as %q: %v", text, q.String(), err)
		require.That(t, err != nil || again.String() == q.String(), "%q is written as %q, then as %q", text, q.String(), again.String())
	})
}

// String returns the canonical form of the query, which parses to the same query.
func (q *Query) String() string {
	if q.root == nil {
		return ""
	}
	return reading(q.root, notation{inValue: true})
}
