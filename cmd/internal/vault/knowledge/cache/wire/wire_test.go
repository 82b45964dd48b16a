package wire

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
		b := AppendFloat(AppendText(AppendInt(nil, number), text), float)
		b = AppendCount(b, list)
		for _, n := range list {
			b = AppendInt(b, n)
		}
		r := NewReader(string(b))
		if got := r.Int(); got != number {
			t.Fatalf("number %d", got)
		}
		if got := r.Text(); got != text {
			t.Fatalf("text %q", got)
		}
		if got := r.Float(); math.Float64bits(got) != math.Float64bits(float) {
			t.Fatalf("float %v", got)
		}
		got := List[int](r, 1)
		if len(got) != len(list) || (got == nil) != (list == nil) {
			t.Fatalf("list %v of %v", got, list)
		}
		for _, n := range list {
			if got := r.Int(); got != n {
				t.Fatalf("element %d", got)
			}
		}
		if !r.Done() {
			t.Fatal("not done")
		}
	})
}

func TestNothingIsBelieved(t *testing.T) {
	const huge = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
	tests := []struct {
		name, text string
		read       func(r *Reader)
	}{
		{"a number without end", "\xff\xff", func(r *Reader) { r.Uint() }},
		{"a number of more than 64 bits", huge[:9] + "\xff\x01", func(r *Reader) { r.Uint() }},
		{"no byte", "", func(r *Reader) { r.Byte() }},
		{"half a float", "\x00\x00", func(r *Reader) { r.Float() }},
		{"a text longer than the rest", "\x02a", func(r *Reader) { r.Text() }},
		{"a text of the greatest length", huge, func(r *Reader) { r.Text() }},
		{"a list longer than the rest", "\x05abc", func(r *Reader) { List[int](r, 1) }},
		{"a list of large elements", "\x03abcde", func(r *Reader) { List[int](r, 4) }},
		{"a list of the greatest length", huge, func(r *Reader) { List[int](r, 1) }},
		{"lists that claim the same bytes", "\x04\x04ab", func(r *Reader) { List[int](r, 1); List[int](r, 1) }},
		{"something left over", "\x00\x00", func(r *Reader) { r.Byte() }},
	}
	for _, tt := range tests {
		r := NewReader(tt.text)
		tt.read(r)
		if r.Done() {
			t.Errorf("%s: it is done", tt.name)
		}
	}
}
