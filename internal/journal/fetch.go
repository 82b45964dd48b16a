package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Object returns the text with this hash, verified. The errors are *[Unknown] and *[Damaged], and that of ctx.
func (j *Journal) Object(ctx context.Context, hash string) (guard.Unjudged, error) {
	text, err := j.object(ctx, hash)
	return guard.NewUnjudged(text), err
}

func (j *Journal) object(ctx context.Context, hash string) ([]byte, error) {
	v, err := j.view()
	if err != nil {
		return nil, err
	}
	defer v.close()
	return v.object(ctx, hash)
}

// Reader reads many objects of a journal as it is at one moment, with what it has open.
type Reader struct{ view *view }

// Reader returns a reader, which is to be closed.
func (j *Journal) Reader() (*Reader, error) {
	v, err := j.view()
	if err != nil {
		return nil, err
	}
	return &Reader{v}, nil
}

// Object is [Journal.Object].
func (r *Reader) Object(ctx context.Context, hash string) (guard.Unjudged, error) {
	text, err := r.view.object(ctx, hash)
	return guard.NewUnjudged(text), err
}

// Close closes what the reader has open.
func (r *Reader) Close() { r.view.close() }

// object returns the bytes with this hash, see [Journal.Object].
func (v *view) object(ctx context.Context, hash string) ([]byte, error) {
	if !isHash(hash) {
		return nil, &Invalid{"hash", hash, "is not a SHA-256"}
	}
	wanted := keyOf(byObject, hash)
	var err error = &Unknown{hash}
	for i := range v.having(wanted, 0) { // several may have the object
		s, failed := v.find(ctx, i, wanted)
		if failed != nil {
			return nil, failed
		}
		if s == nil || len(s.objectsWith(wanted)) == 0 {
			continue
		}
		text, problem := v.objectIn(v.segments[i], s, hash)
		switch {
		case problem == nil:
			return text, nil
		case !errors.Is(problem, fs.ErrNotExist): // else it was removed in between
			err = problem
		}
	}
	return nil, err
}

// objectIn returns an object that a segment has.
func (v *view) objectIn(seg segment, s *summary, hash string) ([]byte, error) {
	if lines, err := v.file(seg); lines == nil || err != nil {
		return nil, cmp.Or(err, fs.ErrNotExist)
	}
	p := v.journal.folder
	find := func(hash string) (location, bool) { return v.location(seg, s, hash) }
	spot, ok := find(hash)
	if !ok {
		v.journal.forget(seg.number)
		return nil, &Damaged{hash, "its record cannot be read"}
	}
	if !spot.isWhole() {
		lines, err := v.file(seg)
		if lines == nil || err != nil {
			return nil, cmp.Or(err, fs.ErrNotExist)
		}
		return p.textIn(lines, seg.number, find, hash)
	}
	var whole bytes.Buffer
	err := p.copyFile(&whole, seg.number, Image{true, hash, spot.size})
	return whole.Bytes(), err
}

// location returns where a segment has an object. ok is false if it has none.
func (v *view) location(seg segment, s *summary, hash string) (spot location, ok bool) {
	for _, row := range s.objectsWith(keyOf(byObject, hash)) {
		lines, err := v.file(seg)
		if lines == nil || err != nil {
			return location{}, false
		}
		line := make([]byte, min(row.length, maxLine))
		if _, err := lines.ReadAt(line, row.at); err != nil {
			continue
		}
		record, isSound := unwrap(bytes.TrimSuffix(line, []byte("\n")))
		found, _, spot, isObject := objectHead(record)
		if isSound && isObject && found == hash {
			spot.at = row.at
			spot.length = row.length
			return spot, true
		}
	}
	return location{}, false
}

// Texts returns the text of a file before and after a step, no text where there was none. now returns
// the file as it is if it has this hash: what the step left is not always kept. ok is false if one
// of the texts cannot be had any more.
func (j *Journal) Texts(
	ctx context.Context,
	s Step,
	now func(hash string) (text guard.Unjudged, ok bool),
) (before, after guard.Unjudged, ok bool) {
	texts := [2]guard.Unjudged{}
	none := guard.Unjudged{}
	v, err := j.view()
	if err != nil {
		return none, none, false
	}
	defer v.close()
	for i, image := range []Image{s.Before, s.After} {
		if !image.Exists {
			continue
		}
		text, err := v.object(ctx, image.Hash)
		if err != nil {
			current, same := now(image.Hash)
			if !same {
				return none, none, false
			}
			text = current.ForProgram()
		}
		texts[i] = guard.NewUnjudged(text)
	}
	return texts[0], texts[1], true
}

// segments returns the segments and their sizes. Up to those sizes they are immutable, so
// reading needs no lock.
func (j *Journal) segments() ([]segment, error) {
	there, err := j.folder.exists()
	if err != nil || !there {
		return nil, err
	}
	unlock, err := ownerfiles.LockToRead(j.folder.file(appendLock), patience)
	if err != nil {
		return nil, store.Locked(j.folder.file(appendLock), err)
	}
	defer unlock()
	return j.known.segmentsNow(j.folder)
}

// text returns a text that is kept in a segment as lines, or as a small file. find says where the segment has an object.
func (p folder) text(number uint64, find func(hash string) (location, bool), hash string) ([]byte, error) {
	name := p.file(segmentName(number))
	lines, err := ownerfiles.Open(name, os.O_RDONLY)
	if err != nil {
		return nil, unusable(name, err)
	}
	defer lines.Close()
	return p.textIn(lines, number, find, hash)
}

// objectAt reads the record of a version.
func objectAt(lines io.ReaderAt, at location) (o object, ok bool) {
	line := make([]byte, at.length)
	if _, err := lines.ReadAt(line, at.at); err != nil {
		return object{}, false
	}
	record, sound := unwrap(bytes.TrimSuffix(line, []byte("\n")))
	if !sound {
		return object{}, false
	}
	return parseObject(record)
}

// textIn is text of a segment that is open.
func (p folder) textIn(lines io.ReaderAt, number uint64, find func(hash string) (location, bool), hash string) ([]byte, error) {
	var chain []object // the records that lead to the text
	var text []byte    // the base of the last of them
	for next := hash; next != ""; {
		if len(chain) > maxDepth {
			return nil, &Damaged{hash, "is stored as too many differences"}
		}
		s, ok := find(next)
		if !ok {
			return nil, &Damaged{hash, "is stored as a difference from something that is missing"}
		}
		if s.isWhole() {
			var whole bytes.Buffer
			if err := p.copyFile(&whole, number, Image{true, next, min(s.size, maxText)}); err != nil {
				return nil, err
			}
			text = whole.Bytes()
			break
		}
		o, ok := objectAt(lines, s)
		if !ok || o.Hash != next {
			return nil, &Damaged{hash, "its record cannot be read"}
		}
		if o.File { // the hash of the whole text verifies its data
			o.Raw = true
			o.Data = make([]byte, o.Middle)
			err := p.readObject(objectName(number, o.Hash), func(in io.Reader) bool {
				_, err := io.ReadFull(in, o.Data)
				return err == nil
			})
			if err != nil {
				return nil, err
			}
		}
		chain = append(chain, o)
		next = o.Base
	}
	for _, o := range slices.Backward(chain) {
		var ok bool
		if text, ok = o.Over(text); !ok {
			return nil, &Damaged{hash, "is stored as a difference that does not match its base"}
		}
	}
	if ImageOf(text).Hash != hash {
		return nil, &Damaged{hash, "differs from what was stored"}
	}
	return text, nil
}

// copyFile copies an object that is a file to memory, or to nothing.
func (p folder) copyFile(out io.Writer, number uint64, image Image) error {
	return p.readObject(objectName(number, image.Hash), func(in io.Reader) bool {
		sum := sha256.New()
		n, err := io.Copy(io.MultiWriter(sum, out), io.LimitReader(in, image.Size+1))
		return err == nil && n == image.Size && hex.EncodeToString(sum.Sum(nil)) == image.Hash
	})
}

// readObject passes the content of an object's file to read, which reports whether it is what was
// stored.
func (p folder) readObject(name string, read func(io.Reader) bool) error {
	file, err := ownerfiles.Open(p.file(name), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return &Damaged{name, "is missing"}
	}
	if err != nil {
		return unusable(p.file(name), err)
	}
	defer file.Close()
	if !read(flate.NewReader(bufio.NewReaderSize(file, 64<<10))) {
		return &Damaged{name, "differs from what was stored"}
	}
	return nil
}

// index is where records are in one segment.
type index struct {
	number  uint64
	read    int64 // how far the segment was read
	torn    bool  // there is no newline at the end
	newer   bool  // a newer program began it
	born    time.Time
	objects map[string]location
	latest  map[string]string // the hash of the last version, by note
	entries map[string]int    // how many steps, by id
	states  map[string]State  // by id, of entries that may lie in other segments
	spent   ledger            // by callers, lately
}

// location is where an object is.
type location struct {
	at     int64
	length int64 // with the newline
	size   int64 // of the object
	depth  int
	file   bool
}

// isWhole reports whether the object is a file that has all of it.
func (s location) isWhole() bool { return s.file && s.depth == 0 }

func newIndex(number uint64) *index {
	return &index{
		number: number, objects: map[string]location{}, latest: map[string]string{},
		entries: map[string]int{}, states: map[string]State{}, spent: ledger{},
	}
}

// find returns where an object is.
func (ix *index) find(hash string) (spot location, ok bool) {
	spot, ok = ix.objects[hash]
	return spot, ok
}

func (ix *index) add(record []byte, at, length int64) {
	switch {
	case hasKey(record, objectKey):
		if hash, note, spot, ok := objectHead(record); ok {
			spot.at = at
			spot.length = length
			ix.objects[hash] = spot
			ix.latest[note] = hash
		}
	case hasKey(record, entryKey):
		id, rest, _ := cutText(record, entryKey)
		if count, rest, ok := cutInt(rest, `,"count":`); ok {
			ix.entries[id] = int(count)
			delete(ix.states, id) // of an entry with this id that was taken back
			ix.charge(id, rest)
		}
	case hasKey(record, outcomeKey):
		id, rest, _ := cutText(record, outcomeKey)
		name, rest, _ := cutText(rest, `,"state":"`)
		if state, err := ParseState(name); err == nil {
			ix.states[id] = state
			ix.charge(id, rest)
		}
	case hasKey(record, segmentKey):
		var s segmentRecord
		if json.Unmarshal(record, &s) == nil {
			ix.born = s.Time
			ix.newer = s.Version > formatVersion
			ix.spent.load(s.Spent)
		}
	}
}

// objectHead returns what an index needs of an object's record. The first keys have fixed places,
// because a process reads the thousands of records of a segment before it writes.
func objectHead(record []byte) (hash, note string, s location, ok bool) {
	hash, rest, _ := cutText(record, objectKey)
	note, rest, _ = cutText(rest, `,"note":"`)
	depth, rest, hasDepth := cutInt(rest, `,"depth":`)
	size, rest, hasSize := cutInt(rest, `,"size":`)
	isNamed := isHash(hash) && isShortDigest(note)
	if !isNamed || !hasDepth || !hasSize {
		return "", "", location{}, false
	}
	file := bytes.HasSuffix(rest, []byte(`,"file":true}`))
	return hash, note, location{size: size, depth: int(depth), file: file}, true
}

func cutInt(text []byte, key string) (n int64, rest []byte, ok bool) {
	text, ok = bytes.CutPrefix(text, []byte(key))
	end := 0
	for end < len(text) && '0' <= text[end] && text[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(string(text[:end]), 10, 64)
	return n, text[end:], ok && err == nil
}

// cutText returns the text after a key, up to the next quotation mark.
func cutText(text []byte, key string) (value string, rest []byte, ok bool) {
	text, ok = bytes.CutPrefix(text, []byte(key))
	name, rest, ended := bytes.Cut(text, []byte(`"`))
	return string(name), rest, ok && ended
}
