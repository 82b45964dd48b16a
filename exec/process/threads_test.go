package process

import (
	"errors"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestResumeFirst(t *testing.T) {
	denied := errors.New("access is denied")
	const unknown = 1 << 16 // a thread that cannot be opened
	for _, c := range []struct {
		name      string
		suspended []uint32 // how often each thread is
		resumed   int      // of them
		fails     bool
	}{
		{"the first thread alone", []uint32{1}, 1, false},
		{"a thread of a scanner before it", []uint32{0, 1}, 2, false},
		{"one that cannot be opened before it", []uint32{unknown, 1}, 2, false},
		{"others behind it are left alone", []uint32{1, unknown, 1}, 1, false},
		{"no thread", nil, 0, true},
		{"none that can be opened", []uint32{unknown, unknown}, 2, true},
		{"none that was suspended", []uint32{0, 2}, 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			threads := make([]uint32, len(c.suspended))
			for i := range threads {
				threads[i] = uint32(i)
			}
			resumed := 0
			err := resumeFirst(threads, func(id uint32) (uint32, error) {
				resumed++
				if c.suspended[id] == unknown {
					return 0, denied
				}
				return c.suspended[id], nil
			})
			assert.Equal(t, err != nil, c.fails)
			assert.Equal(t, resumed, c.resumed)
		})
	}
}
