package search

import (
	"slices"
	"sync"

	"vaultwicket/cmd/internal/vault/order"
	"vaultwicket/cmd/internal/vault/query"
)

// hit is a note that was found.
type hit struct {
	path  string
	rank  int // in the order of listings, 0 if it is not known
	lines []query.Line
	cut   bool // there are more lines, and they are left out
}

const (
	// maxContext bounds the lines of a search in bytes: an agent reads a fraction of
	// it, and they are in memory several times before they are printed.
	maxContext = 4 << 20
	// lineCost is what a line costs besides its text: its number and what holds it.
	lineCost = 64
)

// hits collects what is found, from several goroutines. Of the lines it keeps the
// first ones in the order of listings, as many as an answer holds, whichever note
// is searched first.
type hits struct {
	mu   sync.Mutex
	all  []hit
	size int // of the lines, in bytes
}

func (h *hits) add(one hit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, one)
	if h.size += one.size(); h.size > 2*maxContext {
		h.shorten()
	}
}

// sorted returns the hits in the order of listings.
func (h *hits) sorted() []hit {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shorten()
	return h.all
}

// shorten drops the lines behind the last one that an answer holds. The notes
// stay: how many are found does not depend on it.
func (h *hits) shorten() {
	slices.SortFunc(h.all, hit.compare)
	h.size = 0
	for i := range h.all {
		one := &h.all[i]
		for n, line := range one.lines {
			if h.size+len(line.Text)+lineCost > maxContext {
				one.lines, one.cut = slices.Clone(one.lines[:n]), true
				h.size = maxContext // nothing behind it fits, be it ever so short
				break
			}
			h.size += len(line.Text) + lineCost
		}
	}
}

func (h hit) compare(other hit) int {
	if h.rank != 0 && other.rank != 0 {
		return h.rank - other.rank
	}
	return order.Compare(h.path, other.path)
}

func (h hit) size() (bytes int) {
	for _, line := range h.lines {
		bytes += len(line.Text) + lineCost
	}
	return bytes
}
