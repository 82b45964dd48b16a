package search

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

const sample = `---
status: draft
---
Intro with Apples and pears.
Second line #fruit/red here.

# Shopping
- [ ] buy milk
      and cheese
- [x] buy bread #done
  - [/] half sugar
plain tail

## Sub
zebra crossing

` + "```" + `
code one

code two
` + "```" + `
> [!note] Title
>
> quoted text
> - [ ] quoted task
# Other
last words`

var sampleProperties, _ = frontmatter.Parse([]byte(`Status: In Draft
rating: 4.5
done: true
open: false
due:
blank: ""
none: []
fruit: [apple, banana split, 7]
my prop: null and void
TAGS: ["#Top/Level", second, "a, b", 2024, ""]
`))

func sampleNote() *fakeNote {
	return &fakeNote{path: "Daily Notes/2024/Über Plan.md", text: []byte(sample), properties: sampleProperties}
}

func mustParse(t testing.TB, text string, options QueryOptions) *Query {
	t.Helper()
	return require.Value(ParseQuery(text, options))(t)
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		query string
		want  bool
	}{
		// words
		{"apples", true}, {"APPLE", true}, {"pple", true}, {"appels", false},
		{"apples zebra", true}, {"apples nothing", false}, {"nothing OR zebra", true}, {"nothing OR nowhere", false},
		{"-nothing", true}, {"-apples", false}, {"apples -(zebra pears)", false}, {"apples -(zebra nothing)", true},
		{"nothing apples OR zebra", true}, {"nothing (apples OR zebra)", false},
		{"über", true}, {"ÜBER", true}, {"daily", true}, {"2024/ü", true}, {"plan.md", true}, {"md", false}, {".md", false},
		{"status:", true}, {"draft", true}, {`""`, true},
		// phrases
		{`"apples and pears"`, true}, {`"pples and pears"`, false}, {`"apples and pear"`, false}, {`"APPLES"`, true},
		{`"pears."`, true}, {`"[!note]"`, true}, {`"über plan"`, true}, {`"ber plan"`, false}, {`"md"`, false},
		// where
		{"file:über", true}, {"file:md", true}, {"file:daily", false}, {"file:(über -daily)", true}, {"file:apples", false},
		{`path:"daily notes/2024"`, true}, {"path:nothing", false}, {"path:md", true}, {"path:/^daily.*md$/", true},
		{"content:über", false}, {"content:zebra", true}, {"content:-über", true}, {"file:(content:zebra)", true}, {"content:(file:über)", true},
		// case
		{"match-case:Apples", true}, {"match-case:apples", false}, {"match-case:(zebra ignore-case:APPLES)", true},
		{"match-case:file:über", false}, {"match-case:file:Über", true}, {`match-case:"Apples and"`, true}, {`match-case:"apples and"`, false},
		// lines
		{"line:(apples pears)", true}, {"line:(apples fruit)", false}, {"-line:(apples fruit)", true}, {"line:(buy -milk)", true},
		{"line:(buy -b)", false}, {`line:""`, true}, {"line:(tag:#done buy)", true}, {"line:(tag:#fruit apples)", false}, {"line:/^## sub$/", true},
		{"line:über", false}, {"line:(file:über zebra)", true}, {"line:(zebra status)", false},
		// blocks
		{"block:(apples fruit)", true}, {"block:(milk cheese)", true}, {"block:(milk bread)", false}, {"block:(code one two)", true},
		{"block:(title quoted)", true}, {"block:(title task)", false}, {"block:(crossing code)", false}, {"block:(status draft)", true},
		{"block:(sub zebra)", false}, {"block:(sugar plain)", true}, {"block:(draft intro)", false}, {"block:(other last)", false},
		{"line:(block:(apples pears))", true}, {"line:(block:(apples fruit))", false}, {"block:(line:(apples fruit))", false},
		// sections
		{"section:(shopping milk bread)", true}, {"section:(shopping zebra)", false}, {"section:(status apples)", true},
		{"section:(sub zebra quoted)", true}, {"section:(other words)", true}, {"section:(quoted words)", false},
		{"section:(shopping section:(sub zebra))", true}, {"section:(shopping section:words)", false},
		{"section:(milk section:(zebra))", true}, {"section:(milk line:(buy bread))", true}, {"section:(zebra line:(buy bread))", false},
		{"section:(intro section:pears)", true}, {"section:(tag:#done milk)", true}, {"section:(tag:#done intro)", false},
		{"line:(section:(section:zebra))", false}, {"line:(section:zebra)", true}, {"block:(section:(apples fruit))", true},
		// tasks
		{`task:""`, true}, {"task:milk", true}, {"task:x", false}, {"task:zebra", false}, {"task:(milk cheese)", true}, {"task:(bread sugar)", false},
		{"task-todo:milk", true}, {"task-todo:bread", false}, {"task-done:bread", true}, {"task-done:sugar", true}, {"task-done:milk", false},
		{"task-todo:quoted", true}, {"task:plain", true}, {"task:(line:(milk cheese))", false}, {"task:(block:(milk cheese))", true},
		{"task-done:tag:#done", true}, {"task-todo:tag:#done", false}, {"section:(shopping task-done:bread)", true}, {"section:(sub task-done:bread)", false},
		// tags
		{"tag:#fruit", true}, {"tag:fruit", true}, {"tag:#FRUIT/RED", true}, {"tag:#fruit/", true}, {"tag:#red", false}, {"tag:#frui", false},
		{"tag:#top", true}, {"tag:#top/level", true}, {"tag:#second", true}, {"tag:#a", false}, {"tag:#2024", false},
		{"tag:(#fruit #second)", true}, {"tag:(#fruit #nothing)", false}, {"tag:(#nothing OR #second)", true}, {"tag:-#nothing", true},
		{"match-case:tag:#FRUIT", true}, {`tag:"#fruit"`, true}, {`tag:""`, true}, {"tag:/^#fr.*d$/", true}, {"tag:/^#x/", false},
		{"line:tag:#second", false}, {"-tag:#fruit", false},
		// properties
		{"[status]", true}, {"[STATUS]", true}, {"[stat]", false}, {"[none]", true}, {"[due]", true}, {"-[nothing]", true},
		{"[status:draft]", true}, {"[status:raf]", true}, {`[status:"raf"]`, false}, {`[status:"in draft"]`, true}, {"[status:done]", false},
		{"[status:draft OR done]", true}, {"[status:-done]", true}, {"[nothing:-done]", false}, {"[status:in draft]", true}, {"[status:in done]", false},
		{"[status:/^in/]", true}, {"[status:/^draft/]", false}, {"match-case:[status:draft]", false}, {"match-case:[status:Draft]", true},
		{"[due:null]", true}, {"[due:NULL]", true}, {"[blank:null]", false}, {"[none:null]", false}, {"[status:null]", false}, {"[my prop:null]", false},
		{`[my prop:"null"]`, true}, {`["my prop":void]`, true}, {"[my prop]", true}, {"[nothing:null]", false},
		{`[due:""]`, false}, {`[blank:""]`, true}, {`[none:""]`, false},
		{"[done:TRUE]", true}, {"[done:true]", true}, {"[done:FALSE]", false}, {"[open:False]", true}, {"match-case:[done:TRUE]", true},
		{"[rating:<5]", true}, {"[rating:<4.5]", false}, {"[rating:>4]", true}, {"[rating:>4.5]", false}, {"[status:>1]", false}, {"[rating:4.5]", true},
		{"[fruit:banana]", true}, {"[fruit:apple banana]", true}, {"[fruit:>6]", true}, {"[fruit:cherry]", false}, {"[done:>0]", false},
		{"[status OR nothing:draft]", true}, {"[nothing OR nowhere:draft]", false}, {"[/^stat/:draft]", true}, {"[/^tat/:draft]", false},
		{"line:([status:draft] zebra)", true}, {"file:([status:draft] über)", true},
	} {
		q := mustParse(t, c.query, QueryOptions{})
		n := sampleNote()
		assert.Equal(t, q.Match(n), c.want, "%s: match", c.query)
		assert.That(t, len(q.Lines(sampleNote())) == 0 || c.want, "%s: lines without a match", c.query)
		slices.Sort(n.asked)
		assert.That(t, len(slices.Compact(slices.Clone(n.asked))) == len(n.asked), "%s: asked twice: %v", c.query, n.asked)
		assert.That(t, q.NeedsText() || len(n.asked) == 0, "%s: needs no text and asked for %v", c.query, n.asked)
	}
}

func TestCaseSensitiveSearch(t *testing.T) {
	for query, want := range map[string]bool{
		"Apples": true, "apples": false, "ignore-case:apples": true, "/Apples/": true, "/apples/": false, "/apples/i": true,
		"tag:#FRUIT": true, "[STATUS:Draft]": true, "[STATUS:draft]": false, `"Apples and"`: true, `"apples and"`: false, "file:über": false,
	} {
		assert.Equal(t, mustParse(t, query, QueryOptions{CaseSensitive: true}).Match(sampleNote()), want, "%s: match", query)
	}
}

func TestOnlyWhatIsNeededIsRead(t *testing.T) {
	for _, c := range []struct {
		query string
		needs bool
		asked []string
	}{
		{"path:nothing", false, nil},
		{"file:(a OR -b) path:/x/", false, nil},
		{"über", true, nil},
		{"zebra", true, []string{"text"}},
		{"zebra path:nothing", true, nil},
		{"tag:#x nothing", true, []string{"text"}},
		{"section:(nothing zebra)", true, []string{"text"}},
		{"block:zebra path:über", true, []string{"text", "scan"}},
		{"[status]", true, []string{"properties"}},
		{"tag:#x OR tag:#y", true, []string{"properties", "scan"}},
		{"line:zebra", true, []string{"text"}},
		{"line:file:zebra", true, []string{"text"}},
	} {
		q, n := mustParse(t, c.query, QueryOptions{}), sampleNote()
		q.Match(n)
		if q.NeedsText() != c.needs || !slices.Equal(n.asked, c.asked) {
			t.Errorf("%s: needs text %v, asked for %v", c.query, q.NeedsText(), n.asked)
		}
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		query string
		want  []MatchedLine
	}{
		{"zebra", []MatchedLine{{15, "zebra crossing"}}},
		{"über", []MatchedLine{}},
		{"nothing", nil},
		{"zebra nothing", nil},
		{"zebra -nothing", []MatchedLine{{15, "zebra crossing"}}},
		{"zebra OR pears OR nothing", []MatchedLine{{4, "Intro with Apples and pears."}, {15, "zebra crossing"}}},
		{"pears apples", []MatchedLine{{4, "Intro with Apples and pears."}}},
		{"zebra OR zeb", []MatchedLine{{15, "zebra crossing"}}},
		{"line:(buy milk)", []MatchedLine{{8, "- [ ] buy milk"}}},
		{"section:(sub task:quoted)", []MatchedLine{{14, "## Sub"}, {25, "> - [ ] quoted task"}}},
		{`task-done:""`, []MatchedLine{{10, "- [x] buy bread #done"}, {11, "  - [/] half sugar"}}},
		{"tag:#done", []MatchedLine{{10, "- [x] buy bread #done"}}},
		{"tag:#second", []MatchedLine{}},
		{"[status:draft]", []MatchedLine{}},
		{"file:über zebra", []MatchedLine{{15, "zebra crossing"}}},
		{"/ZEB\\w/", []MatchedLine{{15, "zebra crossing"}}},
		{"/zz*|$/", []MatchedLine{{15, "zebra crossing"}}},
		{`"last words"`, []MatchedLine{{27, "last words"}}},
		{"(zebra -crossing) OR pears", []MatchedLine{{4, "Intro with Apples and pears."}}},
		{"task:(milk OR -milk) line:/sugar$/", []MatchedLine{{8, "- [ ] buy milk"}, {11, "  - [/] half sugar"}}},
		{`""`, []MatchedLine{}},
	} {
		got := mustParse(t, c.query, QueryOptions{}).Lines(sampleNote())
		assert.That(t, reflect.DeepEqual(got, c.want), "%s: %v, want %v", c.query, got, c.want)
	}
}

func TestLinesOfTextWithCarriageReturns(t *testing.T) {
	n := &fakeNote{path: "a.md", text: []byte("# Head\r\none two\r\n\r\nthree two\r\n- [ ] task two\r\n")}
	for _, c := range []struct {
		query string
		want  []MatchedLine
	}{
		{"two", []MatchedLine{{2, "one two"}, {4, "three two"}, {5, "- [ ] task two"}}},
		{"line:/two$/", []MatchedLine{{2, "one two"}, {4, "three two"}, {5, "- [ ] task two"}}},
		{"/^three.*$/", []MatchedLine{{4, "three two"}}},
		{`"one two"`, []MatchedLine{{2, "one two"}}},
		{"block:(one three)", nil},
		{"task:/^ task two$/", []MatchedLine{{5, "- [ ] task two"}}},
		{`line:""`, []MatchedLine{{1, "# Head"}, {2, "one two"}, {3, ""}, {4, "three two"}, {5, "- [ ] task two"}}},
	} {
		got := mustParse(t, c.query, QueryOptions{}).Lines(n)
		assert.That(t, reflect.DeepEqual(got, c.want), "%s: %v, want %v", c.query, got, c.want)
	}
}

func TestPlacesAreCapped(t *testing.T) {
	n := &fakeNote{path: "a.md", text: []byte(strings.Repeat("x\n", maxLines+5))}
	for _, query := range []string{"x", "/x/"} {
		assert.Equal(t, len(mustParse(t, query, QueryOptions{}).Lines(n)), maxLines, "%s, lines", query)
	}
}

// A line is reported once, however often something is found in it, and a long one
// as an excerpt around the first place.
func TestAPlaceInALongLineHasAnExcerpt(t *testing.T) {
	many := strings.Repeat("x ", 32<<10)
	for _, c := range []struct{ name, text, query, start, end string }{
		{"many places", many, "x", "x x x", "x …"},
		{"in the middle", strings.Repeat("ü", 5000) + " here " + strings.Repeat("ü", 5000), "here", "…üüü", "üüü…"},
		{"at the start", "here " + many, "here", "here x", "…"},
		{"at the end", many + "here", "here", "…x", "x here"},
		{"bytes that are no text", strings.Repeat("\x80", 5000) + "here" + strings.Repeat("\x80", 5000), "here", "…\x80", "\x80…"},
	} {
		n := &fakeNote{path: "n.md", text: []byte("first\n" + c.text + "\r\nlast")}
		lines := mustParse(t, c.query, QueryOptions{}).Lines(n)
		if len(lines) != 1 || lines[0].Line != 2 {
			t.Errorf("%s: %d lines", c.name, len(lines))
			continue
		}
		text := lines[0].Text
		if len(text) > maxLineText+2*len(ellipsis) || !strings.HasPrefix(text, c.start) || !strings.HasSuffix(text, c.end) || !strings.Contains(text, c.query) {
			t.Errorf("%s: %d bytes: %.40q … %q", c.name, len(text), text, text[max(0, len(text)-20):])
		}
		assert.That(t, !utf8.ValidString(c.text) || utf8.ValidString(text), "%s: a character was divided: %q", c.name, text)
	}
}

func TestEmptyNote(t *testing.T) {
	for query, want := range map[string]bool{
		"a": true, "b": false, "-b": true, `line:""`: false, `section:""`: true, `block:""`: false, `task:""`: false, "[a]": false, "tag:a": false, "/^$/": true,
	} {
		assert.Equal(t, mustParse(t, query, QueryOptions{}).Match(&fakeNote{path: "a"}), want, "%s: match", query)
	}
}

func TestPhrasesEndWithWords(t *testing.T) {
	for _, c := range []struct {
		phrase, text string
		want         bool
	}{
		{"cat", "a cat sat", true}, {"cat", "concat", false}, {"cat", "cats", false}, {"cat", "concat, cat", true}, {"cat", "cat", true},
		{"cat", "cat_1", false}, {"cat", "cat-1", true}, {"don", "don't", true}, {"fé", "café", false}, {"café", "le café.", true},
		{"cafe", "cafe\u0301", false}, {"12", "123", false}, {"#tag", "x#tag", true}, {"(x)", "f(x)y", true},
		{"한국", "한국어", true}, {"국어", "한국어", true}, {"日本", "日本語", true}, {"ナ", "バナナ", true}, {"タ", "データ", true}, {"ไทย", "ภาษาไทย", true},
		{"a日", "xa日本", false}, {"a日", "xa日 a日本", true}, {"кот", "скот", false}, {"КОТ", "кот и пёс", true}, {"aba", "xababa aba", true},
	} {
		n := &fakeNote{path: "n.md", text: []byte(c.text)}
		assert.Equal(t, mustParse(t, `"`+c.phrase+`"`, QueryOptions{}).Match(n), c.want, "%q in %q", c.phrase, c.text)
	}
}

func TestBlocks(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"paragraphs", "a\nb\n\n\nc", []string{"a\nb", "c"}},
		{"headings stand alone", "# a\nb\n## c\n####### d", []string{"# a", "b", "## c", "####### d"}},
		{"setext headings are one", "a\n===\n\nb", []string{"a\n===", "b"}},
		{"items", "- a\n  b\n* c\n12) d\n1.e\n-f\n-", []string{"- a\n  b", "* c", "12) d\n1.e\n-f", "-"}},
		{"code", "a\n```js\nb\n\n# c\n````\nd", []string{"a", "```js\nb\n\n# c\n````", "d"}},
		{"a fence must be long enough", "````\n```\n\nb\n````", []string{"````\n```\n\nb\n````"}},
		{"tildes", "~~~\na\n```\n\n~~~\nb", []string{"~~~\na\n```\n\n~~~", "b"}},
		{"code in a line", "```a``` b\n\nc", []string{"```a``` b", "c"}},
		{"a fence without end", "```\na\n\nb", []string{"```\na\n\nb"}},
		{"math", "$$\na\n\nb\n$$\nc\n$$d$$\n\ne", []string{"$$\na\n\nb\n$$", "c\n$$d$$", "e"}},
		{"comments", "%%\na\n\nb %%\nc\n<!-- d\n\ne -->", []string{"%%\na\n\nb %%", "c", "<!-- d\n\ne -->"}},
		{"quotes", "> a\n>\n> b\nc\n> > d\n> e", []string{"> a\n>\n> b", "c", "> > d", "> e"}},
		{"code in a quote ends with it", "> ```\n> a\nb\n\nc", []string{"> ```\n> a", "b", "c"}},
		{"a quote in code is code", "```\n> a\n```", []string{"```\n> a\n```"}},
		{"frontmatter", "---\na: b\n\nc: d\n---\nx", []string{"---\na: b\n\nc: d\n---\n", "x"}},
		{"nothing", "\n\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := &fakeNote{text: []byte(c.text)}
			var got []string
			for _, b := range splitBlocks(n.text, n.Scan().Body) {
				got = append(got, c.text[b.start:b.end])
			}
			assert.That(t, slices.Equal(got, c.want), "got %q, want %q", got, c.want)
		})
	}
}

func TestManyHeadingsAreCheap(t *testing.T) {
	var text strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&text, "%s heading\nneedle %d\n", strings.Repeat("#", 1+i%6), i)
	}
	n := &fakeNote{path: "a.md", text: []byte(text.String())}
	for _, query := range []string{
		"section:(section:(section:(needle -needle)))", "line:(section:(block:(needle -needle)))", "block:(line:(section:(needle heading -needle)))",
	} {
		assert.That(t, !mustParse(t, query, QueryOptions{}).Match(n), "%s: found", query)
	}
}

func TestOneQueryServesManyGoroutines(t *testing.T) {
	for range 10 { // on a busy machine the time of a query can be over before its work is done
		if servesGoroutines(t) {
			return
		}
	}
	t.Error("the time of the query was never enough")
}

// servesGoroutines reports whether the time of the query was enough.
func servesGoroutines(t *testing.T) bool {
	t.Helper()
	q := mustParse(t, `line:(buy milk) /(?<=zebra )CROSS.ng/ tag:#fruit [status:draft] -/(x)\1/`, QueryOptions{})
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 20 {
				n := sampleNote()
				matches, lines := q.Match(n), len(q.Lines(n))
				if q.Err() == nil {
					assert.That(t, matches, "no match")
					assert.Equal(t, lines, 3, "lines")
				}
			}
		})
	}
	wait.Wait()
	return q.Err() == nil
}
