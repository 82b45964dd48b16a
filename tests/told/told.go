// Package told has the text of a log that a test reads while it is written.
package told

import (
	"strings"
	"sync"
)

// Text is what was written to it.
type Text struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write adds to the text. It never fails.
func (t *Text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

// String is what was written up to now.
func (t *Text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
