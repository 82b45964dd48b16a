package journal

import (
	"encoding/json"
	"io"
	"slices"
	"sync"
)

// Packed has texts, and the steps of an entry, as the lines in which the journal stores them. Reading, compressing
// and encoding thousands of them takes seconds, during which nobody else could write to the journal, so a large
// change packs them before it begins ([Journal.BeginPacked]). The zero Packed is empty. It is safe for concurrent
// use.
type Packed struct {
	mu    sync.Mutex
	texts map[string][]byte // lines by hash of the text
	size  int               // total bytes of these lines
	entry Entry             // the entry with the packed steps
	steps [][]byte          // lines; nil if no steps are packed
}

const (
	// maxPackedSize limits the bytes of all packed texts.
	maxPackedSize = 32 << 20
	// maxPackedSteps limits the number of packed steps, which take some 400 bytes each.
	maxPackedSteps = 100_000
)

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
	line := appendLine(make([]byte, 0, lineHead+len(record)+1), record)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.texts == nil {
		p.texts = map[string][]byte{}
	}
	if p.texts[image.Hash] == nil {
		p.texts[image.Hash] = line
		p.size += len(line)
	}
	return nil
}

func (p *Packed) isFull() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.size >= maxPackedSize
}

// text returns the line of the text with a hash. isPacked is false if there is none. p may be nil.
func (p *Packed) text(hash string) (line []byte, isPacked bool) {
	if p == nil {
		return nil, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	line, isPacked = p.texts[hash]
	return line, isPacked
}

// AddSteps packs the steps of an entry that is about to begin. It does nothing if there are so few that they are
// part of the entry's own record, or too many for the memory limit. If the entry has other steps when it begins,
// these are written. The error is a *[TooLarge].
func (p *Packed) AddSteps(e Entry) error {
	if len(e.Steps) > maxPackedSteps {
		return nil
	}
	var lines [][]byte
	pack := func(record []byte) error {
		lines = append(lines, appendLine(make([]byte, 0, lineHead+len(record)+1), record))
		return nil
	}
	if _, err := encodeList(stepsKey, e.ID, len(e.Steps), func(i int) any { return e.Steps[i] }, pack); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.entry = Entry{ID: e.ID, Steps: slices.Clone(e.Steps)}
	p.steps = lines
	return nil
}

// stepsOf returns the lines with the steps of an entry. isPacked is false if these steps are not packed. p may be
// nil.
func (p *Packed) stepsOf(e Entry) (lines [][]byte, isPacked bool) {
	if p == nil {
		return nil, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	isOfEntry := p.steps != nil && p.entry.ID == e.ID
	if !isOfEntry || !slices.EqualFunc(p.entry.Steps, e.Steps, Step.equal) {
		return nil, false
	}
	return p.steps, true
}

// equal reports whether the record of a step is the same.
func (s Step) equal(other Step) bool {
	return s.plain() == other.plain() && slices.EqualFunc(s.Of, other.Of, Origin.equal)
}

func (o Origin) equal(other Origin) bool {
	return o.Path == other.Path && slices.Equal(o.Marks, other.Marks)
}

// plainStep has the fields of a step that can be compared.
type plainStep struct {
	path, from, draft, trash string
	before, after            Image
	modified, sets           int64
	mode                     uint32
}

func (s Step) plain() plainStep {
	return plainStep{
		path: s.Path, from: s.From, draft: s.Draft, trash: s.Trash, before: s.Before, after: s.After,
		modified: s.Modified, sets: s.Sets, mode: s.Mode,
	}
}
