package index

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	_ "vaultwicket/tests/sameseed"
)

func TestEverythingIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number, text, float := rapid.Int().Draw(t, "number"), rapid.String().Draw(t, "text"), rapid.Float64().Draw(t, "float")
		list := rapid.OneOf(rapid.SliceOf(rapid.Int()), rapid.Just([]int(nil))).Draw(t, "list")
		b := appendFloat(appendText(appendInt(nil, number), text), float)
		b = appendCount(b, list)
		for _, n := range list {
			b = appendInt(b, n)
		}
		r := newReader(string(b))
		if got := r.int(); got != number {
			t.Fatalf("number %d", got)
		}
		if got := r.string(); got != text {
			t.Fatalf("text %q", got)
		}
		if got := r.float(); math.Float64bits(got) != math.Float64bits(float) {
			t.Fatalf("float %v", got)
		}
		got := readList[int](&r, 1)
		if len(got) != len(list) || (got == nil) != (list == nil) {
			t.Fatalf("list %v of %v", got, list)
		}
		for _, n := range list {
			if got := r.int(); got != n {
				t.Fatalf("element %d", got)
			}
		}
		if !r.done() {
			t.Fatal("not done")
		}
	})
}

func TestNothingIsBelieved(t *testing.T) {
	const huge = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
	tests := []struct {
		name, text string
		read       func(r *reader)
	}{
		{"a number without end", "\xff\xff", func(r *reader) { r.uint() }},
		{"a number of more than 64 bits", huge[:9] + "\xff\x01", func(r *reader) { r.uint() }},
		{"no byte", "", func(r *reader) { r.byte() }},
		{"half a float", "\x00\x00", func(r *reader) { r.float() }},
		{"a text longer than the rest", "\x02a", func(r *reader) { r.string() }},
		{"a text of the greatest length", huge, func(r *reader) { r.string() }},
		{"a list longer than the rest", "\x05abc", func(r *reader) { readList[int](r, 1) }},
		{"a list of large elements", "\x03abcde", func(r *reader) { readList[int](r, 4) }},
		{"a list of the greatest length", huge, func(r *reader) { readList[int](r, 1) }},
		{"lists that claim the same bytes", "\x04\x04ab", func(r *reader) { readList[int](r, 1); readList[int](r, 1) }},
		{"something left over", "\x00\x00", func(r *reader) { r.byte() }},
	}
	for _, tt := range tests {
		r := newReader(tt.text)
		tt.read(&r)
		if r.done() {
			t.Errorf("%s: it is done", tt.name)
		}
	}
}
