package markdown

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestTheNextSpecialByte(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, text []byte, at, end int) {
		want := at
		for want < end && !special[text[want]] {
			want++
		}
		if got := nextSpecial(text, at, end); got != want {
			t.Fatalf("%q from %d to %d: got %d, want %d", text, at, end, got, want)
		}
	}
	for b := range 256 {
		for neighbour := range 256 {
			text := bytes.Repeat([]byte{byte(neighbour)}, 24)
			text[11] = byte(b)
			check(t, text, 3, len(text))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte("ab ^_XYZ\x80\xff[]"))), 0, 40).Draw(t, "text")
		at := rapid.IntRange(0, len(text)).Draw(t, "at")
		check(t, text, at, rapid.IntRange(at, len(text)).Draw(t, "end"))
	})
}
