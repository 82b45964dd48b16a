package journal

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// summaryCache is what a process knows about the segments: the heads of the summaries that queries needed, some
// of the summaries, and the newest segment as far as it was read.
type summaryCache struct {
	mu       sync.Mutex
	segments []segment // at the last check; replaced, but never modified
	heads    map[uint64]*head
	placed   placedHeads
	recent   []*summary // most recently used last
	tail     *segmentReader
}

// placedHeads has the heads of segments by index, nil for an unknown head. Queries examine the heads of all
// segments for every text and every entry, so looking up each head by number would take as long as the query
// itself.
type placedHeads struct {
	segments []segment
	heads    []*head
}

// isOf reports whether the heads are those of the segments, the newest of which may have grown.
func (p placedHeads) isOf(segments []segment) bool {
	last := len(segments) - 1
	if len(p.segments) != len(segments) {
		return false
	}
	if &p.segments[0] == &segments[0] {
		return true
	}
	isSame := func(a, b segment) bool { return a.number == b.number && a.size == b.size }
	return slices.EqualFunc(p.segments[:last], segments[:last], isSame)
}

// headsOf returns the heads of segments by index. The caller must hold the lock.
func (k *summaryCache) headsOf(segments []segment) []*head {
	if len(segments) == 0 {
		return nil
	}
	if k.placed.isOf(segments) {
		k.placed.segments = segments
		return k.placed.heads
	}
	heads := make([]*head, len(segments))
	for i, seg := range segments {
		if h := k.heads[seg.number]; h != nil && h.size == seg.size {
			heads[i] = h
		}
	}
	k.placed = placedHeads{segments, heads}
	return heads
}

// Limits of the summaries that are kept in memory. The last one is kept however large it is: a query about a
// change of thousands of notes uses it for each of them.
const (
	maxRecentSummaries = 8
	maxRecentRows      = 1 << 16 // of all summaries together: about a MiB
)

// segmentsNow returns the segments and their sizes. The bytes up to those sizes are immutable, so that reading
// them needs no lock. No other process may write meanwhile.
func (k *summaryCache) segmentsNow(p folder) ([]segment, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.segments) > 0 {
		newest := k.segments[len(k.segments)-1]
		info, err := os.Lstat(p.file(segmentName(newest.number)))
		_, nextErr := os.Lstat(p.file(segmentName(newest.number + 1)))
		isLast := errors.Is(nextErr, fs.ErrNotExist)
		isSame := err == nil && os.SameFile(info, newest.info) && info.Size() >= newest.size
		if isSame && isLast {
			if err := ownerfiles.CheckFile("", info); err != nil {
				return nil, unusable(p.file(segmentName(newest.number)), err)
			}
			if info.Size() == newest.size {
				return k.segments, nil
			}
			newest.size = info.Size()
			newest.info = info
			k.segments = slices.Clone(k.segments)
			k.segments[len(k.segments)-1] = newest
			return k.segments, nil
		}
	}
	listed, err := p.list()
	if err != nil {
		return nil, err
	}
	k.forgetOthers(listed.segments)
	k.segments = listed.segments
	return k.segments, nil
}

// forgetOthers drops what is cached about segments that were removed or replaced.
func (k *summaryCache) forgetOthers(current []segment) {
	k.placed = placedHeads{}
	exists := func(number uint64, size int64) bool {
		i, ok := slices.BinarySearchFunc(
			current,
			number,
			func(s segment, n uint64) int { return cmp.Compare(s.number, n) },
		)
		return ok && current[i].size >= size
	}
	for number, h := range k.heads {
		if !exists(number, h.size) {
			delete(k.heads, number)
		}
	}
	k.recent = slices.DeleteFunc(k.recent, func(s *summary) bool { return !exists(s.number, s.size) })
	if len(k.segments) == 0 || k.tail == nil {
		return
	}
	newest := k.segments[len(k.segments)-1]
	i := slices.IndexFunc(current, func(s segment) bool { return s.number == newest.number })
	isSame := i >= 0 && current[i].size >= newest.size && os.SameFile(current[i].info, newest.info)
	if !isSame { // another journal took the place of this one
		k.tail = nil
		k.recent = nil
		clear(k.heads)
	}
}

// headOf returns the head of the summary of a segment that is not written to any more. It rebuilds a summary
// that is missing or of another segment. The error is that of ctx, or of a segment that cannot be read.
func (j *Journal) headOf(ctx context.Context, seg segment) (*head, error) {
	k := &j.summaries
	k.mu.Lock()
	defer k.mu.Unlock()
	if h := k.heads[seg.number]; h != nil && h.size == seg.size {
		return h, nil
	}
	if h, _, err := j.folder.readIndex(seg, headOnly); err == nil {
		k.put(h)
		return h, nil
	}
	h, _, err := j.makeIndex(ctx, seg)
	return h, err
}

// IndexLong builds the missing indexes of segments that are too long for the next writer to do so, while others
// may write. A call that has begun a change of thousands of files should call it. The error is that of ctx, or of a
// segment that cannot be read; a query then builds the index.
func (j *Journal) IndexLong(ctx context.Context) error {
	segments, err := j.segments()
	if err != nil {
		return err
	}
	for _, seg := range segments {
		if !seg.isLong() || j.hasIndex(seg) { // a long segment is complete: nobody appends to it
			continue
		}
		h, s, err := newSegmentReader(seg.number).index(ctx, j.folder, seg)
		if err != nil {
			return err
		}
		j.keepIndex(h, s)
	}
	return nil
}

// hasIndex reports whether the index of a complete segment is known or can be read.
func (j *Journal) hasIndex(seg segment) bool {
	k := &j.summaries
	k.mu.Lock()
	defer k.mu.Unlock()
	if h := k.heads[seg.number]; h != nil && h.size == seg.size {
		return true
	}
	h, _, err := j.folder.readIndex(seg, headOnly)
	if err == nil {
		k.put(h)
	}
	return err == nil
}

func (j *Journal) keepIndex(h *head, s *summary) {
	k := &j.summaries
	k.mu.Lock()
	defer k.mu.Unlock()
	k.put(h)
	k.add(s)
	j.writeIndex(h, s)
}

// summaryOf is headOf for the whole summary.
func (j *Journal) summaryOf(ctx context.Context, seg segment) (*summary, error) {
	k := &j.summaries
	k.mu.Lock()
	defer k.mu.Unlock()
	i := slices.IndexFunc(k.recent, func(s *summary) bool { return s.number == seg.number && s.size == seg.size })
	if i >= 0 {
		s := k.recent[i]
		k.recent = append(slices.Delete(k.recent, i, i+1), s)
		return s, nil
	}
	if h, s, err := j.folder.readIndex(seg, headAndSummary); err == nil {
		k.put(h)
		k.add(s)
		return s, nil
	}
	_, s, err := j.makeIndex(ctx, seg)
	return s, err
}

func (k *summaryCache) put(h *head) {
	if k.heads == nil {
		k.heads = map[uint64]*head{}
	}
	k.heads[h.number] = h
	k.placed = placedHeads{}
}

func (k *summaryCache) add(s *summary) {
	k.recent = append(k.recent, s)
	rows := 0
	for _, other := range k.recent {
		rows += other.rowCount()
	}
	for len(k.recent) > 1 && (len(k.recent) > maxRecentSummaries || rows > maxRecentRows) {
		rows -= k.recent[0].rowCount()
		k.recent = slices.Delete(k.recent, 0, 1)
	}
}

// newestOf returns the summary of the newest segment. It reads only what was added since the last call.
func (j *Journal) newestOf(ctx context.Context, seg segment) (*summary, error) {
	k := &j.summaries
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.tail == nil || k.tail.number != seg.number || k.tail.size > seg.size {
		k.tail = newSegmentReader(seg.number)
	}
	if err := k.tail.readTo(ctx, j.folder, seg.size); err != nil {
		return nil, err
	}
	return k.tail.snapshot(), nil
}

// makeIndex builds the summary of a segment, and writes it to a file if possible. The caller must hold the lock
// of the cache.
func (j *Journal) makeIndex(ctx context.Context, seg segment) (*head, *summary, error) {
	r := j.summaries.tail
	if r == nil || r.number != seg.number || r.size > seg.size {
		r = newSegmentReader(seg.number)
	}
	h, s, err := r.index(ctx, j.folder, seg)
	if err != nil {
		return nil, nil, err
	}
	j.summaries.put(h)
	j.summaries.add(s)
	j.writeIndex(h, s)
	return h, s, nil
}

// index reads the rest of a complete segment and returns its summary.
func (r *segmentReader) index(ctx context.Context, p folder, seg segment) (*head, *summary, error) {
	if err := r.readTo(ctx, p, seg.size); err != nil {
		return nil, nil, err
	}
	s := r.snapshot()
	s.size = seg.size
	s.sort()
	return s.head(), s, nil
}

// writeIndex writes a summary to a file if possible. Without the file, the next process builds the summary again.
func (j *Journal) writeIndex(h *head, s *summary) {
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	temporary := j.folder.file(fmt.Sprintf("%0*d-%x%s", numberDigits, s.number, random, temporarySuffix))
	file, err := j.sys.Create(temporary)
	if err == nil {
		_, err = file.Write(s.encode(h))
		err = errors.Join(err, file.Close())
	}
	if err == nil {
		err = j.sys.Rename(temporary, j.folder.file(indexName(s.number)))
	}
	if err != nil {
		_ = j.sys.Remove(temporary)
	}
}

// sort prepares a summary for binary search. It copies the slices that it sorts.
func (s *summary) sort() {
	s.orderObjects()
	s.keys = slices.Clone(s.keys)
	slices.SortStableFunc(s.keys, func(a, b keyRow) int { return cmp.Compare(a.key, b.key) })
	s.sorted = true
}

// forget drops the summary of a segment, because something is not at the recorded position.
func (j *Journal) forget(number uint64) {
	k := &j.summaries
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.heads, number)
	k.placed = placedHeads{}
	k.recent = slices.DeleteFunc(k.recent, func(s *summary) bool { return s.number == number })
	if k.tail != nil && k.tail.number == number {
		k.tail = nil
	}
	_ = j.sys.Remove(j.folder.file(indexName(number)))
}

// indexPart tells how much of a segment's index to read.
type indexPart uint8

const (
	headOnly indexPart = iota
	headAndSummary
)

// readIndex reads the index of a segment: its head, and its summary if part asks for it, otherwise nil.
func (p folder) readIndex(seg segment, part indexPart) (*head, *summary, error) {
	name := p.file(indexName(seg.number))
	file, err := ownerfiles.Open(name, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	damaged := &Damaged{indexName(seg.number), "is not the index of its segment"}
	data := make([]byte, headLength)
	if _, err := file.ReadAt(data, 0); err != nil {
		return nil, nil, err
	}
	h, lengths, ok := decodeHead(data)
	if !ok || h.number != seg.number || h.size != seg.size {
		return nil, nil, damaged
	}
	length := lengths.filter
	if part == headAndSummary {
		length += lengths.rows
	}
	rest := make([]byte, length)
	if _, err := file.ReadAt(rest, int64(headLength)); err != nil {
		return nil, nil, err
	}
	h.filter = filter(bytes.Clone(rest[:lengths.filter]))
	rows := rest[lengths.filter:]
	sum := checksum(data[:headLength-numberLength], h.filter, rows)
	if sum>>32 != lengths.checksum>>32 {
		return nil, nil, damaged
	}
	if part == headOnly {
		return h, nil, nil
	}
	s, ok := decodeRows(h, lengths, rows)
	if !ok || sum != lengths.checksum {
		return nil, nil, damaged
	}
	return h, s, nil
}
