// Package order compares names as the app sorts its listings: case and accents are ignored,
// punctuation comes before digits and digits before letters, and numbers are compared by
// value.
//
// It approximates a collator with base sensitivity and numeric comparison for the root
// locale. The tables of a real one take milliseconds to load, longer than a short command
// runs. Letters of other scripts are ordered by code point.
package order

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"
)

// Sort sorts names in place.
func Sort(names []string) { slices.SortFunc(names, Compare) }

// Compare returns a negative number if a sorts before b, a positive one if after it, and 0
// only if they are the same string: names that differ only in case or accents are ordered by
// their bytes, so that listings are stable.
func Compare(a, b string) int {
	// Skip the common start, up to a run of digits, which is compared as a whole, or a
	// character of several bytes.
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && (isDigit(a[n-1]) || a[n-1] >= utf8.RuneSelf) {
		n--
	}
	x, y := newReader(a[n:]), newReader(b[n:])
	for {
		left, right := x.next(), y.next()
		switch {
		case left == digit && right == digit:
			l, r := strings.TrimLeft(x.number(), "0"), strings.TrimLeft(y.number(), "0")
			if c := cmp.Or(cmp.Compare(len(l), len(r)), strings.Compare(l, r)); c != 0 {
				return c
			}
		case left != right:
			return cmp.Compare(left, right)
		case left == end:
			return strings.Compare(a, b)
		}
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// AppendKey appends the sort key of a name to b. Keys compare byte by byte as [Compare] does
// with the names, but are equal for names that differ only in case or accents. They pay off
// in long lists, where each name is compared many times. The key of a path is the key of its
// folder followed by that of the rest, from the slash on.
func AppendKey(b []byte, name string) []byte {
	r := newReader(name)
	for {
		w := r.next()
		if w == end {
			return b
		}
		b = binary.BigEndian.AppendUint32(b, uint32(w))
		if w == digit {
			number := strings.TrimLeft(r.number(), "0")
			b = binary.BigEndian.AppendUint32(b, uint32(len(number)))
			b = append(b, number...)
		}
	}
}

// First selects the first elements of many in an order (top k), several times faster than
// sorting them all.
type First[T any] struct {
	limit   int
	compare func(a, b T) int
	some    []T  // up to twice the limit
	full    bool // some[:limit] is sorted, and elements after some[limit-1] are not needed
}

// NewFirst returns an empty selection of up to limit elements; limit is at least 1. Which of
// equal elements it keeps is not specified.
func NewFirst[T any](limit int, compare func(a, b T) int) *First[T] {
	return &First[T]{limit: limit, compare: compare}
}

// Add adds an element.
func (f *First[T]) Add(element T) {
	if f.full && f.compare(element, f.some[f.limit-1]) > 0 {
		return
	}
	f.some = append(f.some, element)
	if len(f.some) == 2*f.limit {
		f.trim()
	}
}

// Sorted returns the selected elements in order.
func (f *First[T]) Sorted() []T {
	f.trim()
	return f.some
}

func (f *First[T]) trim() {
	slices.SortFunc(f.some, f.compare)
	f.full = len(f.some) >= f.limit
	f.some = f.some[:min(len(f.some), f.limit)]
}
