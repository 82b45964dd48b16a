package change

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

var someText = rapid.Custom(func(t *rapid.T) string {
	pieces := rapid.SampledFrom([]string{
		"http://", "https://", "HTTPS://", "://", "a.b/", "c?q=", "one two three four", "one+two+three+four", "One",
		"two", "three", "four", "abcdef123456", "abcdef123456789",
		" ", "\n", "\v", ")", "(", ".", "é", "<", "-", " https://a.b/c?q=one+two+three+four ",
		" http://a.b/c?q=abcdef123456 ", " one two three four ", " abcdef123456 ",
	})
	return strings.Join(rapid.SliceOfN(pieces, 0, 12).Draw(t, "pieces"), "")
})

// An address is found in the texts of a proposal where one of them contains it.
func TestAnAddressIsFoundInTexts(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		var p Proposal
		for range rapid.IntRange(0, 3).Draw(t, "texts") {
			p.Steps = append(p.Steps, Step{Before: Existing([]byte(someText.Draw(t, "text")))})
		}
		places := p.addressesBefore()
		for _, a := range guard.Addresses([]byte(someText.Draw(t, "addresses"))) {
			want := slices.ContainsFunc(p.Steps, func(s Step) bool { return bytes.Contains(s.Before.Text.ForProgram(), []byte(a.Text)) })
			require.That(t, places.have(a.Text) == want, "%q in %q: want %v", a.Text, p.Steps, want)
			if want {
				found++
			}
		}
	})
	require.That(t, found > 0, "no address is found")
}

// All additions are looked for in one pass, and found as if each were looked for alone.
func TestAdditionsAreLookedForTogether(t *testing.T) {
	carried := 0
	rapid.Check(t, func(t *rapid.T) {
		var all []addition
		for _, a := range guard.Addresses([]byte(someText.Draw(t, "addresses") + " " + someText.Draw(t, "more"))) {
			one := addition{address: a.Text}
			for _, text := range a.Carried() {
				one.pieces = append(one.pieces, piecesOf(text)...)
			}
			if !slices.ContainsFunc(all, func(other addition) bool { return other.address == a.Text }) {
				all = append(all, one)
			}
		}
		looked := newAdditions(slices.Clone(all))
		for _, file := range []string{"b.md", "a.md"} {
			text := someText.Draw(t, file)
			looked.lookIn(file, []byte(text))
			plain := " " + strings.Join(wordsOf(text), " ") + " "
			for i := range all {
				all[i].known = all[i].known || strings.Contains(text, all[i].address)
				has := slices.ContainsFunc(all[i].pieces, func(piece string) bool { return strings.Contains(plain, " "+piece+" ") })
				if has && (all[i].from == "" || file < all[i].from) {
					all[i].from = file
					carried++
				}
			}
		}
		for i, want := range all {
			got := looked.all[i]
			require.Equal(t, got.known, want.known, "%q: %q", want.address, want.from)
			require.Equal(t, got.from, want.from, "%q: want %v", want.address, want.known)
		}
	})
	require.That(t, carried > 0, "nothing is carried")
}

// Of a very long text only what is beside the change is looked at: an address that is added, or made longer, is in there, wherever the
// change is.
func TestAnAddressIsFoundBesideAChangeOfAVeryLongText(t *testing.T) {
	const size = 8 * maxAddress
	long := strings.Repeat("x ", size/2)
	const address = "https://a.example/?q=one+two+three+four"
	const begun = "https://a.example/?q="
	for _, row := range []struct{ where, before, after string }{
		{"at the end", long, long + address},
		{"at the start", long, address + " " + long},
		{"within", long + long, long + address + " " + long},
		{"made longer at the end", long + begun, long + address},
		{"made longer within", long + begun + " " + long, long + address + " " + long},
		{"of a great length", begun + strings.Repeat("y", maxAddress/2) + " " + long,
			begun + strings.Repeat("y", maxAddress/2) + "+one+two+three+four " + long},
	} {
		s := Step{Before: Existing([]byte(row.before)), After: Existing([]byte(row.after))}
		before, after := s.besideChange()
		require.That(t, len(after) <= 5*maxAddress, "%s: %d of %d bytes", row.where, len(after), len(row.after))
		isWhole := bytes.Contains(after, []byte(begun)) && bytes.Contains(after, []byte("+two+three+four"))
		require.That(t, isWhole, "%s: the address is not in it", row.where)
		require.That(t, !bytes.Contains(before, []byte("+two+three+four")), "%s: the address is not in it", row.where)
	}
	short := Step{Before: Existing([]byte("a")), After: Existing([]byte("a b"))}
	before, after := short.besideChange()
	require.Equal(t, string(before), "a", "a short text is looked at as a whole")
	require.Equal(t, string(after), "a b", "a short text is looked at as a whole")
}
