package edit

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/markdown"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

type row struct {
	name string
	edit func([]byte) ([]byte, error)
	text string
	want string // "!" for a refusal, else the error in part
}

func check(t *testing.T, rows []row) {
	t.Helper()
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.edit([]byte(tt.text))
			if reason, refused := strings.CutPrefix(tt.want, "!"); refused {
				require.That(t, err != nil, "got %q, %v, want %q", got, err, reason)
				assert.Contains(t, err.Error(), reason, "got %q, %v", got, err)
				assert.That(t, got == nil, "got %q, %v, want %q", got, err, reason)
				return
			}
			require.Equal(t, err, nil, "want %q", tt.want)
			assert.Equal(t, string(got), tt.want)
		})
	}
}

func replace(old, new string) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return Replace(text, old, new) }
}

func insert(w Where, t Target, content string) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return Insert(text, w, t, content) }
}

func set(t Target, content string) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return SetSection(text, t, content) }
}

func under(heading, content string) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return AppendUnder(text, heading, content) }
}

func task(line int, mark rune) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return SetTask(text, line, mark) }
}

func TestReplace(t *testing.T) {
	check(t, []row{
		{"the one place", replace("b", "x"), "a b c", "a x c"},
		{"by nothing", replace(" b", ""), "a b c", "a c"},
		{"in the properties, too", replace("a: 1", "a: 2"), "---\na: 1\n---\n", "---\na: 2\n---\n"},
		{"lines of the other system are another text", replace("a\nb", "x\ny"), "0\r\na\r\nb\r\n", "!line 2: the text is there with other line ends: CRLF"},
		{"also the other way round", replace("a\r\nb", "x"), "a\nb\n", "!line 1: the text is there with other line ends: LF"},
		{"what is new arrives byte for byte", replace("b", "x\ny"), "a\r\nb\r\n", "a\r\nx\ny\r\n"},
		{"a line break is not split at its end", replace("\nb", "\nx"), "a\r\nb\r\n", "!within a line break"},
		{"nor in front of it", replace("b\r", "x"), "a\r\nb\r\n", "!within a line break"},
		{"no place", replace("z", "x"), "a b", "!text \"z\" not found"},
		{"two places", replace("b", "x"), "a b\nc b", "!text \"b\" is there 2 times: lines 1, 2"},
		{"two that overlap", replace("aa", "x"), "aaa", "!is there 2 times: lines 1, 1"},
		{"nothing to look for", replace("", "x"), "a", "!no text to look for"},
	})
	_, err := Replace(bytes.Repeat([]byte("b\n"), 20), "b", "x")
	var several *Ambiguous
	require.That(t, errors.As(err, &several), "twenty places: %v", err)
	require.Equal(t, several.Count, 20, "twenty places")
	require.Equal(t, len(several.Lines), 10, "twenty places")
	assert.Equal(t, several.Lines[9], 10, "twenty places")
}

func TestReplaceNamesTheLinesNearby(t *testing.T) {
	_, err := Replace([]byte("a\nfirst line\nc\nfirst line, too\n"), "  first line\nsecond", "x")
	var missing *NotFound
	require.That(t, errors.As(err, &missing), "got %+v", err)
	assert.EqualSlices(t, missing.Near, []int{2, 4})
}

func TestInsert(t *testing.T) {
	check(t, []row{
		{"before a heading", insert(Before, Heading("B"), "x"), "# A\na\n\n# B\nb\n", "# A\na\n\nx\n\n# B\nb\n"},
		{"after a section with those below", insert(After, Heading("A"), "x"), "# A\n## A1\na\n# B\n", "# A\n## A1\na\n\nx\n\n# B\n"},
		{"an item after those of a section", insert(After, Heading("A"), "- x"), "# A\n- a\n\n# B\n", "# A\n- a\n- x\n\n# B\n"},
		{"after a section that is empty", insert(After, Heading("A"), "x"), "# A\n\n\n# B\n", "# A\nx\n\n\n# B\n"},
		{"before a paragraph with an id, after another", insert(Before, Block("id"), "x"), "a\n\nb ^id\n", "a\n\nx\n\nb ^id\n"},
		{"after the last one, where the note has no last break", insert(After, Heading("A"), "x\n"), "# A\na", "# A\na\n\nx\n"},
		{"after the last one, where it has", insert(After, Heading("A"), "x"), "# A\na\n", "# A\na\n\nx\n"},
		{"a heading below another", insert(After, Heading("A#C"), "x"), "# A\n## C\na\n# B\n## C\n", "# A\n## C\na\n\nx\n\n# B\n## C\n"},
		{"case and punctuation do not count", insert(Before, Heading("what is it"), "x"), "# What is: it?\n", "x\n\n# What is: it?\n"},
		{"several of one name", insert(Before, Heading("C"), "x"), "# C\n## C\n", "!heading \"C\" is there 2 times: lines 1, 2"},
		{"a heading in code is none", insert(Before, Heading("C"), "x"), "```\n# C\n```\n", "!heading \"C\" not found"},
		{"code that does not end", insert(After, Heading("A"), "x"), "# A\n```\nx\n", "!inside code"},
		{"before an underlined heading a blank line keeps it", insert(Before, Heading("T"), "x"), "T\n===\n", "x\n\nT\n===\n"},
		{"text behind a list is parted from it", insert(After, Heading("A"), "x"), "# A\n- a\n# B\n", "# A\n- a\n\nx\n\n# B\n"},
		{"after a paragraph with an id", insert(After, Block("id"), "x"), "a ^id\n\nb", "a ^id\n\nx\n\nb"},
		{"before one", insert(Before, Block("^ID"), "x"), "a ^id\n", "x\n\na ^id\n"},
		{"an item after an item", insert(After, Block("id"), "- x"), "- a ^id\n- b\n", "- a ^id\n- x\n- b\n"},
		{"text between items", insert(After, Block("id"), "x"), "- a ^id\n- b\n", "!inside a list, and the text is not a part of it; possible: lines 1, 2"},
		{"behind an id that stands alone", insert(After, Block("id"), "x"), "| a |\n\n^id\n\nb\n", "| a |\n\n^id\n\nx\n\nb\n"},
		{"an id in a table", insert(After, Block("id"), "x"), "| a |\n| b ^id |\n| c |\n",
			"!line 2: block id \"id\" is in the row of a table, where it names nothing; possible: lines 1, 3"},
		{"two blocks of one id", insert(After, Block("id"), "x"), "a ^id\n\nb ^id\n", "!block \"id\" is there 2 times"},
		{"no such block", insert(After, Block("z"), "x"), "a ^id\n", "!block \"z\" not found"},
		{"at a line", insert(Before, Lines(2, 2), "x"), "a\nb\n", "a\nx\nb\n"},
		{"after a line", insert(After, Lines(2, 2), "x"), "a\r\nb", "a\r\nb\r\nx"},
		{"content arrives byte for byte, the break behind it is that of the note", insert(After, Lines(1, 1), "x\ny"), "a\r\nb\r\n", "a\r\nx\ny\r\nb\r\n"},
		{"blank lines that come with it stay", insert(After, Lines(1, 1), "\nx\n\n"), "a\nb\n", "a\n\nx\n\nb\n"},
		{"in code a line says what it says", insert(After, Lines(2, 2), "x"), "```\n| a\n| b\n```\n", "```\n| a\nx\n| b\n```\n"},
		{"a row in a table", insert(After, Lines(2, 2), "| x |"), "| a |\n|---|\n| b |\n", "| a |\n|---|\n| x |\n| b |\n"},
		{"text in a table", insert(After, Lines(2, 2), "x"), "t\n\n| a |\n|---|\n| b |\n", "t\n\nx\n| a |\n|---|\n| b |\n"},
		{"text within a table", insert(After, Lines(4, 4), "x"), "t\n\n| a |\n|---|\n| b |\n",
			"!line 5: the place is inside a table, and the text is not a part of it; possible: lines 3, 5"},
		{"text within a callout", insert(After, Lines(1, 1), "x"), "> [!note]\n> a\n", "!inside a quote"},
		{"more of a callout", insert(After, Lines(1, 1), "> x"), "> [!note]\n> a\n", "> [!note]\n> x\n> a\n"},
		{"in the properties", insert(After, Lines(1, 1), "x"), "---\na: 1\n---\n", "!line 1: the line is one of the properties"},
		{"what would be properties is parted from the start", insert(Before, Lines(1, 1), "---\na: 1\n---"), "x\n", "\n---\na: 1\n---\nx\n"},
		{"behind the end", insert(After, Lines(3, 3), "x"), "a\nb\n", "!line \"3\" not found"},
		{"nothing", insert(After, Lines(1, 1), "\n"), "a\n", "!no text"},
		{"nowhere", insert(After, Target{}, "x"), "a\n", "!no part"},
		{"in an empty note", insert(Before, Lines(1, 1), "x"), "", "x"},
	})
}

func TestSetSection(t *testing.T) {
	check(t, []row{
		{"the heading and the blank lines stay", set(Heading("A"), "new\n"), "# A\n\nold\n## S\n\n# B\n", "# A\n\nnew\n\n# B\n"},
		{"the heading may come with the text", set(Heading("A"), "# A\nnew"), "# A #\n\nold\n\n# B\n", "# A #\n\nnew\n\n# B\n"},
		{"one that was empty", set(Heading("A"), "new"), "# A\n\n# B\n", "# A\nnew\n\n# B\n"},
		{"one that had no line", set(Heading("A"), "new"), "# A", "# A\nnew"},
		{"the last one keeps the break at the end", set(Heading("A"), "new\n"), "# A\nold", "# A\nnew"},
		{"it can be emptied", set(Heading("A"), ""), "# A\n\nold\n\n# B\n", "# A\n\n# B\n"},
		{"an underlined heading", set(Heading("A b"), "new"), "A\nb\n---\nold\n", "A\nb\n---\nnew\n"},
		{"CRLF around, and content as it is", set(Heading("A"), "x\ny"), "# A\r\nold\r\n# B\r\n", "# A\r\nx\ny\r\n# B\r\n"},
		{"LF around, and content as it is", set(Heading("A"), "x\r\ny"), "# A\nold\n# B\n", "# A\nx\r\ny\n# B\n"},
		{"a heading that would end it", set(Heading("A"), "x\n# C"), "# A\nold\n", "!heading \"C\" of the text would end the section of \"A\""},
		{"code that would take the rest", set(Heading("A"), "```\nx"), "# A\nold\n# B\n", "!read differently"},
		{"text before an underlined heading is parted", set(Heading("A"), "x"), "# A\nold\n\nB\n===\n", "# A\nx\n\nB\n===\n"},
		{"a paragraph keeps its id", set(Block("id"), "new"), "a\n\nold ^id\n\nb", "a\n\nnew ^id\n\nb"},
		{"an id that comes with it is not doubled", set(Block("id"), "new ^id\n"), "old ^id", "new ^id"},
		{"an item comes with its mark", set(Block("id"), "- new"), "- a\n- old ^id\n- b\n", "- a\n- new ^id\n- b\n"},
		{"and without it is refused", set(Block("id"), "new"), "- a\n- old ^id\n- b\n", "!would not be it alone"},
		{"a table above its id", set(Block("id"), "| x |\n| y |"), "| a |\n\n^id\n", "| x |\n| y |\n\n^id\n"},
		{"an empty block", set(Block("id"), " "), "a ^id", "!a block cannot be empty"},
		{"lines", set(Lines(2, 3), "x"), "a\nb\nc\nd\n", "a\nx\nd\n"},
		{"lines up to behind the end", set(Lines(2, 9), "x\n"), "a\nb\nc", "a\nx\n"},
		{"lines that go", set(Lines(2, 2), ""), "a\nb\nc", "a\nc"},
		{"lines that would be properties", set(Lines(1, 1), "---"), "a\nb\n---\n", "!other properties"},
		{"lines of the properties", set(Lines(2, 4), "x"), "---\na: 1\n---\nb\n", "!one of the properties"},
	})
}

func TestAppendUnder(t *testing.T) {
	check(t, []row{
		{"before the blank line above the next heading", under("A", "- new"), "# A\n- old\n\n# B\n", "# A\n- old\n- new\n\n# B\n"},
		{"before a heading below", under("A", "new\n"), "# A\nold\n## S\ns\n", "# A\nold\n\nnew\n\n## S\ns\n"},
		{"under an empty heading", under("A", "new"), "# A\n\n# B\n", "# A\nnew\n\n# B\n"},
		{"at the end without a break", under("A", "new"), "# A\nold", "# A\nold\n\nnew"},
		{"and with one that comes with it", under("A", "new\n"), "# A\nold", "# A\nold\n\nnew\n"},
		{"blank lines that come with it stay", under("A", "new\n\n"), "# A\nold\n# B", "# A\nold\n\nnew\n\n# B"},
		{"at the end with blank lines", under("A", "new"), "# A\nold\n\n", "# A\nold\n\nnew\n\n"},
		{"under the heading alone", under("A", "new"), "# A", "# A\nnew"},
		{"CRLF around, and content as it is", under("A", "x\ny"), "# A\r\nold\r\n\r\n# B", "# A\r\nold\r\n\r\nx\ny\r\n\r\n# B"},
		{"text behind a table is parted from it", under("A", "new"), "# A\n| a |\n\n# B\n", "# A\n| a |\n\nnew\n\n# B\n"},
		{"a row is not", under("A", "| x |"), "# A\n| a |\n\n# B\n", "# A\n| a |\n| x |\n\n# B\n"},
		{"text behind an id is parted, for an id ends its block", under("A", "new"), "# A\nold ^id\n", "# A\nold ^id\n\nnew\n"},
		{"a rule does not underline what is above", under("A", "---"), "# A\nold\n", "# A\nold\n\n---\n"},
		{"a heading that would end it", under("A", "# C"), "# A\n", "!would end the section"},
		{"several", under("A", "x"), "# A\n\n# a\n", "!lines 1, 3"},
		{"a comment that does not end", under("A", "x"), "# A\n%%\nold\n", "!inside code, a comment"},
		{"behind the properties", under("A", "x"), "---\na: 1\n---\n# A\n", "---\na: 1\n---\n# A\nx\n"},
	})
}

func made(heading, content string) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return AppendUnderMade(text, heading, content) }
}

func TestAppendUnderAHeadingThatIsMade(t *testing.T) {
	check(t, []row{
		{"one that is there", made("Log", "x"), "# Log\na\n", "# Log\na\n\nx\n"},
		{"at the end", made("Log", "x"), "# A\na\n", "# A\na\n\n## Log\nx\n"},
		{"at the end without a break", made("Log", "x"), "# A\na", "# A\na\n\n## Log\nx"},
		{"behind a blank line", made("Log", "x\n"), "# A\na\n\n", "# A\na\n\n## Log\nx\n"},
		{"in an empty note", made("Log", "x\n"), "", "## Log\nx\n"},
		{"behind properties", made("Log", "x"), "---\na: 1\n---\n", "---\na: 1\n---\n## Log\nx\n"},
		{"of a level", made("### Log", "x"), "a\n", "a\n\n### Log\nx\n"},
		{"below another", made("A#Log", "x"), "# A\na\n\n# B\nb\n", "# A\na\n\n## Log\nx\n\n# B\nb\n"},
		{"below another that is the last", made("A#Log", "x"), "# A\na", "# A\na\n\n## Log\nx"},
		{"two below another", made("A#B#C", "x"), "## A\n", "## A\n\n### B\n#### C\nx\n"},
		{"all of a chain", made("A#B", "x"), "a\n", "a\n\n## A\n### B\nx\n"},
		{"no deeper than it goes", made("A#B", "x"), "###### A\n", "!would not be found again"},
		{"two of that name above", made("A#C", "x"), "# A\n# A\n", "!heading \"A\" is there 2 times"},
		{"no name", made("#", "x"), "a\n", "!a heading has one line with text"},
		{"two lines", made("a\nb", "x"), "a\n", "!a heading has one line with text"},
		{"code that does not end", made("Log", "x"), "```\na\n", "!inside code"},
	})
}

func TestSetTask(t *testing.T) {
	check(t, []row{
		{"done", task(2, 'x'), "a\n- [ ] b\n", "a\n- [x] b\n"},
		{"of several bytes", task(1, '→'), "> 1) [x] b ^id", "> 1) [→] b ^id"},
		{"open again", task(1, ' '), "- [→] b", "- [ ] b"},
		{"as it is", task(1, 'x'), "- [x] b", "- [x] b"},
		{"no task", task(1, 'x'), "a\n- [ ] b", "!line 1: there is no task"},
		{"in code", task(2, 'x'), "```\n- [ ] b\n```", "!no task"},
		{"a line break", task(1, '\n'), "- [ ] b", "!cannot be the mark"},
		{"in CRLF", task(2, '-'), "a\r\n- [ ] b\r\n", "a\r\n- [-] b\r\n"},
	})
}

// editSound checks what is true for every note and every text.
func editSound(t require.T, text []byte, name, content string, line int) {
	input := bytes.Clone(text)
	note := markdown.Scan(text)
	sound := func(what string, edited []byte, err error) {
		require.That(t, bytes.Equal(text, input), "%s modified %q", what, input)
		if err != nil {
			require.That(t, edited == nil, "%s of %q: %q, %v", what, text, edited, err)
			require.That(t, err.Error() != "", "%s of %q: %q, %v", what, text, edited, err)
			return
		}
		whole := what != "set" && what != "task"
		require.That(t, !whole || bytes.Contains(edited, []byte(content)), "%s of %q into %q altered it: %q", what, content, text, edited)
		now := markdown.Scan(edited)
		if what != "replace" && !bytes.Equal(text[note.Frontmatter.Start:note.Frontmatter.End], edited[now.Frontmatter.Start:now.Frontmatter.End]) {
			t.Fatalf("%s of %q into %q changed the properties: %q", what, content, text, edited)
		}
	}
	for _, target := range []Target{Heading(name), Block(name), Lines(line, line+1)} {
		for _, where := range []Where{Before, After} {
			edited, err := Insert(text, where, target, content)
			sound("insert", edited, err)
			if err == nil && len(edited) <= len(text) && strings.Trim(content, "\r\n") != "" {
				t.Fatalf("insert of %q into %q: %q", content, text, edited)
			}
		}
		edited, err := SetSection(text, target, content)
		sound("set", edited, err)
		if span, err := read(text).span(target); err == nil && target.kind != block {
			old := string(text[span.Start:span.End])
			same, err := SetSection(text, target, old)
			if target.kind == heading && (err != nil || !bytes.Equal(same, text)) {
				t.Fatalf("%q written back over itself in %q: %q, %v", old, text, same, err)
			}
		}
	}
	edited, err := AppendUnder(text, name, content)
	sound("append", edited, err)
	if err == nil {
		now := markdown.Scan(edited)
		require.That(t, len(now.Headings) >= len(note.Headings), "append of %q under %q in %q: %q", content, name, text, edited)
		require.That(t, len(now.Blocks) >= len(note.Blocks), "append of %q under %q in %q: %q", content, name, text, edited)
	}
	edited, err = Replace(text, name, content)
	sound("replace", edited, err)
	edited, err = SetTask(text, line, []rune(content + " ")[0])
	sound("task", edited, err)
	require.That(t, err != nil || len(markdown.Scan(edited).Tasks) == len(note.Tasks), "task %d of %q: %q", line, text, edited)
}

func TestEveryEditKeepsTheRest(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"# A", "## b", "A", "===", "---", "- x", "  y", "1. [ ] t ^A", "> q", "| r | ^b |", "```", "%%", "text ^A",
		"^b", "", "", "[[l]] #t", "<!--", "-->", "\tz", "a: 1", "    - [x] c",
	})
	lines := rapid.Custom(func(t *rapid.T) string {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		return strings.Join(rapid.SliceOfN(piece, 0, 10).Draw(t, "lines"), end)
	})
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"A", "b", "A#b"}).Draw(t, "name")
		editSound(t, []byte(lines.Draw(t, "note")), name, lines.Draw(t, "content"), rapid.IntRange(1, 9).Draw(t, "line"))
	})
}

func FuzzEdit(f *testing.F) {
	f.Add([]byte("---\na: 1\n---\n# A\n\ntext ^id\n\n## B\n- [ ] t ^A\n| r |\n"), "A", "x\ny", 6)
	f.Add([]byte("A\r\n===\r\n> q\r\n> ^id\r\n```\r\n# A\r\n```"), "id", "- [x] z", 3)
	f.Fuzz(func(t *testing.T, text []byte, name, content string, line int) {
		if len(text) < 1<<13 && line < 1<<20 {
			editSound(t, text, name, content, line)
		}
	})
}
