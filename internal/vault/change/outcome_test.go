package change

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/vault/edit"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

// words draws a text in which line ends are frequent.
func words(t *rapid.T, label string) []byte {
	return []byte(rapid.StringOfN(rapid.SampledFrom([]rune("ab\n\r- #")), 0, 12, -1).Draw(t, label))
}

// Whatever is changed in the pieces themselves is seen, wherever it is.
func TestAChangedPieceIsSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, added := words(t, "old"), []byte("added text")
		for _, breaks := range []string{"\n", "\r\n", "\n\n"} {
			now := bytes.Join([][]byte{old, added}, []byte(breaks))
			for _, end := range []string{"", "\n", "\r\n"} {
				v := IsComposedOf(append(bytes.Clone(now), end...), edit.OwnLine, old, added)
				require.That(t, v.Done, "%q after %q, then %q: not done", added, old, breaks)
			}
			at := len(now) - rapid.IntRange(1, len(added)).Draw(t, "at")
			lost := append(bytes.Clone(now[:at]), now[at+1:]...)
			require.That(t, !IsComposedOf(lost, edit.OwnLine, old, added).Done, "%q lost a byte at %d and counts as done", now, at)
			require.That(t, !IsComposedOf(append(bytes.Clone(now), now[at:]...), edit.OwnLine, old, added).Done, "%q with its end twice counts as done", now)
		}
		require.That(t, !IsComposedOf(append(bytes.Clone(old), "x"...), edit.OwnLine, old).Done, "a byte more counts as done")
	})
}

func TestPiecesWithoutABreak(t *testing.T) {
	for _, test := range []struct {
		name, now string
		joint     edit.Joint
		want      bool
	}{
		{"no break between two lines", "ab", edit.OwnLine, false},
		{"a break", "a\nb", edit.OwnLine, true},
		{"inline", "ab", edit.Inline, true},
		{"inline on a line of its own", "a\nb", edit.Inline, false},
		{"three breaks", "a\n\n\nb", edit.OwnLine, false},
		{"three breaks at the end", "a\nb\n\n\n", edit.OwnLine, false},
		{"blanks at the end", "a\nb ", edit.OwnLine, false},
	} {
		assert.Equal(t, IsComposedOf([]byte(test.now), test.joint, []byte("a"), []byte("b")).Done, test.want, "%s", test.name)
	}
	got := IsComposedOf([]byte("a\nb"), edit.OwnLine, []byte("a"), []byte("b"))
	assert.That(t, got.Style != "" || got == Exact, "got %+v", got)
}

func TestEnding(t *testing.T) {
	for now, want := range map[string]Verdict{
		"a": Exact, "a\n": {Done: true, Style: endsInBreaks}, "a\r\n": {Done: true, Style: endsInBreaks}, "a\n\n": {}, "b": {}, "": {}, "ab": {}, "a\nb": {},
	} {
		assert.Equal(t, Ending([]byte("a"), []byte(now)), want, "%q", now)
	}
}

// The properties of a note may be written in any way, and a change of any of them
// is seen.
func TestPropertiesAreComparedByTheirValues(t *testing.T) {
	const note = "---\na: 1\nb: [x, \"2\"]\nc: {d: true}\ne:\nf: \"null\"\n---\nbody\n"
	for _, same := range []string{
		"---\n{\"a\": 1.0, \"b\": [\"x\", \"2\"], \"c\": {\"d\": true}, \"e\": null, \"f\": \"null\"}\n---\nbody\n",
		"---\r\nf: 'null'\r\ne: ~\r\nc:\r\n  d: true\r\nb:\r\n  - x\r\n  - '2'\r\na: 0x1\r\n---\r\nbody\n",
		"\ufeff" + note,
	} {
		got := Properties([]byte(note), []byte(same))
		assert.That(t, got.Done, "%q: %+v", same, got)
		assert.That(t, got.Style != "", "%q: %+v", same, got)
	}
	for _, other := range []string{
		"---\na: \"1\"\nb: [x, \"2\"]\nc: {d: true}\ne:\nf: \"null\"\n---\nbody\n",
		"---\na: 1\nb: [x, 2]\nc: {d: true}\ne:\nf: \"null\"\n---\nbody\n",
		"---\na: 1\nb: [\"2\", x]\nc: {d: true}\ne:\nf: \"null\"\n---\nbody\n",
		"---\na: 1\nb: [x, \"2\"]\nc: {d: true, g: 1}\ne:\nf: \"null\"\n---\nbody\n",
		"---\na: 1\nb: [x, \"2\"]\nc: {d: true}\ne: \"\"\nf: \"null\"\n---\nbody\n",
		"---\na: 1\nb: [x, \"2\"]\nc: {d: true}\ne:\nf: null\n---\nbody\n",
		"---\nA: 1\nb: [x, \"2\"]\nc: {d: true}\ne:\nf: \"null\"\n---\nbody\n",
		"---\na: 1\nb: [x, \"2\"]\nc: {d: true}\nf: \"null\"\n---\nbody\n",
		note + "\n", "body\n", "",
	} {
		got := Properties([]byte(note), []byte(other))
		assert.That(t, !got.Done, "%q counts as done: %+v", other, got)
	}
	assert.Equal(t, Properties([]byte(note), []byte(note)), Exact, "the same bytes")
}

// Whatever Set writes has the properties that Set was asked for, and no others.
func TestEveryOtherValueIsSeen(t *testing.T) {
	values := []string{"", "a", "1", "1.5", "true", "null", "a,b", "[]", "2026-11-22", "[[A]]", "it's", "\"x\"", "a: b", "# c"}
	types := []frontmatter.Type{"", "text", "list"}
	seen := 0
	for _, typed := range values {
		for _, as := range types {
			value := require.Value(frontmatter.ParseValue(typed, as))(t)
			wanted := require.Value(frontmatter.Set([]byte("---\nx: old\n---\nbody"), "x", value))(t)
			for _, other := range values {
				for _, otherAs := range types {
					now := require.Value(frontmatter.ParseValue(other, otherAs))(t)
					made := require.Value(frontmatter.Set([]byte("---\n# comment\nx: older\n---\nbody"), "x", now))(t)
					got := Properties(wanted, made)
					assert.That(t, got.Done == value.Equal(now), "%q as %q became %q as %q: %+v", typed, as, other, otherAs, got)
					seen++
				}
			}
		}
	}
	t.Logf("%d pairs", seen)
}
