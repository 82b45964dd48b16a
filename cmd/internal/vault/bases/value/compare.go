package value

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/order"
)

// Compare returns the order of two values for < and its like: negative, 0 or
// positive. It is false where they have none, and then every such comparison is
// false. Texts are compared by UTF-16 code units.
func (w *World) Compare(a, b Value) (c int, ok bool) {
	switch {
	case a.kind == Null || b.kind == Null:
		return 0, false
	case a.kind == Date || b.kind == Date:
		x, isX := w.Date(a)
		y, isY := w.Date(b)
		return x.Time.Compare(y.Time), isX && isY
	case a.kind == Duration || b.kind == Duration:
		x, isX := w.Duration(a)
		y, isY := w.Duration(b)
		return cmp.Compare(x.Milliseconds(w.Now), y.Milliseconds(w.Now)), isX && isY
	case a.kind.IsText() && b.kind.IsText():
		return compareUnits(a.Text(), b.Text()), true
	}
	x, isX := a.asNumber()
	y, isY := b.asNumber()
	return cmp.Compare(x, y), isX && isY && x == x && y == y
}

// compareUnits compares two texts by their UTF-16 code units, which differs from
// the order of their bytes where a character needs two of them.
func compareUnits(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for i > 0 && (i < len(a) && isContinuation(a[i]) || i < len(b) && isContinuation(b[i])) {
		i--
	}
	return cmp.Compare(firstUnit(a[i:]), firstUnit(b[i:]))
}

func isContinuation(c byte) bool { return c&0xc0 == 0x80 }

// firstUnit returns what decides the order of a text: its first two units, -1
// for an empty one.
func firstUnit(s string) int {
	if s == "" {
		return -1
	}
	r, _ := utf8.DecodeRuneInString(s)
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return int(high)<<16 | int(low)
	}
	return int(r) << 16
}

// Sort compares two values for the order of rows, of groups and of sort():
// numbers, dates, durations and booleans by their value, all else by its text in
// the order of listings. Where [Value.Unsorted] ones go is for the caller to say.
func (w *World) Sort(a, b Value) int {
	switch {
	case a.kind == Number && b.kind == Number, a.kind == Boolean && b.kind == Boolean:
		return cmp.Compare(a.number, b.number)
	case a.kind == Date && b.kind == Date:
		x, _ := a.Moment()
		y, _ := b.Moment()
		return x.Time.Compare(y.Time)
	case a.kind == Duration && b.kind == Duration:
		x, _ := a.Span()
		y, _ := b.Span()
		return cmp.Compare(x.Milliseconds(w.Now), y.Milliseconds(w.Now))
	}
	return collate(a.Text(), b.Text())
}

// collate is the order of listings, in which texts that differ in case alone are
// equal.
func collate(a, b string) int {
	if strings.EqualFold(a, b) {
		return 0
	}
	return order.Compare(a, b)
}

// Unsorted reports whether v has no place among others and comes last in both
// directions: null and errors.
func (v Value) Unsorted() bool { return v.kind == Null || v.kind == Error }

// Sorted returns items in ascending order, those without a place behind all
// others; equal ones stay in their order.
func (w *World) Sorted(items []Value) []Value {
	sorted := slices.Clone(items)
	slices.SortStableFunc(sorted, func(a, b Value) int {
		if a.Unsorted() || b.Unsorted() {
			return compareBools(a.Unsorted(), b.Unsorted())
		}
		return w.Sort(a, b)
	})
	return sorted
}

// compareBools has false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
