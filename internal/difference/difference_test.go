package difference

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

func TestUnified(t *testing.T) {
	many := strings.Repeat("line\n", 12)
	for name, test := range map[string]struct{ before, after string }{
		"a new text":      {"", "a\nb\n"},
		"a removed text":  {"a\n", ""},
		"a changed line":  {"a\nb\nc\n", "a\nx\nc\n"},
		"an added line":   {"a\nc\n", "a\nb\nc\n"},
		"far apart":       {many + "a\n" + many + "b\n" + many, many + "x\n" + many + "y\n" + many},
		"near":            {"a\n1\n2\n3\n4\n5\nb\n", "x\n1\n2\n3\n4\n5\ny\n"},
		"no newline":      {"a\nb", "a\nb\n"},
		"with a newline":  {"a\nb\n", "a\nb"},
		"both without it": {"a\nb", "a\nc"},
		"the same before": {"aa\nb\n", "ab\nb\n"},
	} {
		want := udiff.Unified("a/x", "b/x", test.before, test.after)
		got := Of([]byte(test.before), []byte(test.after)).Unified("a/x", "b/x")
		assert.That(t, got == want, "%s:\n%s\nwant\n%s", name, got, want)
	}
}

func TestReturnsAreShownWhereTheyDiffer(t *testing.T) {
	got := Of([]byte("a\r\nb\r\n"), []byte("a\r\nc\r\n")).Unified("x", "x")
	assert.NotContains(t, got, "\r", "all end so")
	assert.NotContains(t, got, `\u{d}`, "all end so")
	if got := Of([]byte("a\r\nb\n"), []byte("a\nb\n")); len(got.Lines) != 3 || got.Lines[0].Text != `a\u{d}` || got.Lines[1].Text != "a" {
		t.Errorf("one ends so: %+v", got)
	}
}

func TestAByteOrderMarkIsShownWhereOneTextHasIt(t *testing.T) {
	for _, before := range []string{"\ufeffa", "a"} {
		got := Of([]byte(before), []byte("\ufeffb")).Lines
		require.Equal(t, len(got), 2, "%q: %+v", before, got)
		assert.Equal(t, got[0].Text, "a", "%q: %+v", before, got)
		assert.Equal(t, got[1].Text == "b", before != "a", "%q: %+v", before, got)
	}
}

// text is one of lines that repeat, so that differences have many shapes.
var text = rapid.Custom(func(t *rapid.T) string {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "a b", "- a", "+ b", "字\tx"}), 0, 40).Draw(t, "lines")
	return strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
})

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// What is removed and added, with what is between, makes the one text from the other.
func TestLinesMakeTheTextAfter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		c := Of([]byte(before), []byte(after))
		old, made := linesOf(before), []string(nil)
		next := 1
		for _, l := range c.Lines {
			if l.Old > 0 {
				made = append(made, old[next-1:l.Old-1]...)
				next = l.Old + 1
				require.Equal(t, old[l.Old-1], l.Text, "line %d: %+v", l.Old, l)
			} else { // what is before it on the other side is the same
				for len(made)+1 < l.New {
					made, next = append(made, old[next-1]), next+1
				}
			}
			if l.Sign != Removed {
				made = append(made, l.Text)
				require.Equal(t, len(made), l.New, "line %+v is line", l)
			}
		}
		made = append(made, old[next-1:]...)
		require.That(t, slices.Equal(made, linesOf(after)), "%q from %q: %+v", made, before, c)
		added, removed := c.Left()
		require.Equal(t, added, 0, "%d and %d lines are missing", added, removed)
		require.Equal(t, removed, 0, "%d and %d lines are missing", added, removed)
	})
}

// A text of any length is shown by the beginning and the end of what changes.
func TestMuchIsShownByItsEnds(t *testing.T) {
	side := func(word string) []byte {
		var b strings.Builder
		for i := range 110_000 {
			fmt.Fprintln(&b, word, i)
		}
		return []byte(b.String())
	}
	c := Of(side("before"), side("after"))
	require.Equal(t, c.Removed, 110_000, "%d removed, %d added, %d lines", c.Removed, c.Added, len(c.Lines))
	require.Equal(t, c.Added, 110_000, "%d removed, %d added, %d lines", c.Removed, c.Added, len(c.Lines))
	require.That(t, len(c.Lines) <= maxLines, "%d removed, %d added, %d lines", c.Removed, c.Added, len(c.Lines))
	got := c.Unified("x", "x")
	for _, want := range []string{"\n-before 0\n", "\n-before 109999\n", "\n+after 0\n", "\n+after 109999\n", "more lines added"} {
		assert.That(t, strings.Contains(got, want), "%q is not shown", want)
	}
	c = Fit([]Change{c}, Extent{Rows: 40, Bytes: 4000, Line: 100})[0]
	for _, want := range []string{"-before 0", "-before 109999", "+after 0", "+after 109999"} {
		assert.That(t, slices.Contains(texts(c), want), "%q is not among the %d lines that fit", want, len(c.Lines))
	}
	c = Of([]byte("a\x00b"), []byte("text"))
	assert.That(t, c.Binary, "no text: %+v", c)
	assert.Equal(t, len(c.Lines), 0, "no text: %+v", c)
}

func texts(c Change) (all []string) {
	for _, l := range c.Lines {
		all = append(all, string(l.Sign)+l.Text)
	}
	return all
}

// What is shown of little room: of every file something, other matches before repetitions,
// and context last.
func TestFit(t *testing.T) {
	repeated := Of([]byte("x 1\na\nx 1\na\nx 1\na\nx 2\n"), []byte("y\na\ny\na\ny\na\ny\n"))
	other := Of([]byte("one\ntwo\nthree\n"), []byte("one\n2\nthree\n"))
	got := Fit([]Change{repeated, other}, Extent{Rows: 6, Bytes: 1000, Line: 100})
	assert.That(t, slices.Equal(texts(got[0]), ([]string{"-x 1", "+y", "-x 2", "+y"})), "the first shows %q", texts(got[0]))
	assert.That(t, slices.Equal(texts(got[1]), ([]string{"-two", "+2"})), "the second shows %q", texts(got[1]))
	got = Fit([]Change{other}, Extent{Rows: 3, Bytes: 1000, Line: 100})
	assert.Equal(t, len(got[0].Lines), 3, "with room for one more: %q", texts(got[0]))
	assert.EqualSlices(t, texts(Fit([]Change{other}, Extent{Rows: 1, Bytes: 1000, Line: 100})[0]), []string{"-two"}, "with room for one")
}

// Of a long line the part that differs is shown, and what is missing is counted.
func TestALongLineShowsWhatDiffers(t *testing.T) {
	fill := strings.Repeat("same ", 20_000)
	c := Of([]byte(fill+"old"+fill+"\n"), []byte(fill+"new"+fill+"\n"))
	for range 2 { // it can be cut again
		c = Fit([]Change{c}, Extent{Rows: 100, Bytes: 1000, Line: 300})[0]
		for i, want := range []string{"old", "new"} {
			l := c.Lines[i]
			require.Equal(t, l.Text[l.From:l.To], want, "%+v", l)
			assert.That(t, len(l.Text) <= 300, "%+v", l)
			require.Equal(t, len(l.Cuts), 2, "%+v", l)
			assert.Equal(t, l.Cuts[0].Bytes+l.Cuts[1].Bytes+len(l.Text), 2*len(fill)+3, "%+v", l)
		}
	}
	c = Fit([]Change{Of(nil, []byte("HEAD"+fill+"TAIL"))}, Extent{Rows: 100, Bytes: 1000, Line: 300})[0]
	l := c.Lines[0]
	assert.HasPrefix(t, l.Text, "HEAD", "%+v", l)
	assert.That(t, strings.HasSuffix(l.Text, "TAIL"), "%+v", l)
	assert.Equal(t, len(l.Cuts), 1, "%+v", l)
}

// However often a line is cut, its parts are those of the line, in their places.
func TestCutsCountWhatIsMissing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.StringOfN(rapid.RuneFrom([]rune("ab字é")), 0, 400, -1).Draw(t, "line")
		from := rapid.IntRange(0, len(whole)).Draw(t, "from")
		l := Line{Sign: Added, Text: whole, From: runeStart(whole, from)}
		l.To = runeEnd(whole, rapid.IntRange(l.From, len(whole)).Draw(t, "to"))
		for range rapid.IntRange(1, 4).Draw(t, "times") {
			l = l.cut(rapid.IntRange(minLine, 300).Draw(t, "limit"))
		}
		at, done := 0, 0
		for _, c := range append(l.Cuts, Cut{At: len(l.Text)}) {
			piece := l.Text[done:c.At]
			require.That(t, strings.HasPrefix(whole[at:], piece), "%q is not at %d: %+v", piece, at, l)
			at, done = at+len(piece)+c.Bytes, c.At
		}
		require.Equal(t, at, len(whole), "%d of %d bytes: %+v", at, len(whole), l)
		require.That(t, l.From <= l.To, "%d of %d bytes: %+v", at, len(whole), l)
		require.That(t, l.To <= len(l.Text), "%d of %d bytes: %+v", at, len(whole), l)
	})
}

// A change that is kept whole has every line that differs, to the byte, however long it is; one that takes more than the
// limit is not taken for complete.
func TestAWholeChangeHasEveryLine(t *testing.T) {
	long := strings.Repeat("a long paragraph ", 1<<16)
	many := strings.Repeat("line\n", 20_000)
	for name, test := range map[string]struct{ before, after string }{
		"a long line":         {"a\n" + long + "\n", "a\n" + long + "x\n"},
		"the middle of one":   {long + "one" + long, long + "two" + long},
		"all of many lines":   {many, ""},
		"new lines":           {"", many},
		"many for one":        {"one\n", many},
		"one after many":      {many + "end", many + "end of it"},
		"nothing":             {"a", "a"},
		"beside a long line":  {long + "\na\n", long + "\nb\n"},
		"many places of many": {strings.Repeat("a\nb\n", 9000), strings.Repeat("a\nc\n", 9000)},
	} {
		c := Whole([]byte(test.before), []byte(test.after), 8<<20)
		assert.That(t, c.IsComplete(), "%s: not complete", name)
		was, is := linesOf(test.before), linesOf(test.after)
		for _, l := range c.Lines {
			if l.Sign == Removed {
				assert.That(t, l.Text == was[l.Old-1], "%s: line %d before has %d bytes of %d", name, l.Old, len(l.Text), len(was[l.Old-1]))
			}
			if l.Sign == Added {
				assert.That(t, l.Text == is[l.New-1], "%s: line %d after has %d bytes of %d", name, l.New, len(l.Text), len(is[l.New-1]))
			}
		}
		assert.That(t, c.Cost() <= 8<<20, "%s: takes %d bytes", name, c.Cost())
		if c.Added+c.Removed > 0 {
			short := Whole([]byte(test.before), []byte(test.after), 60)
			assert.That(t, !short.IsComplete(), "%s: complete in 60 bytes", name)
			assert.Equal(t, fmt.Sprint(short.Added, short.Removed), fmt.Sprint(c.Added, c.Removed), "%s: lines added and removed", name)
		}
	}
	escapes := strings.Repeat("\x01", 1000)
	c := Whole(nil, []byte(escapes), 2000)
	assert.That(t, !c.IsComplete(), "as escapes it takes %d bytes of 2000", c.Cost())
	assert.Equal(t, c.Added, 1, "lines added")
}
