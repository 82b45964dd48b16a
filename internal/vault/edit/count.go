package edit

import (
	"bytes"
	"hash/maphash"
)

// maxEdits limits the exact count, whose time grows with its square. Above it, the counts are lower bounds, and
// lines that were only moved may not count.
const maxEdits = 2000

// maxLines limits the memory. Above it, every line between the first and the last difference counts.
const maxLines = 1 << 20

// LineCounts are the numbers of lines that a change adds and removes. A modified line is both removed and
// added.
type LineCounts struct{ Added, Removed int }

// CountLines returns the counts of the change from before to after. It builds no difference: texts of any size
// need little memory and limited time.
func CountLines(before, after []byte) LineCounts {
	const block = 4 << 10
	n := min(len(before), len(after))
	prefix := 0
	for prefix+block <= n && bytes.Equal(before[prefix:prefix+block], after[prefix:prefix+block]) {
		prefix += block
	}
	for prefix < n && before[prefix] == after[prefix] {
		prefix++
	}
	start := bytes.LastIndexByte(before[:prefix], '\n') + 1
	before = before[start:]
	after = after[start:]
	linesBefore := NumberOfLines(before)
	linesAfter := NumberOfLines(after)
	if linesBefore == 0 || linesAfter == 0 || linesBefore+linesAfter > maxLines {
		return LineCounts{Added: linesAfter, Removed: linesBefore}
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
	edits, isExact := lineDistance(a, b)
	if isExact {
		return LineCounts{Added: (edits + len(b) - len(a)) / 2, Removed: (edits + len(a) - len(b)) / 2}
	}
	removed := missing(a, b)
	added := missing(b, a)
	return LineCounts{Added: max(added, (edits+len(b)-len(a))/2), Removed: max(removed, (edits+len(a)-len(b))/2)}
}

// NumberOfLines returns the number of lines in a text.
func NumberOfLines(text []byte) int {
	n := bytes.Count(text, newline)
	if len(text) > 0 && !endsLine(text) {
		n++
	}
	return n
}

// lineHashes returns the hashes of a text's lines, ignoring carriage returns at their ends.
func lineHashes(text []byte, seed maphash.Seed) []uint64 {
	hashes := make([]uint64, 0, NumberOfLines(text))
	for line := range bytes.Lines(text) {
		hashes = append(hashes, maphash.Bytes(seed, bytes.TrimRight(line, "\r\n")))
	}
	return hashes
}

// lineDistance returns the minimum number of lines to remove and to add to get from a to b, by the algorithm of
// Myers. It is at most maxEdits; isExact is false if it was limited.
func lineDistance(a, b []uint64) (edits int, isExact bool) {
	limit := min(len(a)+len(b), maxEdits)
	reach := make([]int, 2*limit+2) // furthest position in a, by diagonal
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

// missing returns the number of lines of a that are not in b, as multisets.
func missing(a, b []uint64) (n int) {
	count := make(map[uint64]int, len(b))
	for _, line := range b {
		count[line]++
	}
	for _, line := range a {
		if count[line] == 0 {
			n++
			continue
		}
		count[line]--
	}
	return n
}
