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

// Object returns the text with the hash, after verifying it. The error is an *[Unknown], a *[Damaged], or that
// of ctx.
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

// Reader reads many objects of a journal from the same snapshot, sharing its open files.
type Reader struct{ view *view }

// Reader returns a reader. The caller must close it.
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

// Close closes the open files of the reader.
func (r *Reader) Close() { r.view.close() }

// object returns the bytes with the hash, see [Journal.Object].
func (v *view) object(ctx context.Context, hash string) ([]byte, error) {
	if !isHash(hash) {
		return nil, &Invalid{"hash", hash, "is not a SHA-256"}
	}
	wanted := keyOf(byObject, hash)
	var err error = &Unknown{hash}
	for i := range v.segmentsWith(wanted, 0) { // several segments may have the object
		s, findErr := v.summaryWith(ctx, i, wanted)
		if findErr != nil {
			return nil, findErr
		}
		if s == nil || len(s.objectsWith(wanted)) == 0 {
			continue
		}
		text, readErr := v.objectIn(v.segments[i], s, hash)
		switch {
		case readErr == nil:
			return text, nil
		case !errors.Is(readErr, fs.ErrNotExist): // otherwise the segment was removed meanwhile
			err = readErr
		}
	}
	return nil, err
}

// objectIn returns the bytes of an object in a segment.
func (v *view) objectIn(seg segment, s *summary, hash string) ([]byte, error) {
	if lines, err := v.file(seg); lines == nil || err != nil {
		return nil, cmp.Or(err, fs.ErrNotExist)
	}
	p := v.journal.folder
	find := func(hash string) (location, bool) { return v.location(seg, s, hash) }
	loc, ok := find(hash)
	if !ok {
		v.journal.forget(seg.number)
		return nil, &Damaged{hash, "its record cannot be read"}
	}
	if !loc.isWhole() {
		lines, err := v.file(seg)
		if lines == nil || err != nil {
			return nil, cmp.Or(err, fs.ErrNotExist)
		}
		return p.textIn(lines, seg.number, find, hash)
	}
	var whole bytes.Buffer
	err := p.copyFile(&whole, seg.number, Image{true, hash, loc.size})
	return whole.Bytes(), err
}

// location returns the location of an object in a segment. ok is false if it has none.
func (v *view) location(seg segment, s *summary, hash string) (loc location, ok bool) {
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
		found, _, loc, isObject := objectHead(record)
		if isSound && isObject && found == hash {
			loc.at = row.at
			loc.length = row.length
			return loc, true
		}
	}
	return location{}, false
}

// Texts returns the text of a file before and after a step; the zero text stands for a missing file. now
// returns the current text of the file if that has the hash: the journal does not always keep the text after a
// step. ok is false if one of the texts is not available any more.
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
			current, isSame := now(image.Hash)
			if !isSame {
				return none, none, false
			}
			text = current.ForProgram()
		}
		texts[i] = guard.NewUnjudged(text)
	}
	return texts[0], texts[1], true
}

// segments returns the segments and their current sizes. The bytes up to those sizes are immutable, so reading
// them needs no lock.
func (j *Journal) segments() ([]segment, error) {
	exists, err := j.folder.exists()
	if err != nil || !exists {
		return nil, err
	}
	unlock, err := ownerfiles.LockToRead(j.folder.file(appendLock), patience)
	if err != nil {
		return nil, store.Locked(j.folder.file(appendLock), err)
	}
	defer unlock()
	return j.summaries.segmentsNow(j.folder)
}

// text returns a text that a segment keeps as a line, or as a small file. find returns the location of an
// object in the segment.
func (p folder) text(number uint64, find func(hash string) (location, bool), hash string) ([]byte, error) {
	name := p.file(segmentName(number))
	lines, err := ownerfiles.Open(name, os.O_RDONLY)
	if err != nil {
		return nil, unusable(name, err)
	}
	defer lines.Close()
	return p.textIn(lines, number, find, hash)
}

// objectAt reads the record of an object.
func objectAt(lines io.ReaderAt, at location) (o object, ok bool) {
	line := make([]byte, at.length)
	if _, err := lines.ReadAt(line, at.at); err != nil {
		return object{}, false
	}
	record, isSound := unwrap(bytes.TrimSuffix(line, []byte("\n")))
	if !isSound {
		return object{}, false
	}
	return parseObject(record)
}

// textIn is text for a segment whose file is open.
func (p folder) textIn(lines io.ReaderAt, number uint64, find func(hash string) (location, bool), hash string) ([]byte, error) {
	var chain []object // records from the wanted text to its base
	var text []byte    // base of the last record in chain
	for next := hash; next != ""; {
		if len(chain) > maxDepth {
			return nil, &Damaged{hash, "is stored as too many differences"}
		}
		loc, ok := find(next)
		if !ok {
			return nil, &Damaged{hash, "is stored as a difference from something that is missing"}
		}
		if loc.isWhole() {
			var whole bytes.Buffer
			if err := p.copyFile(&whole, number, Image{true, next, min(loc.size, maxText)}); err != nil {
				return nil, err
			}
			text = whole.Bytes()
			break
		}
		o, ok := objectAt(lines, loc)
		if !ok || o.Hash != next {
			return nil, &Damaged{hash, "its record cannot be read"}
		}
		if o.File { // its data needs no checksum: the hash of the text is verified below
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

// copyFile copies an object that is stored as a file, and verifies it.
func (p folder) copyFile(out io.Writer, number uint64, image Image) error {
	return p.readObject(objectName(number, image.Hash), func(in io.Reader) bool {
		sum := sha256.New()
		n, err := io.Copy(io.MultiWriter(sum, out), io.LimitReader(in, image.Size+1))
		return err == nil && n == image.Size && hex.EncodeToString(sum.Sum(nil)) == image.Hash
	})
}

// readObject calls read with the decompressed content of an object's file. read reports whether that matches
// what was stored.
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

// index has the locations of the records in one segment, for writers.
type index struct {
	number        uint64
	read          int64 // offset up to which the segment was read
	isTorn        bool  // the last line has no newline
	isNewerFormat bool  // a newer version of this program began it
	born          time.Time
	objects       map[string]location
	latest        map[string]string // hash of the last version, by note
	entries       map[string]int    // number of steps, by id
	states        map[string]State  // by id, also of entries in other segments
	spent         ledger            // recent bytes by caller
}

// location is the location of an object.
type location struct {
	at     int64
	length int64 // including the newline
	size   int64 // of the object
	depth  int
	file   bool
}

// isWhole reports whether the object is stored as a file with its whole content.
func (s location) isWhole() bool { return s.file && s.depth == 0 }

func newIndex(number uint64) *index {
	return &index{
		number:  number,
		objects: map[string]location{},
		latest:  map[string]string{},
		entries: map[string]int{},
		states:  map[string]State{},
		spent:   ledger{},
	}
}

// find returns the location of an object.
func (ix *index) find(hash string) (loc location, ok bool) {
	loc, ok = ix.objects[hash]
	return loc, ok
}

func (ix *index) add(record []byte, at, length int64) {
	switch {
	case hasKey(record, objectKey):
		if hash, note, loc, ok := objectHead(record); ok {
			loc.at = at
			loc.length = length
			ix.objects[hash] = loc
			ix.latest[note] = hash
		}
	case hasKey(record, entryKey):
		id, rest, _ := cutText(record, entryKey)
		if count, rest, ok := cutInt(rest, `,"count":`); ok {
			ix.entries[id] = int(count)
			delete(ix.states, id) // that of an undone entry with the same id
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
			ix.isNewerFormat = s.Version > formatVersion
			ix.spent.load(s.Spent)
		}
	}
}

// objectHead returns the fields of an object's record that an index needs. The first keys have fixed positions,
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
	name, rest, hasEnd := bytes.Cut(text, []byte(`"`))
	return string(name), rest, ok && hasEnd
}
