package journal

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// Content returns the bytes that a step is going to change, as in its Before. It is called in the
// order of the steps, for objects that are not kept yet.
type Content func(Step) (io.ReadCloser, error)

// contentError wraps an error of the caller's reader, which is returned unwrapped.
type contentError struct{ cause error }

func (e *contentError) Error() string { return e.cause.Error() }

// contentReader marks the errors of a reader.
type contentReader struct{ io.Reader }

func (r contentReader) Read(buf []byte) (int, error) {
	n, err := r.Reader.Read(buf)
	if err != nil && err != io.EOF {
		err = &contentError{err}
	}
	return n, err
}

// isKept reports whether an object is kept in this segment and can be read.
func (b *batch) isKept(image Image) bool {
	spot, known := b.tail.index.objects[image.Hash]
	if !known || spot.size != image.Size {
		return false
	}
	if spot.isWhole() && spot.size > b.inText {
		return b.folder.copyFile(io.Discard, b.tail.number, image) == nil
	}
	_, ok := b.text(image.Hash)
	return ok
}

// text returns a text that is kept in this segment.
func (b *batch) text(hash string) ([]byte, bool) {
	if text, ok := b.recent.texts[hash]; ok {
		return text, true
	}
	if b.flush() != nil {
		return nil, false
	}
	text, err := b.folder.text(b.tail.number, b.tail.find, hash)
	if err != nil {
		return nil, false
	}
	b.recent.put(hash, text)
	return text, true
}

// keep stores the bytes of in if they match image.
func (b *batch) keep(path string, image Image, in io.Reader) error {
	whole := object{Hash: image.Hash, Note: noteID(path), Size: image.Size, File: true}
	if image.Size > b.inText {
		return b.keepFile(path, whole, image, in)
	}
	text, err := readImage(path, image, in)
	if err != nil {
		return err
	}
	// Keep a text as a line if it can: as the difference from the last version of the same note, or
	// whole.
	o, ok := b.delta(whole.Note, image.Hash, text)
	if ok && o.File {
		middle := o.Data
		o.Data = nil
		return b.keepFile(path, o, ImageOf(middle), bytes.NewReader(middle))
	}
	if !ok {
		fits := false
		if o, fits = wholeText(whole.Note, image.Hash, text); !fits {
			return b.keepFile(path, whole, image, bytes.NewReader(text))
		}
	}
	b.recent.put(image.Hash, text)
	return b.value(o)
}

// readImage reads the bytes of the file at path, which are an error if they are not those of image.
func readImage(path string, image Image, in io.Reader) ([]byte, error) {
	text := make([]byte, image.Size+1) // one more, so that a longer one is seen
	n, err := io.ReadFull(in, text)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	if text = text[:n]; ImageOf(text) != image {
		return nil, &Changed{path}
	}
	return text, nil
}

// wholeText returns the object of a text that is kept as a whole, in a line. It reports false if it does not fit one.
func wholeText(note, hash string, text []byte) (o object, fits bool) {
	if len(text) > maxPacked {
		return object{}, false
	}
	o = object{Hash: hash, Note: note, Size: int64(len(text))}
	o.setData(text)
	return o, len(o.Data) <= maxInline
}

// keepPacked keeps the bytes of the note at path as they are packed. It reports false if they are not, or a difference from the
// last version may be shorter.
func (b *batch) keepPacked(path string, image Image, texts *Packed) (isKept bool, err error) {
	record, isPacked := texts.record(image.Hash)
	if !isPacked {
		return false, nil
	}
	if _, hasBase := b.tail.latest[noteID(path)]; hasBase {
		return false, nil
	}
	return true, b.line(record)
}

// delta returns the record of a version as its difference from the last one of the note; it
// reports false if that is not much shorter. If the difference does not fit a line, the record
// is a File whose Data, not compressed, are still to be written.
func (b *batch) delta(note, hash string, text []byte) (object, bool) {
	last, known := b.tail.latest[note]
	spot := b.tail.index.objects[last]
	canBeBase := known && last != hash && spot.depth < maxDepth
	isWorthIt := len(text) >= leastDelta && spot.size <= b.inText
	if !canBeBase || !isWorthIt {
		return object{}, false
	}
	base, ok := b.text(last)
	if !ok {
		return object{}, false
	}
	prefix, suffix := common(base, text)
	middle := text[prefix : len(text)-suffix]
	if len(middle) > len(text)/2 {
		return object{}, false
	}
	o := object{
		Hash:   hash,
		Note:   note,
		Depth:  spot.depth + 1,
		Size:   int64(len(text)),
		Base:   last,
		Prefix: prefix,
		Suffix: suffix,
	}
	if len(middle) <= maxPacked {
		o.setData(middle)
	}
	if len(middle) > maxPacked || len(o.Data) > maxInline {
		o.Middle = len(middle)
		o.Raw = false
		o.File = true
		o.Data = middle
	}
	return o, true
}

// keepFile writes the data of an object, of which image is the hash, as a file of its own, and
// then the record.
func (b *batch) keepFile(path string, o object, image Image, in io.Reader) error {
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	half := b.folder.file(fmt.Sprintf("%0*d-%x%s", numberDigits, b.tail.number, random, temporarySuffix))
	out, err := b.sys.Create(half)
	if err != nil {
		return errors.Join(err, b.sys.Remove(half))
	}
	counted := &counter{out: out}
	buffered := bufio.NewWriterSize(counted, flushAt)
	sum := sha256.New()
	n, err := compress(buffered, io.TeeReader(io.LimitReader(in, image.Size+1), sum))
	err = errors.Join(err, buffered.Flush())
	b.stored += counted.n
	if err == nil && (n != image.Size || hex.EncodeToString(sum.Sum(nil)) != image.Hash) {
		err = &Changed{path}
	}
	if err == nil {
		err = b.checkSize()
	}
	if err == nil {
		err = out.Sync()
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, b.sys.Remove(half))
	}
	name := b.folder.file(objectName(b.tail.number, o.Hash))
	// If there is one of that name, it was looked at and found damaged.
	if err := b.sys.Rename(half, name); err != nil {
		return errors.Join(err, b.sys.Remove(half))
	}
	b.made = append(b.made, name)
	return b.value(o)
}

// counter counts the bytes written.
type counter struct {
	out io.Writer
	n   int64
}

func (c *counter) Write(data []byte) (int, error) {
	n, err := c.out.Write(data)
	c.n += int64(n)
	return n, err
}

// maxRemembered is the longest text that is cached, to bound the memory of a resident process.
const maxRemembered = 4 << 20

// maxRecent bounds the cache of recent texts, which saves reading the base of the next difference.
const maxRecent = 8 << 20

// recent remembers texts by their hash.
type recent struct {
	texts map[string][]byte
	size  int
}

func (r *recent) put(hash string, text []byte) {
	if _, known := r.texts[hash]; known || len(text) > maxRemembered {
		return
	}
	if r.texts == nil || r.size+len(text) > maxRecent {
		r.texts = map[string][]byte{}
		r.size = 0
	}
	r.texts[hash] = text
	r.size += len(text)
}
