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

// known is what a process knows of the segments: the heads of the summaries that it has asked for, some of the summaries,
// and the newest segment as far as it was read.
type known struct {
	mu       sync.Mutex
	segments []segment // as they were last seen; it is replaced and never changed
	heads    map[uint64]*head
	placed   placedHeads
	recent   []*summary // the last used at the end
	tail     *segmentReader
}

// placedHeads are the heads of segments at the places of these, nil where there is none: what is asked of all segments is asked
// for each text and each entry, so that looking each up by its number takes as long as the question.
type placedHeads struct {
	of    []segment
	heads []*head
}

// isOf reports whether the heads are those of segments, of which the newest may have grown.
func (p placedHeads) isOf(segments []segment) bool {
	last := len(segments) - 1
	if len(p.of) != len(segments) {
		return false
	}
	if &p.of[0] == &segments[0] {
		return true
	}
	isSame := func(a, b segment) bool { return a.number == b.number && a.size == b.size }
	return slices.EqualFunc(p.of[:last], segments[:last], isSame)
}

// headsOf returns the heads of segments at their places. The caller has the lock.
func (k *known) headsOf(segments []segment) []*head {
	if len(segments) == 0 {
		return nil
	}
	if k.placed.isOf(segments) {
		k.placed.of = segments
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

// Bounds of the summaries that are kept in memory. The last one is kept however large it is: a question about a change of
// thousands of notes looks at it for each of them.
const (
	maxRecentSummaries = 8
	maxRecentRows      = 1 << 16 // of all together: about a MiB
)

// segmentsNow returns the segments and their sizes, up to which they are immutable, so that reading needs no lock. No
// other process may write meanwhile.
func (k *known) segmentsNow(p folder) ([]segment, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.segments) > 0 {
		newest := k.segments[len(k.segments)-1]
		info, err := os.Lstat(p.file(segmentName(newest.number)))
		_, after := os.Lstat(p.file(segmentName(newest.number + 1)))
		isLast := errors.Is(after, fs.ErrNotExist)
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
	seen, err := p.list()
	if err != nil {
		return nil, err
	}
	k.forgetOthers(seen.segments)
	k.segments = seen.segments
	return k.segments, nil
}

// forgetOthers drops what is known of segments that are there no more, or are others.
func (k *known) forgetOthers(now []segment) {
	k.placed = placedHeads{}
	isThere := func(number uint64, size int64) bool {
		i, found := slices.BinarySearchFunc(
			now,
			number,
			func(s segment, n uint64) int { return cmp.Compare(s.number, n) },
		)
		return found && now[i].size >= size
	}
	for number, h := range k.heads {
		if !isThere(number, h.size) {
			delete(k.heads, number)
		}
	}
	k.recent = slices.DeleteFunc(k.recent, func(s *summary) bool { return !isThere(s.number, s.size) })
	if len(k.segments) == 0 || k.tail == nil {
		return
	}
	was := k.segments[len(k.segments)-1]
	i := slices.IndexFunc(now, func(s segment) bool { return s.number == was.number })
	if i < 0 || now[i].size < was.size ||
		!os.SameFile(now[i].info, was.info) { // another journal is in the place of this one
		k.tail = nil
		k.recent = nil
		clear(k.heads)
	}
}

// headOf returns the head of the summary of a segment that is written to no more. A summary that is missing, or is not
// of this segment, is made. The error is that of ctx, or of a segment that cannot be read.
func (j *Journal) headOf(ctx context.Context, seg segment) (*head, error) {
	k := &j.known
	k.mu.Lock()
	defer k.mu.Unlock()
	if h := k.heads[seg.number]; h != nil && h.size == seg.size {
		return h, nil
	}
	if h, _, err := j.folder.readIndex(seg, headAlone); err == nil {
		k.put(h)
		return h, nil
	}
	h, _, err := j.makeIndex(ctx, seg)
	return h, err
}

// summaryOf is headOf for the whole summary.
func (j *Journal) summaryOf(ctx context.Context, seg segment) (*summary, error) {
	k := &j.known
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.IndexFunc(k.recent, func(s *summary) bool { return s.number == seg.number && s.size == seg.size }); i >= 0 {
		s := k.recent[i]
		k.recent = append(slices.Delete(k.recent, i, i+1), s)
		return s, nil
	}
	if h, s, err := j.folder.readIndex(seg, headAndSummary); err == nil {
		k.put(h)
		k.keep(s)
		return s, nil
	}
	_, s, err := j.makeIndex(ctx, seg)
	return s, err
}

func (k *known) put(h *head) {
	if k.heads == nil {
		k.heads = map[uint64]*head{}
	}
	k.heads[h.number] = h
	k.placed = placedHeads{}
}

func (k *known) keep(s *summary) {
	k.recent = append(k.recent, s)
	rows := 0
	for _, kept := range k.recent {
		rows += kept.rowCount()
	}
	for len(k.recent) > 1 && (len(k.recent) > maxRecentSummaries || rows > maxRecentRows) {
		rows -= k.recent[0].rowCount()
		k.recent = slices.Delete(k.recent, 0, 1)
	}
}

// newestOf returns the summary of the newest segment, of which only what is new is read.
func (j *Journal) newestOf(ctx context.Context, seg segment) (*summary, error) {
	k := &j.known
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.tail == nil || k.tail.number != seg.number || k.tail.size > seg.size {
		k.tail = newSegmentReader(seg.number)
	}
	if err := k.tail.readTo(ctx, j.folder, seg.size); err != nil {
		return nil, err
	}
	return k.tail.soFar(), nil
}

// makeIndex makes the summary of a segment, and its file if that can be written. The caller has the lock of known.
func (j *Journal) makeIndex(ctx context.Context, seg segment) (*head, *summary, error) {
	r := j.known.tail
	if r == nil || r.number != seg.number || r.size > seg.size {
		r = newSegmentReader(seg.number)
	}
	if err := r.readTo(ctx, j.folder, seg.size); err != nil {
		return nil, nil, err
	}
	s := r.soFar()
	s.size = seg.size
	s.sort()
	h := s.head()
	j.known.put(h)
	j.known.keep(s)
	// Without the file the next process does this again.
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	half := j.folder.file(fmt.Sprintf("%0*d-%x%s", numberDigits, seg.number, random, temporarySuffix))
	file, err := j.sys.Create(half)
	if err == nil {
		_, err = file.Write(s.encode(h))
		err = errors.Join(err, file.Close())
	}
	if err == nil {
		err = j.sys.Rename(half, j.folder.file(indexName(seg.number)))
	}
	if err != nil {
		_ = j.sys.Remove(half)
	}
	return h, s, nil
}

// sort makes what a summary is searched in searchable, in slices of its own.
func (s *summary) sort() {
	s.orderObjects()
	s.keys = slices.Clone(s.keys)
	slices.SortStableFunc(s.keys, func(a, b keyRow) int { return cmp.Compare(a.key, b.key) })
	s.sorted = true
}

// forget drops the summary of a segment: something is not where it says.
func (j *Journal) forget(number uint64) {
	k := &j.known
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

// indexPart says how much of the index of a segment is read.
type indexPart uint8

const (
	headAlone indexPart = iota
	headAndSummary
)

// readIndex reads the file of a summary: its head, and the summary if that is asked for, else nil.
func (p folder) readIndex(seg segment, part indexPart) (*head, *summary, error) {
	name := p.file(indexName(seg.number))
	file, err := ownerfiles.Open(name, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	wrong := &Damaged{indexName(seg.number), "is not the index of its segment"}
	data := make([]byte, headLength)
	if _, err := file.ReadAt(data, 0); err != nil {
		return nil, nil, err
	}
	h, lengths, ok := decodeHead(data)
	if !ok || h.number != seg.number || h.size != seg.size {
		return nil, nil, wrong
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
		return nil, nil, wrong
	}
	if part == headAlone {
		return h, nil, nil
	}
	s, ok := decodeRows(h, lengths, rows)
	if !ok || sum != lengths.checksum {
		return nil, nil, wrong
	}
	return h, s, nil
}
