package journal

import (
	"bytes"
	"io"
)

// textsOf is the content of notes that are in memory, by their path.
func textsOf(texts map[string][]byte) Content {
	return func(s Step) (io.ReadCloser, error) {
		text, ok := texts[s.Source()]
		if !ok {
			return nil, &Invalid{"content", s.Source(), "is missing"}
		}
		return io.NopCloser(bytes.NewReader(text)), nil
	}
}

// Prune enforces the limits, as Begin does now and then.
func (j *Journal) Prune() error {
	there, err := j.folder.exists()
	if err != nil || !there {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	unlock, err := j.folder.lockAppend()
	if err != nil {
		return err
	}
	defer unlock()
	seen, err := j.folder.list()
	if err != nil {
		return err
	}
	return j.removeOld(seen, 0, j.now())
}
