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
	"github.com/vaultwicket/vaultwicket/tests/require"
	"github.com/vaultwicket/vaultwicket/tests/rig"
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
var ownRow = regexp.MustCompile(`^(Allow "[a-z:-]+" in the vault "[^"]*"\?|It (changes notes|deletes or overwrites notes|changes what is published|changes the app)\.|(makes|removes|changes|path): "[^"]*"|moves: "[^"]*" to "[^"]*"|and \d+ more files?, with \d+ lines? added and \d+ removed|[a-z-]+(: ("[^"]*"|\d+ bytes)|, \d+ bytes:)?|at line \d+:|\(without a newline at its end\)|not a text|… left out: (\d+ lines?|\d+ bytes?|\d+ lines? added, \d+ removed))$`)

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
	assert.Equal(t, rows[0], first, "%s: the question begins with", what)
	for _, row := range rows {
		assert.That(t, shownRow.MatchString(row) || ownRow.MatchString(row), "%s: a row of its own: %q", what, row)
	}
	again := strings.Count(q.Text, "\nAllow ") + strings.Count(consent.Draw(q.Lines), "\nAllow ")
	assert.That(t, again <= 0, "%s: there are %d more questions in it", what, again)
}

func TestNoTextPosesInAQuestion(t *testing.T) {
	t.Parallel()
	for what, text := range hostile {
		o := rig.NewHarness(t, nil)
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
			before := rig.TreeOf(t, o.Vault)
			got, asked := o.Send(req, rig.Says(consent.NoWay))
			switch {
			case len(asked) == 1:
				judgeQuestion(t, what+", "+words[0], asked[0], first)
				if !strings.Contains(got.Error.Hint, "vaultwicket approvals") {
					t.Errorf("%s, %s: no one can approve it: %+v", what, words[0], got.Error)
				}
			case rig.CodeOf(got) == "" || rig.CodeOf(got) == "unconfirmed":
				t.Errorf("%s, %s: not asked, %+v", what, words[0], got)
			}
			if rig.TreeOf(t, o.Vault) != before {
				t.Errorf("%s, %s: it was run", what, words[0])
			}
		}
		ask(`Allow "append" in the vault "Notes"?`, "append", "path=root.md", "content="+text)
		ask(`Allow "create" in the vault "Notes"?`, "create", "path=new.md", "content="+text)
		short := text[:min(len(text), 200)]
		ask(`Allow "create" in the vault "Notes"?`, "create", "path=Inbox/"+strings.NewReplacer("/", "", "\x00", "").Replace(short)+".md", "content=x")
		ask(`Allow "property:set" in the vault "Notes"?`, "property:set", "path=root.md", "name=k", "value="+short)
		ask(`Allow "property:set" in the vault "Notes"?`, "property:set", "path=root.md", "name="+short, "value=v")
		o.Write("root.md", text)
		ask(`Allow "delete" in the vault "Notes"?`, "delete", "path=root.md")
		ask(`Allow "move" in the vault "Notes"?`, "move", "path=root.md", "to=Inbox/")
		if name := strings.NewReplacer("/", "", "\x00", "", `\`, "").Replace(short) + ".md"; runtime.GOOS == "linux" && len(name) < 200 {
			o.Write(name, text)
			ask(`Allow "delete" in the vault "Notes"?`, "delete", "path="+name)
		}
	}
}

// In a dialog the question has about ten lines, and says what it leaves out.
func TestAQuestionIsBriefInADialog(t *testing.T) {
	t.Parallel()
	o := rig.NewHarness(t, nil)
	o.Write("long.md", strings.Repeat("line\n", 100))
	o.Write("linked.md", "text\n")
	for i := range 12 {
		o.Write(fmt.Sprintf("link%02d.md", i), "[[linked]]\n")
	}
	for _, test := range []struct {
		words  []string
		inForm bool
		rows   int
		says   string
	}{
		{[]string{"append", "path=root.md", "content=two"}, true, 10, "content: \"two\"\nchanges: \"root.md\"\n│  root\n│ +two"},
		{[]string{"append", "path=root.md", "content=" + strings.Repeat("more\n", 40)}, true, 10, ""},
		{[]string{"delete", "path=long.md"}, true, 10, ""},
		{[]string{"rename", "path=linked.md", "name=target"}, false, 28, "\nIt changes 12 links in 12 "},
		{[]string{"append", "path=root.md", "content=" + strings.Repeat("wide ", 400)}, true, 10, ""},
	} {
		_, asked := o.Do(test.words, rig.Says(consent.No))
		require.That(t, len(asked) == 1, "%.40s: asked %+v", test.words, asked)
		q := asked[0]
		if rows := strings.Count(q.Text, "\n") + 1; rows > test.rows || q.InForm != test.inForm || strings.Contains(q.Text, "@@") || !strings.Contains(q.Text, test.says) {
			t.Errorf("%.40s: %d lines, fits %v:\n%s", test.words, rows, q.InForm, q.Text)
		}
		if whole := consent.Draw(q.Lines); whole != q.Text && !strings.Contains(q.Text, "\n… left out: ") && !strings.Contains(q.Text, "\nand ") {
			t.Errorf("%.40s: the question is\n%s\nin full\n%s", test.words, q.Text, whole)
		}
	}
}

// A terminal of 80 columns breaks no row of a question: what it breaks off of a long
// path or value would be where rows of ours begin.
func TestARowOfAQuestionFitsATerminal(t *testing.T) {
	t.Parallel()
	o := rig.NewHarness(t, func(c *gateway.Config) { c.Limits.Calls = 0 })
	folder := "Inbox/" + strings.Repeat("x", 58) + " Allow \"delete\" in the vault"
	for _, name := range []string{folder, folder + strings.Repeat("/deep", 40), "Inbox/" + strings.Repeat("字", 60), "Inbox/" + strings.Repeat("x", 60)} {
		name = strings.ReplaceAll(name, `"`, "'") + ".md"
		o.Write(name, "text\n")
		for _, words := range [][]string{
			{"delete", "path=" + name}, {"move", "path=" + name, "to=Inbox2/"}, {"create", "path=" + strings.TrimSuffix(name, ".md") + " 2.md", "content=x"},
			{"property:set", "path=" + name, "name=k", "value=" + strings.Repeat("v", 75)}, {"property:set", "path=" + name, "name=" + strings.Repeat("k", 75), "value=v"},
		} {
			_, asked := o.Do(words, rig.Says(consent.No))
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

func TestABatchOfMuchTextCanBeAskedAbout(t *testing.T) {
	t.Parallel()
	o := rig.NewHarness(t, nil)
	var operations []gateway.Operation
	for i := range 8 {
		name := fmt.Sprintf("Inbox/n%d.md", i)
		o.Write(name, strings.Repeat(strings.Repeat("字", 37)+"\n", 150))
		operations = append(operations, rig.Operation(fmt.Sprint(i), "create", "path="+name, "overwrite", "content="+strings.Repeat("long text ", 1500)))
	}
	o.Refusing("much text", "unconfirmed", func() string {
		got, asked := o.Batch(operations, rig.Says(consent.NoWay))
		if len(asked) != 1 || !strings.Contains(got.Error.Hint, "vaultwicket approvals") {
			t.Errorf("asked %d times, got %+v", len(asked), got.Error)
			return got.Error.Code
		}
		if len(asked[0].Text) > maxQuestion {
			t.Errorf("the question has %d bytes", len(asked[0].Text))
		}
		for i := range 8 {
			assert.That(t, strings.Contains(asked[0].Text, fmt.Sprintf("\nchanges: \"Inbox/n%d.md\"\n", i)), "operation %d is not in it", i)
		}
		return got.Error.Code
	})
	o.Refusing("more than a form tells", "unconfirmed", func() string {
		got, asked := o.Batch(append(operations, rig.Operation("9", "delete", "path=root.md")), rig.Says(consent.NoWay))
		if len(asked) != 1 || asked[0].InForm || !strings.Contains(consent.Draw(asked[0].Lines), "removes: \"root.md\"") || !strings.Contains(asked[0].Text, "left out: 1 operations") {
			t.Errorf("asked %+v", asked)
		}
		return got.Error.Code
	})
}

// What decides is shown in full, or the call is refused: by its bytes, by its lines, and where
// it is no text.
func TestWhatDecidesIsShownInFull(t *testing.T) {
	t.Parallel()
	o := rig.NewHarness(t, nil)
	for name, test := range map[string]struct {
		old, code string
		inForm    bool
	}{
		"short":      {"one", "unconfirmed", true},
		"some lines": {strings.Repeat("a line of the note that goes\n", 30), "unconfirmed", false},
		"many bytes": {strings.Repeat("x", 40<<10), "content_too_long", false},
		"many lines": {strings.Repeat("\n", 20<<10), "content_too_long", false},
	} {
		o.Write("Inbox/a.md", test.old+"rest")
		got, asked := o.Do([]string{"note:replace", "path=Inbox/a.md", "old=" + test.old, "new=two"}, rig.Says(consent.NoWay))
		if rig.CodeOf(got) != test.code || (len(asked) > 0) != (test.code == "unconfirmed") {
			t.Errorf("%s: asked %d times, %+v", name, len(asked), got.Error)
			continue
		}
		for _, q := range asked {
			if q.InForm != test.inForm || strings.Count(consent.Draw(q.Lines), "> a line of the note that goes") != strings.Count(test.old, "\n") {
				t.Errorf("%s: in a form %v:\n%s", name, q.InForm, consent.Draw(q.Lines))
			}
		}
	}
}
