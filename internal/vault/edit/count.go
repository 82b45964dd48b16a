package edit

import (
	"bytes"
	"hash/maphash"
)

// maxEdits bounds the exact count, whose time grows with its square. Beyond it, lines that
// only move count as removed no more often than is certain.
const maxEdits = 2000

// maxLines bounds the memory: beyond it, every line between the first and the last
// difference counts.
const maxLines = 1 << 20

// LineCounts are how many lines a change adds and removes. A line that is changed is
// removed and added.
type LineCounts struct{ Added, Removed int }

// CountLines returns the counts of the change from one text to another. It keeps no
// difference: texts of any size take little memory and a bounded time.
func CountLines(before, after []byte) LineCounts {
	const block = 4 << 10
	n := min(len(before), len(after))
	same := 0
	for same+block <= n && bytes.Equal(before[same:same+block], after[same:same+block]) {
		same += block
	}
	for same < n && before[same] == after[same] {
		same++
	}
	start := bytes.LastIndexByte(before[:same], '\n') + 1
	before = before[start:]
	after = after[start:]
	if n, m := NumberOfLines(before), NumberOfLines(after); n == 0 || m == 0 || n+m > maxLines {
		return LineCounts{m, n}
	}
	seed := maphash.MakeSeed()
	a := lineHashes(before, seed)
	b := lineHashes(after, seed)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a = a[1:]
		b = b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a = a[:len(a)-1]
		b = b[:len(b)-1]
	}
	if len(a) == 0 || len(b) == 0 {
		return LineCounts{len(b), len(a)}
	}
	edits, exact := lineDistance(a, b)
	if exact {
		return LineCounts{Added: (edits + len(b) - len(a)) / 2, Removed: (edits + len(a) - len(b)) / 2}
	}
	gone := missing(a, b)
	come := missing(b, a)
	return LineCounts{Added: max(come, (edits+len(b)-len(a))/2), Removed: max(gone, (edits+len(a)-len(b))/2)}
}

// NumberOfLines returns how many lines a text has.
func NumberOfLines(text []byte) int {
	n := bytes.Count(text, newline)
	if len(text) > 0 && !endsLine(text) {
		n++
	}
	return n
}

// lineHashes returns the lines of a text as hashes. A carriage return at the end of a line
// does not count.
func lineHashes(text []byte, seed maphash.Seed) []uint64 {
	list := make([]uint64, 0, NumberOfLines(text))
	for line := range bytes.Lines(text) {
		list = append(list, maphash.Bytes(seed, bytes.TrimRight(line, "\r\n")))
	}
	return list
}

// lineDistance returns the least number of lines to remove and to add on the way from a
// to b, by the algorithm of Myers. It is at most maxEdits, and not exact then.
func lineDistance(a, b []uint64) (edits int, exact bool) {
	limit := min(len(a)+len(b), maxEdits)
	reach := make([]int, 2*limit+2) // how far in a, by diagonal
	at := func(k int) *int { return &reach[k+limit] }
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			x := 0
			switch {
			case d == 0:
			case k == -d:
				x = *at(k + 1)
			case k == d:
				x = *at(k - 1) + 1
			default:
				x = max(*at(k + 1), *at(k - 1)+1)
			}
			if x-k >= 0 {
				for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
					x++
				}
			}
			*at(k) = x
			if x >= len(a) && x-k >= len(b) {
				return d, true
			}
		}
	}
	return limit, false
}

// missing returns how many lines of a are not in b, counted with their multiplicity.
func missing(a, b []uint64) (n int) {
	there := make(map[uint64]int, len(b))
	for _, line := range b {
		there[line]++
	}
	for _, line := range a {
		if there[line] == 0 {
			n++
			continue
		}
		there[line]--
	}
	return n
}
