// Package order compares names as the notes app sorts its listings: case and
// accents do not count, punctuation stands before digits and digits before
// letters, and numbers are compared by value.
//
// It imitates a collator with base sensitivity and numeric comparison for the
// root locale. It is not one: tables of such a collator take milliseconds to
// load, which is more than the whole life of a short program. Letters of other
// scripts are ordered by code point.
package order

import (
	"cmp"
	"slices"
	"strings"
)

// Sort sorts names in place.
func Sort(names []string) { slices.SortFunc(names, Compare) }

// Compare returns a negative number if a stands before b, a positive one if
// behind, and 0 only if they are the same string: names that differ in case or
// accents alone are ordered by their bytes, so that listings are stable.
func Compare(a, b string) int {
	start := commonStart(a, b)
	if c := compareWeights(a[start:], b[start:]); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

// commonStart returns how much of a and b may be skipped because it is equal.
// It ends before a run of digits, whose value is known only as a whole, and
// before a character of several bytes.
func commonStart(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && (isDigit(a[n-1]) || a[n-1] >= 0x80) {
		n--
	}
	return n
}

func compareWeights(a, b string) int {
	x, y := newReader(a), newReader(b)
	for {
		left, right := x.next(), y.next()
		if left == digit && right == digit {
			if c := compareNumbers(x.number(), y.number()); c != 0 {
				return c
			}
			continue
		}
		if left != right {
			return cmp.Compare(left, right)
		}
		if left == end {
			return 0
		}
	}
}

// compareNumbers compares two digit runs by value, of any length.
func compareNumbers(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return strings.Compare(a, b)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
