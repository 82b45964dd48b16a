package search

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/tests/assert"
	"github.com/vaultwicket/vaultwicket/tests/require"
)

// letters are few, so that random texts hold random needles, and strange enough
// to show mistakes: cases of different length, characters that fold to ASCII.
var letters = []rune("aAbBkKiIıİ\u212asſ zZéÉßẞσςΣжЖ한日😀.-_1\n\r\ufffd")

func textOf(max int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOfN(rapid.SampledFrom(letters), 0, max).Draw(t, "letters"))
	})
}

func lower(s string) string { return strings.Map(unicode.ToLower, s) }

func TestFastFinderAgreesWithTheNaiveOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, wanted := textOf(200).Draw(t, "text"), textOf(5).Draw(t, "needle")
		if rapid.Bool().Draw(t, "cut out") && len(text) > 0 {
			runes := []rune(text)
			from := rapid.IntRange(0, len(runes)-1).Draw(t, "from")
			wanted = string(runes[from:rapid.IntRange(from, min(from+12, len(runes))).Draw(t, "to")])
		}
		got, want := newNeedle(wanted, ignoreCase).occursIn([]byte(text)), strings.Contains(lower(text), lower(wanted))
		require.Equal(t, got, want, "%q in %q", wanted, text)
		got, want = newNeedle(wanted, matchCase).occursIn([]byte(text)), strings.Contains(text, wanted)
		require.Equal(t, got, want, "exactly %q in %q", wanted, text)
	})
}

func TestPlacesAgreeWithTheNaiveOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, wanted := textOf(120).Draw(t, "text"), textOf(3).Filter(func(s string) bool { return s != "" }).Draw(t, "needle")
		for _, choice := range []verdict{take, skip} {
			var got []int
			newNeedle(wanted, ignoreCase).each([]byte(text), func(start, _ int) verdict {
				got = append(got, start)
				return choice
			})
			want := naivePlaces(text, wanted, choice)
			require.That(t, slices.Equal(got, want), "%q in %q: %v, want %v", wanted, text, got, want)
		}
	})
}

// naivePlaces tries every character of a text.
func naivePlaces(text, wanted string, choice verdict) []int {
	var places []int
	runes, size, at := []rune(text), len([]rune(wanted)), 0
	offset := func(i int) int { return len(string(runes[:i])) }
	for at+size <= len(runes) {
		if lower(string(runes[at:at+size])) != lower(wanted) {
			at++
			continue
		}
		places = append(places, offset(at))
		if choice == take {
			at += size
		} else {
			at++
		}
	}
	return places
}

func TestEveryCharacterIsFoundInAllItsCases(t *testing.T) {
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if lower := index.FoldRune(r); lower != r && !slices.Contains(variants(lower), r) {
			t.Errorf("%U is no variant of %U", r, lower)
		}
	}
}

func TestEveryPairOfASCIICharacters(t *testing.T) {
	for c := byte(1); c < 0x80; c++ {
		n := newNeedle(string([]byte{c, 'x'}), ignoreCase)
		for d := byte(1); d < 0x80; d++ {
			text := []byte("\x00\x00\x00\x00\x00\x00\x00" + string([]byte{d}) + "X\x00\x00")
			if got, want := n.occursIn(text), foldByte(c) == foldByte(d); got != want {
				t.Errorf("%q in %q: %v", n.text, text, got)
			}
		}
	}
}

// TestTextsThatRepeatThemselvesAreCheap counts what is compared in vain: it must
// not be the length of the text times that of the needle. A finder that has
// given up being clever is seen by what the plain one allocates.
func TestTextsThatRepeatThemselvesAreCheap(t *testing.T) {
	const long, bound = 100_000, 10 // bytes of text, and compared for each of them
	for _, c := range []struct{ text, needle string }{
		{strings.Repeat("a", long), strings.Repeat("a", 1000) + "b" + strings.Repeat("a", 1000)},
		{strings.Repeat(strings.Repeat("a", 999)+"b", long/1000), strings.Repeat("a", 1000) + "b"},
		{strings.Repeat(strings.Repeat("ж", 999)+"ш", long/1000), strings.Repeat("ж", 1000) + "ш"},
		{strings.Repeat("ж", long), strings.Repeat("ж", 1000) + "ш" + strings.Repeat("ж", 500)},
	} {
		n, text := newNeedle(c.needle, ignoreCase), []byte(c.text)
		allocs := testing.AllocsPerRun(1, func() { assert.That(t, !n.occursIn(text), "found") })
		if gaveUp := allocs > 0; !gaveUp && comparedInVain(n, text) > bound*(len(text)+len(c.needle)) {
			t.Errorf("%.4s: %d bytes are compared in vain", c.text, comparedInVain(n, text))
		}
		found := 0
		n.each([]byte(c.text+strings.ToUpper(c.needle)+"."+c.needle), func(start, end int) verdict {
			found++
			return take
		})
		assert.That(t, found == 2, "%.4s: found %d times", c.text, found)
	}
}

// comparedInVain does what the finders do, without their patience.
func comparedInVain(n *needle, text []byte) (compared int) {
	if n.isASCII {
		n.pair.each(text, len(n.text), func(start int) bool {
			compared += commonFolded(text[start:], n.text)
			return true
		})
		return compared
	}
	for _, anchor := range n.anchors {
		for at := indexFrom(text, anchor, 0); at < len(text); at = indexFrom(text, anchor, at+1) {
			wasted := 0
			n.around(text, at, &wasted)
			compared -= wasted
		}
	}
	return compared
}

func TestPlacesInTextThatIsNotUTF8(t *testing.T) {
	text := "\xff\xfeA\u212a\xc3\xc3é"
	n := newNeedle("ak", ignoreCase)
	n.each([]byte(text), func(start, end int) verdict {
		assert.Equal(t, text[start:end], "A\u212a", "found")
		return take
	})
	var places []int
	n.eachFolded([]byte(text), 1, func(start, end int) verdict {
		places = append(places, start, end)
		return stop
	})
	assert.That(t, slices.Equal(places, []int{2, 6}), "places %v", places)
	assert.That(t, !newNeedle("\ufffd", ignoreCase).occursIn([]byte("\xff")), "a broken byte is taken for a character")
}

// query returns random query text of few terms.
func randomQuery(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		choices := []string{"word", "word", "phrase", "regex", "tag", "property"}
		if depth > 0 {
			choices = append(choices, "and", "or", "not", "line", "block", "section", "task", "content", "file", "match-case")
		}
		inner := func() string { return randomQuery(depth-1).Draw(t, "inner") }
		w := rapid.SampledFrom([]string{"a", "ab", "B", "é", "k", "한", "b\u212a", "abéAB", "kab", "ABAB", "한ab", "a ab"}).Draw(t, "word")
		switch choice := rapid.SampledFrom(choices).Draw(t, "kind"); choice {
		case "word":
			return strings.ReplaceAll(w, " ", "")
		case "phrase":
			return `"` + w + `"`
		case "regex":
			return "/" + w + ".?$/"
		case "tag":
			return "tag:#" + strings.ReplaceAll(w, " ", "")
		case "property":
			return "[p:" + w + "]"
		case "and":
			return "(" + inner() + " " + inner() + ")"
		case "or":
			return "(" + inner() + " OR " + inner() + ")"
		case "not":
			return "-" + inner()
		default:
			return choice + ":" + inner()
		}
	})
}

func randomNote() *rapid.Generator[*fakeNote] {
	return rapid.Custom(func(t *rapid.T) *fakeNote {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "AB k", "é ab", "# ab", "## b", "- [ ] a b", "- [x] B",
			"", "> a", "#a/b x", "```", "한ab", "b\u212a", "x abÉab", "\u212aAb", "\xffabab\xc3"}), 0, 12).Draw(t,
			"lines")
		return &fakeNote{
			path: rapid.SampledFrom([]string{"a.md", "B/k.md", "x.md"}).Draw(t, "path"),
			text: []byte(strings.Join(lines, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "break"))),
			properties: frontmatter.Properties{{Key: "P",
				Value: frontmatter.Parts{Kind: frontmatter.String,
					Text: rapid.SampledFrom([]string{"a", "B", ""}).Draw(t, "value")}.Value()}},
		}
	})
}

func TestLawsOfLogic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := randomQuery(3).Draw(t, "a"), randomQuery(3).Draw(t, "b")
		n := randomNote().Draw(t, "note")
		match := func(text string) bool {
			q, err := ParseQuery(text, QueryOptions{})
			if err != nil {
				if err.(*ParseError).Code() == "query_too_deep" {
					t.Skip("too deep")
				}
				t.Fatalf("%s: %v", text, err)
			}
			found := q.Match(n)
			if !found && q.Lines(n) != nil || found && q.Lines(n) == nil {
				t.Fatalf("%s: match %v, lines %v", text, found, q.Lines(n))
			}
			return found
		}
		require.That(t, match("-("+a+" OR "+b+")") == match("-"+a+" -"+b), "De Morgan does not hold for %s and %s", a, b)
		isInBoth := match(a) && match(b)
		require.Equal(t, match(a+" "+b), isInBoth, "AND of %s and %s", a, b)
		require.That(t, match(a+" OR "+b) == (match(a) || match(b)), "OR does not hold for %s and %s", a, b)
		require.That(t, match(a) != match("-"+a), "NOT does not hold for %s", a)
	})
}

func FuzzMatch(f *testing.F) {
	f.Add("line:(a -b) OR /(a|b)+$/", "a b\n\nc", "x/y.md")
	f.Add(`section:(section:"a" block:b)`, sample, "a")
	f.Add("tag:#a [p:<5] task:x", "#a\n- [x] b", "n.md")
	f.Add("/(?=a)(a+)+$/", strings.Repeat("a", 64)+"b", "n.md")
	f.Fuzz(func(t *testing.T, query, text, path string) {
		q, err := ParseQuery(query, QueryOptions{Budget: budget.New(budget.Limits{Match: 50 * time.Millisecond})})
		if err != nil {
			t.Skip()
		}
		n := &fakeNote{path: path, text: []byte(text), properties: sampleProperties}
		begin := time.Now()
		found := q.Match(n)
		lines := q.Lines(n)
		took := time.Since(begin)
		require.That(t, took <= 10*time.Second, "%q took %v", query, took)
		require.That(t, len(lines) == 0 || found || q.Err() != nil, "%q: lines %v without a match", query, lines)
		for i, line := range lines {
			if line.Line < 1 || i > 0 && line.Line <= lines[i-1].Line || strings.Contains(line.Text, "\n") ||
				!strings.Contains(text, strings.TrimSuffix(strings.TrimPrefix(line.Text, ellipsis), ellipsis)) {
				t.Fatalf("%q: line %v", query, line)
			}
		}
	})
}

// A search asks each note of a vault for the first match of a word in its path.
func TestTheFirstMatchAllocatesNothing(t *testing.T) {
	path := []byte("Projects/Überblick/The river of İstanbul.md")
	for _, word := range []string{"river", "RIVER", "über", "istanbul", "none", ""} {
		plain := wordPattern{newNeedle(word, ignoreCase), word}
		exact := wordPattern{newNeedle(word, matchCase), word}
		for _, p := range []pattern{plain, exact, phrase{plain}} {
			uses := budget.New(budget.Limits{})
			allocs := testing.AllocsPerRun(10, func() { p.first(uses, path) })
			assert.Equal(t, allocs, 0.0, "%T %q", p, word)
			first := -1
			p.each(uses, path, func(start, _ int) verdict {
				first = start
				return stop
			})
			start, found := p.first(uses, path)
			assert.Equal(t, found, first >= 0, "%T %q: found", p, word)
			assert.That(t, !found || start == first, "%T %q: at %d, not %d", p, word, start, first)
		}
	}
}
