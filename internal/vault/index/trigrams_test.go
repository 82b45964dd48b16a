package index

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
	_ "github.com/vaultwicket/vaultwicket/tests/testenv"
)

func folded(text string) []byte { return []byte(strings.Map(FoldRune, text)) }

func TestFoldingIsThatOfUnicode(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if lower := FoldRune(r); lower != unicode.ToLower(r) || FoldRune(lower) != lower {
			t.Fatalf("%U becomes %U, and that %U", r, lower, FoldRune(lower))
		}
	}
}

// checkParts fails if the filter of a text denies a part of it.
func checkParts(t require.T, text string, from, to int) {
	part := text[from:to]
	if !utf8.ValidString(part) {
		return // no query has it
	}
	require.That(t, TrigramsOf([]byte(text)).MayHold(TrigramsOfWord(folded(part))), "%q is said not to be in %q", part, text)
}

func TestNoPartOfATextIsDenied(t *testing.T) {
	letters := []rune("aAbBkKiIıİ\u212asſ zßẞσςΣжЖ한日\U0001f600.\n\ufffd")
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.SampledFrom(letters), 0, 300).Draw(t, "letters"))
		if rapid.Bool().Draw(t, "broken") {
			at := rapid.IntRange(0, len(text)).Draw(t, "at")
			text = text[:at] + "\xff\xe2" + text[at:]
		}
		from := rapid.IntRange(0, len(text)).Draw(t, "from")
		checkParts(t, text, from, rapid.IntRange(from, len(text)).Draw(t, "to"))
	})
}

func FuzzParts(f *testing.F) {
	f.Add("The \u212aelvin sign", 4, 10)
	f.Add("\xff\xfea\u0130b", 2, 5)
	f.Fuzz(func(t *testing.T, text string, from, to int) {
		if 0 <= from && from <= to && to <= len(text) {
			checkParts(t, text, from, to)
		}
	})
}

// random returns a text of words that no other seed has.
func random(seed uint64, words int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	var text []byte
	for range words {
		for range 3 + r.IntN(6) {
			text = append(text, byte('a'+r.IntN(26)))
		}
		text = append(text, ' ')
	}
	return text
}

func TestWordsThatAreNotThereAreMostlyDenied(t *testing.T) {
	for _, words := range []int{1, 10, 100, 1000} {
		filter, passed := TrigramsOf(random(1, words)), 0
		for _, word := range bytes.Fields(random(2, 2000)) {
			if len(word) > 4 && filter.MayHold(TrigramsOfWord(word)) {
				passed++
			}
		}
		assert.That(t, passed <= 200, "a filter of %d bytes for %d words lets %d of 2000 others pass", len(filter), words, passed)
	}
}

func TestSizesFollowTheText(t *testing.T) {
	for words, most := range map[int]int{1: 8, 20: 32, 200: 512, 2000: 4 << 10, 8000: 8 << 10} {
		text := random(3, words)
		got := len(TrigramsOf(text))
		assert.That(t, got != 0, "%d bytes have a filter of %d, want at most %d", len(text), got, most)
		assert.That(t, got <= most, "%d bytes have a filter of %d, want at most %d", len(text), got, most)
		assert.That(t, got <= max(8, len(text)), "%d bytes have a filter of %d, want at most %d", len(text), got, most)
	}
	for _, text := range []string{"", "a", "ab", strings.Repeat("ab ", 5000)} {
		assert.Equal(t, len(TrigramsOf([]byte(text))), 8, "%d bytes have a filter of", len(text))
	}
	assert.That(t, !TrigramsOf([]byte("ab")).MayHold(TrigramsOfWord([]byte("abc"))), "a text of two bytes may have a word of three")
}

func TestATextOfAnythingHasNoFilter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = byte(r.Uint32() & 0x7f)
	}
	filter := TrigramsOf(text)
	assert.Equal(t, filter, "", "a filter of %d bytes", len(filter))
	assert.That(t, filter.MayHold(TrigramsOfWord([]byte("zebra"))), "a filter of %d bytes", len(filter))
	again := TrigramsOf([]byte("zebra"))
	assert.Equal(t, again, TrigramsOf([]byte("zebra")), "the text before is still in the filter")
	assert.Equal(t, len(again), 8, "the text before is still in the filter")
}

func TestFiltersAreReadAsTheyWereWritten(t *testing.T) {
	filter := TrigramsOf(random(4, 300))
	assert.That(t, ReadTrigrams([]byte(filter)) == filter, "another filter")
	for _, size := range []int{0, 1, 7, 9, 24, 1 << 14} {
		assert.That(t, ReadTrigrams(bytes.Repeat([]byte{0}, size)) == "", "%d bytes are a filter", size)
	}
}

// TestLongTextsAreCutBetweenCharacters has texts of several chunks, with characters that
// grow when they are lower-cased.
func TestLongTextsAreCutBetweenCharacters(t *testing.T) {
	for _, unit := range []string{"abcdefg", "\u023a", "日本", "a\u0130b", "\xff", "\U0001f600x", "\x80\x80\x80\x80\x80ABC"} {
		for shift := range 5 {
			text := strings.Repeat("x", shift) + strings.Repeat(unit, 3*chunk/len(unit)) + "the Middle" + strings.Repeat(unit, chunk)
			want := map[uint32]bool{}
			var folded []byte
			for rest := []byte(text); len(rest) > 0; {
				r, size := utf8.DecodeRune(rest)
				if r == utf8.RuneError && size == 1 {
					folded = append(folded, rest[0])
				} else {
					folded = utf8.AppendRune(folded, unicode.ToLower(r))
				}
				rest = rest[size:]
			}
			for _, h := range TrigramsOfWord(folded) {
				want[h] = true
			}
			filter := TrigramsOf([]byte(text))
			for h := range want {
				require.That(t, filter.MayHold(WordTrigrams{h}), "a trigram of a text of %q is missing", unit)
			}
			most := max(wordSize, len(want)*4)
			assert.That(t, len(filter) <= most, "%d trigrams of %q are a filter of %d bytes", len(want), unit, len(filter))
		}
	}
}
