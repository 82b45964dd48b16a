package filenames

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

func TestSort(t *testing.T) {
	tests := []struct {
		name string
		want []string // in order
	}{
		{"case does not count", []string{"alpha.md", "Beta.md", "gamma.md"}},
		{"accents do not count", []string{"Eb.md", "éc.md", "Ed.md"}},
		{"composed and decomposed accents are alike", []string{"e\u0301a", "\u00e9b", "e\u0301c"}},
		{"numbers go by value", []string{"a9", "a10", "a100"}},
		{"leading zeros do not count", []string{"#d0a023", "#d09035"}},
		{"a number of any length", []string{"a99999999999999999999998", "a99999999999999999999999", "a100000000000000000000000"}},
		{"punctuation before digits before letters", []string{"_x", "-x", ".x", "(x", "+x", "1x", "ax"}},
		{"typographic marks stand beside the plain ones", []string{"a-z", "a–b", "a—b", "a,b", "a…b", "a”b", "a\"c"}},
		{"currencies stand behind other symbols", []string{"+", "×", "|", "🎉", "$", "€", "1"}},
		{"a blank comes first", []string{"a b", "a_b", "a-b", "a/b", "a1", "ab"}},
		{"a name before its extension", []string{"a", "a b", "a.md", "ab"}},
		{"dates", []string{"2026-01-09", "2026-01-10", "2026-02-01"}},
		{"letters spelled with ornaments", []string{"strase", "Straße", "Strasz"}},
		{"ae and its ligature", []string{"ad", "ae", "æb", "af"}},
		{"other scripts behind Latin", []string{"z", "ω", "я", "日本"}},
		{"emoji are symbols", []string{"_", "🎉", "1", "a"}},
		{"a number inside a path", []string{"w 2/x 10.md", "w 10/x 2.md"}},
		{"broken UTF-8 does not stop", []string{"\xffa", "\xffb"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := slices.Clone(test.want)
			slices.Reverse(got)
			Sort(got)
			assert.That(t, slices.Equal(got, test.want), "got %q, want %q", got, test.want)
		})
	}
}

func TestNamesThatDifferInCaseAloneAreNotEqual(t *testing.T) {
	assert.That(t, Compare("A", "a") < 0, "ties must be broken by bytes")
	assert.That(t, Compare("a", "A") > 0, "ties must be broken by bytes")
	assert.Equal(t, Compare("a", "a"), 0, "ties must be broken by bytes")
}

// name draws strings in which the traps are frequent.
func name() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.RuneFrom([]rune("aAbé\u0301ß 0019-_/.æ日🎉\u200d²")), 0, 8, -1)
}

func TestCompareIsATotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := name().Draw(t, "a"), name().Draw(t, "b"), name().Draw(t, "c")
		require.That(t, Compare(a, b) == -Compare(b, a), "%q and %q are not antisymmetric", a, b)
		require.That(t, (Compare(a, b) == 0) == (a == b), "%q and %q: equal only if the same", a, b)
		require.That(t, Compare(a, b) > 0 || Compare(b, c) > 0 || Compare(a, c) <= 0, "%q, %q, %q are not transitive", a, b, c)
	})
}

func TestKeysCompareAsTheirNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := name().Draw(t, "a"), name().Draw(t, "b")
		c := bytes.Compare(AppendKey(nil, a), AppendKey(nil, b))
		if c == 0 {
			c = strings.Compare(a, b)
		}
		require.Equal(t, c, Compare(a, b), "the keys of %q and %q compare as", a, b)
	})
}

func TestKeysOfPathsBeginWithThoseOfTheirFolders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		folder, rest := name().Draw(t, "folder"), "/"+name().Draw(t, "rest")
		got, want := AppendKey(AppendKey(nil, folder), rest), AppendKey(nil, folder+rest)
		require.That(t, bytes.Equal(got, want), "the key of %q is %x, want %x", folder+rest, got, want)
	})
}
