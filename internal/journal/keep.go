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

// Content returns the bytes before a step, which must match its Before. It is called in the order of the steps,
// for objects that the segment does not have yet.
type Content func(Step) (io.ReadCloser, error)

// contentError wraps an error of the caller's reader; write returns it unwrapped.
type contentError struct{ cause error }

func (e *contentError) Error() string { return e.cause.Error() }

// contentReader wraps the errors of a reader as contentError.
type contentReader struct{ io.Reader }

func (r contentReader) Read(buf []byte) (int, error) {
	n, err := r.Reader.Read(buf)
	if err != nil && err != io.EOF {
		err = &contentError{err}
	}
	return n, err
}

// hasObject reports whether this segment has an object that can be read.
func (b *batch) hasObject(image Image) bool {
	loc, known := b.tail.index.objects[image.Hash]
	if !known || loc.size != image.Size {
		return false
	}
	if loc.isWhole() && loc.size > b.inText {
		return b.folder.copyFile(io.Discard, b.tail.number, image) == nil
	}
	_, ok := b.text(image.Hash)
	return ok
}

// text returns the text of an object in this segment.
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

// store stores the bytes of in if they match image.
func (b *batch) store(path string, image Image, in io.Reader) error {
	whole := object{Hash: image.Hash, Note: noteID(path), Size: image.Size, File: true}
	if image.Size > b.inText {
		return b.storeFile(path, whole, image, in)
	}
	text, err := readImage(path, image, in)
	if err != nil {
		return err
	}
	// Store a text as a line if possible: as the difference from the last version of the same note, or whole.
	o, ok := b.delta(whole.Note, image.Hash, text)
	if ok && o.File {
		middle := o.Data
		o.Data = nil
		return b.storeFile(path, o, ImageOf(middle), bytes.NewReader(middle))
	}
	if !ok {
		var fits bool
		o, fits = wholeText(whole.Note, image.Hash, text)
		if !fits {
			return b.storeFile(path, whole, image, bytes.NewReader(text))
		}
	}
	b.recent.put(image.Hash, text)
	return b.writeRecord(o)
}

// readImage reads the bytes of the file at path. It returns an error if they do not match image.
func readImage(path string, image Image, in io.Reader) ([]byte, error) {
	text := make([]byte, image.Size+1) // one more byte, to notice a longer file
	n, err := io.ReadFull(in, text)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	text = text[:n]
	if ImageOf(text) != image {
		return nil, &Changed{path}
	}
	return text, nil
}

// wholeText returns the object that stores a whole text in a line. fits is false if the text is too long.
func wholeText(note, hash string, text []byte) (o object, fits bool) {
	if len(text) > maxPacked {
		return object{}, false
	}
	o = object{Hash: hash, Note: note, Size: int64(len(text))}
	o.setData(text)
	return o, len(o.Data) <= maxInline
}

// storePacked stores the bytes of the note at path in their packed form. It returns false if they are not
// packed, or if a difference from the last version may be shorter.
func (b *batch) storePacked(path string, image Image, texts *Packed) (isStored bool, err error) {
	line, isPacked := texts.text(image.Hash)
	if !isPacked {
		return false, nil
	}
	if _, hasBase := b.tail.latest[noteID(path)]; hasBase {
		return false, nil
	}
	return true, b.writePacked(line)
}

// delta returns an object that stores a version as the difference from the last version of the note. It returns
// false if that is not much shorter. If the difference does not fit into a line, the object is a File whose
// Data, not compressed, still has to be written.
func (b *batch) delta(note, hash string, text []byte) (object, bool) {
	last, known := b.tail.latest[note]
	loc := b.tail.index.objects[last]
	canBeBase := known && last != hash && loc.depth < maxDepth
	isWorthIt := len(text) >= minDelta && loc.size <= b.inText
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
		Depth:  loc.depth + 1,
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

// storeFile writes the data of an object to a file of its own, and then its record. image is the hash and size
// of the data.
func (b *batch) storeFile(path string, o object, image Image, in io.Reader) error {
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	temporary := b.folder.file(fmt.Sprintf("%0*d-%x%s", numberDigits, b.tail.number, random, temporarySuffix))
	out, err := b.sys.Create(temporary)
	if err != nil {
		return errors.Join(err, b.sys.Remove(temporary))
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
		return errors.Join(err, b.sys.Remove(temporary))
	}
	name := b.folder.file(objectName(b.tail.number, o.Hash))
	// A file that already has this name was found to be damaged.
	if err := b.sys.Rename(temporary, name); err != nil {
		return errors.Join(err, b.sys.Remove(temporary))
	}
	b.createdFiles = append(b.createdFiles, name)
	return b.writeRecord(o)
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

// maxRemembered is the size of the longest text that is cached, to limit the memory of a resident process.
const maxRemembered = 4 << 20

// maxRecent limits the bytes of the cache of recent texts, which saves reading the base of the next difference.
const maxRecent = 8 << 20

// recent caches texts by their hash.
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
