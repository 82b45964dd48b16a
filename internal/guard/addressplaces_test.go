package guard

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// Where the expressions of addresses look only at a part of a text, they find what they find in all of it.
func TestAddressesAreFoundAsInTheWholeText(t *testing.T) {
	pieces := []string{
		"https://", "h\nttp:/", "h", "t\ntp", ":\n/", "HTT\tPS:\\", "ſ", "K", ":", "/", "//", "\\\\", "\n", "\n\n", "\t", " ", "\r", "\"", "'", "<", ">", "`",
		"src=", "src", "=", "srcset", "href", "](", "]:", "url(", "image", "cover:", "banner", "a", "b.c", "mailto:", "?", "x", "é", "\xff",
		"![", "[", "]", ")", "(", "_", "file:///", "http:", "\x00", "+", "-", "//h/p", "//evil.test/q?x",
	}
	random := rand.New(rand.NewPCG(1, 2))
	found := [3]int{}
	for range 60_000 {
		var text []byte
		for range random.IntN(24) {
			text = append(text, pieces[random.IntN(len(pieces))]...)
		}
		var got, want [][2]int
		words := addressWords{text: text}
		for from := 0; ; {
			start, end, isFound := words.match(from)
			if !isFound {
				break
			}
			got = append(got, [2]int{start, end})
			from = end
		}
		for from := 0; ; {
			m := addresses().FindIndex(text[from:])
			if m == nil {
				break
			}
			want = append(want, [2]int{from + m[0], from + m[1]})
			from += m[1]
		}
		assert.EqualSlices(t, got, want, "addresses of %q", text)
		found[0] += len(want)

		want = nil
		for _, m := range brokenScheme().FindAllIndex(text, -1) {
			if bytes.ContainsAny(text[m[0]:m[1]], "\t\r\n") {
				want = append(want, [2]int(m))
			}
		}
		assert.EqualSlices(t, brokenSchemesIn(text), want, "broken schemes of %q", text)
		found[1] += len(want)

		want = nil
		for _, m := range relative().FindAllSubmatchIndex(text, -1) {
			want = append(want, [2]int(m[2:4]))
		}
		assert.EqualSlices(t, relativeIn(text), want, "addresses with the scheme of the page of %q", text)
		found[2] += len(want)
	}
	assert.That(t, slices.Min(found[:]) > 100, "too few were found to compare: %d", found)
}
