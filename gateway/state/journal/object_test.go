package journal

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	_ "vaultwicket/tests/sameseed"
)

func TestATextIsItsDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(nil)
		parts := text
		for range rapid.IntRange(0, 6).Draw(t, "versions") {
			next := bytes.Clone(text)
			from := rapid.IntRange(0, len(text)).Draw(t, "from")
			to := rapid.IntRange(from, len(text)).Draw(t, "to")
			middle := []byte(rapid.StringOf(rapid.SampledFrom([]rune("ab"))).Draw(t, "middle"))
			next = append(append(next[:from:from], middle...), text[to:]...)
			prefix, suffix := common(text, next)
			o := object{Prefix: prefix, Suffix: suffix, Raw: true}
			o.Data = next[prefix : len(next)-suffix]
			o.Middle = len(o.Data)
			var ok bool
			if parts, ok = o.Over(parts); !ok || !bytes.Equal(parts, next) {
				t.Fatalf("%q became %q, want %q", text, parts, next)
			}
			text = next
		}
		if _, ok := (object{Prefix: len(text) + 1, Raw: true}).Over(parts); ok {
			t.Fatal("more than there is")
		}
	})
}
