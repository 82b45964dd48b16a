package journal

import (
	"encoding/json"
	"io"
	"sync"
)

// Packed has texts in the form in which the journal stores them. Reading and compressing thousands of texts
// takes seconds, during which nobody else could write to the journal, so a large change packs them before it
// begins ([Journal.BeginPacked]). The zero Packed is empty. It is safe for concurrent use.
type Packed struct {
	mu      sync.Mutex
	records map[string][]byte // by hash of the text
	size    int               // total bytes of the records
}

// maxPackedSize limits the bytes of all packed texts.
const maxPackedSize = 32 << 20

// Add packs the bytes of in, the content of the file at path, which must match image. It does nothing if they
// do not fit into a line of the journal, or into the memory limit; the journal then reads them when the change
// begins. The error is that of in, or a *[Changed] if the bytes do not match image.
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

// record returns the record of the text with a hash. isPacked is false if there is none. p may be nil.
func (p *Packed) record(hash string) (record []byte, isPacked bool) {
	if p == nil {
		return nil, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	record, isPacked = p.records[hash]
	return record, isPacked
}
