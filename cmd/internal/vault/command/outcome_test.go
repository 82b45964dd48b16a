package command

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/tests/require"
	_ "vaultwicket/tests/sameseed"
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
				if v := IsComposedOf(append(bytes.Clone(now), end...), false, old, added); !v.Done {
					t.Fatalf("%q after %q, then %q: not done", added, old, breaks)
				}
			}
			at := len(now) - rapid.IntRange(1, len(added)).Draw(t, "at")
			lost := append(bytes.Clone(now[:at]), now[at+1:]...)
			if v := IsComposedOf(lost, false, old, added); v.Done {
				t.Fatalf("%q lost a byte at %d and counts as done", now, at)
			}
			if v := IsComposedOf(append(bytes.Clone(now), now[at:]...), false, old, added); v.Done {
				t.Fatalf("%q with its end twice counts as done", now)
			}
		}
		if v := IsComposedOf(append(bytes.Clone(old), "x"...), false, old); v.Done {
			t.Fatal("a byte more counts as done")
		}
	})
}

func TestPiecesWithoutABreak(t *testing.T) {
	for _, test := range []struct {
		name, now string
		inline    bool
		want      bool
	}{
		{"no break between two lines", "ab", false, false},
		{"a break", "a\nb", false, true},
		{"inline", "ab", true, true},
		{"inline on a line of its own", "a\nb", true, false},
		{"three breaks", "a\n\n\nb", false, false},
		{"three breaks at the end", "a\nb\n\n\n", false, false},
		{"blanks at the end", "a\nb ", false, false},
	} {
		if got := IsComposedOf([]byte(test.now), test.inline, []byte("a"), []byte("b")); got.Done != test.want {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
	if got := IsComposedOf([]byte("a\nb"), false, []byte("a"), []byte("b")); got.Style == "" && got != Exact {
		t.Errorf("got %+v", got)
	}
}

func TestEnding(t *testing.T) {
	for now, want := range map[string]Verdict{
		"a": Exact, "a\n": {true, endsInBreaks}, "a\r\n": {true, endsInBreaks}, "a\n\n": {}, "b": {}, "": {}, "ab": {}, "a\nb": {},
	} {
		if got := Ending([]byte("a"), []byte(now)); got != want {
			t.Errorf("%q: %+v, want %+v", now, got, want)
		}
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
		if got := Properties([]byte(note), []byte(same)); !got.Done || got.Style == "" {
			t.Errorf("%q: %+v", same, got)
		}
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
		if got := Properties([]byte(note), []byte(other)); got.Done {
			t.Errorf("%q counts as done: %+v", other, got)
		}
	}
	if got := Properties([]byte(note), []byte(note)); got != Exact {
		t.Errorf("the same bytes: %+v", got)
	}
}

// Whatever Set writes has the properties that Set was asked for, and no others.
func TestEveryOtherValueIsSeen(t *testing.T) {
	values := []string{"", "a", "1", "1.5", "true", "null", "a,b", "[]", "2026-11-22", "[[A]]", "it's", "\"x\"", "a: b", "# c"}
	types := []frontmatter.Type{"", "text", "list"}
	seen := 0
	for _, typed := range values {
		for _, as := range types {
			value, err := frontmatter.ParseValue(typed, as)
			require.NoError(t, err)
			wanted, err := frontmatter.Set([]byte("---\nx: old\n---\nbody"), "x", value)
			require.NoError(t, err)
			for _, other := range values {
				for _, otherAs := range types {
					now, err := frontmatter.ParseValue(other, otherAs)
					require.NoError(t, err)
					made, err := frontmatter.Set([]byte("---\n# comment\nx: older\n---\nbody"), "x", now)
					require.NoError(t, err)
					if got := Properties(wanted, made); got.Done != value.Equal(now) {
						t.Errorf("%q as %q became %q as %q: %+v", typed, as, other, otherAs, got)
					}
					seen++
				}
			}
		}
	}
	t.Logf("%d pairs", seen)
}
