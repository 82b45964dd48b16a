package journal

import (
	"encoding/json"
	"io"
	"sync"
)

// Packed are texts in the form in which the journal keeps them. To read and compress thousands of them takes seconds, in which
// nobody could write to the journal, so a large change packs them first and begins then ([Journal.BeginPacked]). The zero Packed
// has none. It may be used by several goroutines.
type Packed struct {
	mu      sync.Mutex
	records map[string][]byte // by the hashes of the texts
	size    int               // of the records
}

// maxPackedSize bounds the memory for what is packed.
const maxPackedSize = 32 << 20

// Add packs the bytes of in, those of the file at path, whose hash and size are in image. What does not fit into a line of the
// journal, or into the memory for it, is left for the journal to read when the change begins. Its errors are those of in and
// *[Changed], if the bytes are not those of image.
func (p *Packed) Add(path string, image Image, in io.Reader) error {
	if image.Size > maxPacked || p.isFull() {
		return nil
	}
	text, err := readImage(path, image, in)
	if err != nil {
		return err
	}
	o, fits := wholeText(noteID(path), image.Hash, text)
	if !fits {
		return nil
	}
	record, err := json.Marshal(o)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.records == nil {
		p.records = map[string][]byte{}
	}
	if p.records[image.Hash] == nil {
		p.records[image.Hash] = record
		p.size += len(record)
	}
	return nil
}

func (p *Packed) isFull() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.size >= maxPackedSize
}

// record returns the record of the text with a hash, and false if that is not packed. No packed texts may be nil.
func (p *Packed) record(hash string) (record []byte, isPacked bool) {
	if p == nil {
		return nil, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	record, isPacked = p.records[hash]
	return record, isPacked
}
