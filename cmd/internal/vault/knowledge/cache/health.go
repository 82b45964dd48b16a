package cache

import "sync"

// part is a part of a record.
type part uint8

const (
	textPart part = 1 << iota
	factsPart
	filterPart
	wholePart = textPart | factsPart | filterPart
)

// health remembers what turned out to be damaged, so that the next update does
// not keep it: else it would stay damaged for as long as the file is the same.
type health struct {
	mu     sync.Mutex
	harmed map[int]part // by place in the table
}

func (r Record) harm(what part) {
	h := &r.cache.table.health
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.harmed == nil {
		h.harmed = map[int]part{}
	}
	h.harmed[r.place] |= what
}

func (r Record) isHarmed(what part) bool {
	h := &r.cache.table.health
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.harmed[r.place]&what != 0
}
