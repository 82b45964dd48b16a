package cache

import (
	"cmp"
	"slices"

	"vaultwicket/cmd/internal/vault/processors"
)

const (
	// maxRun is how many bytes are read at once. A longer piece is read alone.
	maxRun = 256 << 10
	// maxGap is how many unneeded bytes are read along: that costs no more than another
	// read.
	maxGap = 8 << 10
)

// Texts reads many texts with few system calls. It calls visit once for every record, with
// its index in records, from several goroutines and in no particular order, and returns
// when the last call has. The text is valid until visit returns; ok is that of Text.
func (c *Cache) Texts(records []Record, visit func(i int, text []byte, ok bool)) {
	c.each(records, textPart, visit)
}

// EachFacts does so with facts.
func (c *Cache) EachFacts(records []Record, visit func(i int, facts []byte, ok bool)) {
	c.each(records, factsPart, visit)
}

// Filters does so with the filters of texts.
func (c *Cache) Filters(records []Record, visit func(i int, filter []byte, ok bool)) {
	c.each(records, filterPart, visit)
}

// piece is one span to be read.
type piece struct {
	span
	i int // whose it is
}

func (c *Cache) each(records []Record, what part, visit func(i int, data []byte, ok bool)) {
	pieces := make([]piece, 0, len(records))
	for i, r := range records {
		s := r.entry().spans[what]
		if !s.isKept() || !c.owns(r) {
			visit(i, nil, false)
			continue
		}
		pieces = append(pieces, piece{s, i})
	}
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Compare(a.at, b.at) })
	all := runs(pieces)
	processors.Each(len(all), 1, func(n, _ int) {
		scratch := scratches.Get().(*scratch)
		defer scratch.put()
		scratch.bytes = c.readRun(all[n], scratch.bytes, func(p piece, data []byte, ok bool) {
			if !ok || checksum(data) != p.sum {
				records[p.i].harm(what)
				data, ok = nil, false
			}
			visit(p.i, data, ok)
		})
	})
}

// runs groups pieces, which are in the order of the pack, into what is read at once.
func runs(pieces []piece) [][]piece {
	var out [][]piece
	for start := 0; start < len(pieces); {
		end := pieces[start].end()
		n := start + 1
		for n < len(pieces) && pieces[n].at <= end+maxGap && max(end, pieces[n].end())-pieces[start].at <= maxRun {
			end = max(end, pieces[n].end())
			n++
		}
		out = append(out, pieces[start:n])
		start = n
	}
	return out
}

// readRun reads one run into buf, calls visit for each of its pieces, and returns the
// buffer that it was read into. ok is false for a piece that cannot be read.
func (c *Cache) readRun(run []piece, buf []byte, visit func(p piece, data []byte, ok bool)) []byte {
	from, end := run[0].at, uint64(0)
	for _, p := range run {
		end = max(end, p.end())
	}
	buf = resize(buf, int(end-from))
	got, _ := c.pack.file.ReadAt(buf, int64(from)) // what is missing is found below
	for _, p := range run {
		start, end := p.at-from, p.end()-from
		if end > uint64(got) {
			visit(p, nil, false)
			continue
		}
		visit(p, buf[start:end:end], true)
	}
	return buf
}
