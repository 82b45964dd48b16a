package fake

import (
	"strings"
	"sync"
)

// Log has the text of a log that a test reads while it is written.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write adds to the text. It never fails.
func (t *Log) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

// String is what was written up to now.
func (t *Log) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
