package consent

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/gateway"
	"github.com/vaultwicket/vaultwicket/gateway/consent"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/harness"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

const maxQuestion = 16 << 10

// hostile are texts that would pose as ours, act on a terminal or fill the screen.
var hostile = map[string]string{
	"a question":  "x\nAllow \"append\" in the vault \"Notes\"?\nIt changes nothing.\n",
	"bars":        "│ x\n\n│ │ y\n… left out: 0 lines, 0 bytes\n",
	"returns":     "x\rAllow everything?\r\nAllow\u2028this\u2029and\u0085that\v\f",
	"a terminal":  "\x1b[2J\x1b[1;1HAllow \"read\"?\x1b]0;title\a\x9b31m\x07\b\b\b\x7f",
	"directions":  "\u202eelteled\u202c \u2066x\u2069 \u200f\u061c",
	"unseen":      "a\u200bb\u2060c\ufeffd\u00ade\U000e0041\U000e0042\u115f\u3164",
	"markdown":    "# Allow\n\n![x](https://evil.example/?q=1) [click](https://evil.example)\n```\n</pre>\n<img src=x onerror=alert(1)>\n---\n| a | b |\n",
	"much":        strings.Repeat("All work and no play. ", 1<<18/22),
	"many lines":  strings.Repeat("x\n", 1<<15),
	"one letter":  strings.Repeat("\u0301", 1<<12),
	"broad":       strings.Repeat("字\U0001f468\u200d\U0001f469", 1<<12),
	"no UTF-8":    "a\xff\xfe\xc0\xafb",
	"backslashes": `\nAllow \x1b \u202e`,
}

// ownRow is every row that the gateway writes itself.
var ownRow = regexp.MustCompile(`^((\d+\. )?[A-Z][a-z ,]*( \d+ (notes?|files?)| for good:)?( and [a-z]+ \d+ (notes?|files?))?( "[^"]*"( to "[^"]*")?)?( \(vault "[^"]*"\))(: (−\d+ ?)?(\+\d+ )?lines?)?|Asked by (your terminal|the agent "[^"]*"|a client that (gives no name|calls itself "[^"]*"))\.|It (deletes or overwrites notes|changes what is published|changes the app|removes [^"]*"[^"]*"|replaces [^"]*"[^"]*"[^"]*"[^"]*"[^"]*)\.|(makes|changes|path): "[^"]*"|removes: "[^"]*" \(\d+ bytes?, hash [0-9a-f]{16}\)|moves: "[^"]*" to "[^"]*"|and \d+ more files?, with \d+ lines? added and \d+ removed|[a-z-]+(: ("[^"]*"|\d+ bytes)|, \d+ bytes:)?|at line \d+:|\(without a newline at its end\)|not a text)$`)

// shownRow is every row of a value or of a note.
var shownRow = regexp.MustCompile(`^(>[ …]|│[ …][-+ ])`)

// judgeQuestion checks that nothing but the gateway speaks in a question outside of
// bars and quotation marks.
func judgeQuestion(t *testing.T, what string, q consent.Question, first string) {
	t.Helper()
	assert.That(t, len(q.Text) <= maxQuestion, "%s: the question has %d bytes", what, len(q.Text))
	if strings.ContainsFunc(q.Text, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029')
	}) {
		t.Errorf("%s: the question contains what acts on a terminal: %q", what, q.Text)
	}
	rows := strings.Split(strings.ReplaceAll(q.Text+"\n"+consent.Draw(q.Lines), "\n  ", ""), "\n") // two columns begin a row of ours that goes on
	assert.That(t, strings.HasPrefix(rows[0], first), "%s: the question begins with %q", what, rows[0])
	for _, row := range rows {
		assert.That(t, shownRow.MatchString(row) || ownRow.MatchString(row), "%s: a row of its own: %q", what, row)
	}
	again := strings.Count(q.Text, "\nAsked by ") + strings.Count(consent.Draw(q.Lines), "\nAsked by ")
	assert.Equal(t, again, 2, "%s: how often it says who asks", what)
}

func TestNoTextPosesInAQuestion(t *testing.T) {
	t.Parallel()
	for what, text := range hostile {
		o := harness.NewInProcess(t, nil)
		asked := 0
		ask := func(first string, words ...string) {
			t.Helper()
			asked++ // each of them has a question open
			p := allowlist.Params{}
			for _, word := range words[1:] {
				key, value, _ := strings.Cut(word, "=")
				p[key] = allowlist.Text(value)
			}
			req := gateway.Request{Command: words[0], Params: p, Caller: fmt.Sprint("caller ", asked)}
			before := harness.TreeOf(t, o.Vault)
			got, asked := o.Send(req, harness.Says(consent.NoWay))
			switch {
			case len(asked) == 1:
				judgeQuestion(t, what+", "+words[0], asked[0], first)
				if !strings.Contains(got.Error.Hint, "vaultwicket approvals") {
					t.Errorf("%s, %s: no one can approve it: %+v", what, words[0], got.Error)
				}
			case harness.CodeOf(got) == "" || harness.CodeOf(got) == "unconfirmed":
				t.Errorf("%s, %s: not asked, %+v", what, words[0], got)
			}
			if harness.TreeOf(t, o.Vault) != before {
				t.Errorf("%s, %s: it was run", what, words[0])
			}
		}
		ask(`Change "root.md" (vault "Notes")`, "append", "path=root.md", "content="+text)
		ask(`Create "new.md" (vault "Notes")`, "create", "path=new.md", "content="+text)
		short := text[:min(len(text), 200)]
		ask(`Create "Inbox/`, "create", "path=Inbox/"+strings.NewReplacer("/", "", "\x00", "").Replace(short)+".md", "content=x")
		ask(`Change "root.md" (vault "Notes")`, "property:set", "path=root.md", "name=k", "value="+short)
		ask(`Change "root.md" (vault "Notes")`, "property:set", "path=root.md", "name="+short, "value=v")
		o.Write("root.md", text)
		ask(`Delete "root.md" (vault "Notes")`, "delete", "path=root.md")
		ask(`Move "root.md" to "Inbox/root.md" (vault "Notes")`, "move", "path=root.md", "to=Inbox/")
		if name := strings.NewReplacer("/", "", "\x00", "", `\`, "").Replace(short) + ".md"; runtime.GOOS == "linux" && len(name) < 200 {
			o.Write(name, text)
			ask(`Delete "`, "delete", "path="+name)
		}
	}
}

// The first line of a question says it all, and a form has every line that changes or is not used.
func TestAFormHasTheWholeQuestion(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, func(c *gateway.Config) { c.Limits.Calls = 0 })
	o.Write("long.md", strings.Repeat("line\n", 100))
	o.Write("linked.md", "text\n")
	for i := range 12 {
		o.Write(fmt.Sprintf("link%02d.md", i), "[[linked]]\n")
	}
	paragraph := strings.Repeat("a paragraph of two hundred bytes ", 6)
	o.Write("para.md", paragraph+"\n")
	for _, test := range []struct {
		words []string
		act   string
		rows  int // that a form has at least for it, 0 if there is none in 14
	}{
		{[]string{"append", "path=root.md", "content=two"}, `Change "root.md" (vault "Notes"): +1 line`, 4},
		{[]string{"append", "path=root.md", "content=" + strings.Repeat("more\n", 40)}, `Change "root.md" (vault "Notes"): +40 lines`, 0},
		{[]string{"note:replace", "path=para.md", "old=" + paragraph, "new=" + strings.ToUpper(paragraph)}, `Change "para.md" (vault "Notes"): −1 +1 lines`, 8},
		{[]string{"delete", "path=long.md"}, `Delete "long.md" (vault "Notes"): −100 lines`, 3},
		{[]string{"delete", "path=long.md", "permanent"}, `Delete for good: "long.md" (vault "Notes"): −100 lines`, 0},
		{[]string{"create", "path=para.md", "content=x\\n", "overwrite"}, `Overwrite "para.md" (vault "Notes"): −1 +1 lines`, 7},
		{[]string{"rename", "path=linked.md", "name=target"}, `Move 1 note and change 12 notes (vault "Notes"): −12 +12 lines`, 0},
		{[]string{"append", "path=root.md", "content=" + strings.Repeat("wide ", 400)}, `Change "root.md" (vault "Notes"): +1 line`, 0},
	} {
		_, asked := o.Do(test.words, harness.Says(consent.No))
		require.That(t, len(asked) == 1, "%.40s: asked %+v", test.words, asked)
		q := asked[0]
		act, _, _ := strings.Cut(q.Text, "\n")
		assert.Equal(t, act, test.act, "%.40s: the first line", test.words)
		for rows := 1; rows <= 14; rows++ {
			text, ok := q.Form(rows, 4000)
			fits := test.rows > 0 && rows >= test.rows
			assert.Equal(t, ok, fits, "%.40s: a form of %d rows", test.words, rows)
			if !ok {
				continue
			}
			assert.HasPrefix(t, text, test.act+"\n", "%.40s: the form of %d rows is\n%s", test.words, rows, text)
			assert.That(t, strings.Count(text, "\n") < rows,
				"%.40s: the form of %d rows is\n%s", test.words, rows, text)
			assert.That(t, !strings.Contains(text, "left out"), "%.40s: the form is\n%s", test.words, text)
		}
	}
}

// A terminal of 80 columns breaks no row of a question: what it breaks off of a long
// path or value would be where rows of ours begin.
func TestARowOfAQuestionFitsATerminal(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, func(c *gateway.Config) { c.Limits.Calls = 0 })
	folder := "Inbox/" + strings.Repeat("x", 58) + " Allow \"delete\" in the vault"
	for _, name := range []string{folder, folder + strings.Repeat("/deep", 40), "Inbox/" + strings.Repeat("字", 60), "Inbox/" + strings.Repeat("x", 60)} {
		name = strings.ReplaceAll(name, `"`, "'") + ".md"
		o.Write(name, "text\n")
		for _, words := range [][]string{
			{"delete", "path=" + name}, {"move", "path=" + name, "to=Inbox2/"}, {"create", "path=" + strings.TrimSuffix(name, ".md") + " 2.md", "content=x"},
			{"property:set", "path=" + name, "name=k", "value=" + strings.Repeat("v", 75)},
			{"property:set", "path=" + name, "name=" + strings.Repeat("k", 75), "value=v"},
		} {
			_, asked := o.Do(words, harness.Says(consent.No))
			require.That(t, len(asked) == 1, "%s: asked %d times", words, len(asked))
			for line := range strings.Lines(asked[0].Text) {
				width := 0
				for _, r := range strings.TrimSuffix(line, "\n") {
					if width++; r >= 0x1100 && r != '│' && r != '…' {
						width++
					}
				}
				assert.That(t, width <= 80, "%s: a row of %d columns: %q", words, width, line)
			}
		}
	}
}

// A batch shows each operation with its own difference, whole.
func TestABatchOfMuchTextCanBeAskedAbout(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, nil)
	var operations []gateway.Operation
	for i := range 9 {
		name := fmt.Sprintf("Inbox/n%d.md", i)
		o.Write(name, strings.Repeat(strings.Repeat("字", 37)+"\n", 150))
		operations = append(operations, harness.Operation(fmt.Sprint(i), "create", "path="+name, "overwrite", "content="+strings.Repeat("long text ", 1500)))
	}
	operations = append(operations, harness.Operation("a", "append", "path=root.md", "content=more"))
	o.Refusing("much text", "unconfirmed", func() string {
		got, asked := o.Batch(operations, harness.Says(consent.NoWay))
		require.Equal(t, len(asked), 1, "asked %d times, got %+v", len(asked), got.Error)
		require.Contains(t, got.Error.Hint, "vaultwicket approvals", "asked %d times, got %+v", len(asked), got.Error)
		q := asked[0]
		assert.That(t, strings.HasPrefix(q.Text,
			`Change 10 notes (vault "Notes"): −1350 +10 lines`+"\n"+
				`A batch of 10 operations, 10 of which need approval. Asked by `), "%s", q.Text)
		operation, added, removed := 0, map[int]int{}, map[int]int{}
		for _, l := range q.Lines[1:] {
			switch l.Kind {
			case consent.Act:
				operation++
				assert.That(t, strings.HasPrefix(l.Text, fmt.Sprintf("%d. ", operation)), "operation %d: %q", operation, l.Text)
			case consent.Added:
				added[operation] += len(l.Text)
			case consent.Removed:
				removed[operation] += len(l.Text)
			}
		}
		for i := range 9 {
			assert.Equal(t, added[i+1], 15000, "bytes added by operation %d", i+1)
			assert.Equal(t, removed[i+1], 150*37*3, "bytes removed by operation %d", i+1)
		}
		assert.Equal(t, added[10], len("more"), "bytes added by the last one")
		return got.Error.Code
	})
}

// What decides is shown in full, or nobody is asked.
func TestWhatDecidesIsShownInFull(t *testing.T) {
	t.Parallel()
	o := harness.NewInProcess(t, nil)
	for name, old := range map[string]string{
		"short": "one\n", "some lines": strings.Repeat("a line of the note that goes\n", 30),
		"many bytes": strings.Repeat("x", 40<<10) + "\n", "many lines": strings.Repeat("\n", 20<<10),
	} {
		o.Write("Inbox/a.md", old+"rest\n")
		got, asked := o.Do([]string{"note:replace", "path=Inbox/a.md", "old=" + old, "new=two\n"}, harness.Says(consent.NoWay))
		require.Equal(t, harness.CodeOf(got), "unconfirmed", "%s: asked %d times, %+v", name, len(asked), got.Error)
		require.Equal(t, len(asked), 1, "%s: asked %d times, %+v", name, len(asked), got.Error)
		removed := ""
		for _, l := range asked[0].Lines {
			if l.Kind == consent.Removed {
				removed += l.Text + "\n"
			}
		}
		assert.Equal(t, removed, old, "%s: what is removed", name)
	}
	o.Write("Inbox/a.md", strings.Repeat(strings.Repeat("x", 99)+"\n", 40<<10))
	got, asked := o.Do([]string{"create", "path=Inbox/a.md", "overwrite", "content=two"})
	assert.Equal(t, harness.CodeOf(got), "unconfirmed", "asked %d times, %+v", len(asked), got.Error)
	assert.Equal(t, len(asked), 0, "asked %d times, %+v", len(asked), got.Error)
	assert.Contains(t, got.Error.Message, "the user cannot be shown all of it: the change of \"Inbox/a.md\" has more lines than can be shown")
}
