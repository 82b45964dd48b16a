package command

import (
	"bytes"

	"github.com/aymanbagabas/go-udiff"

	"vaultwicket/gateway/difference"
)

// UnifiedDiff shows the difference of two texts, nothing if there is none. Of long ones it
// shows the beginning and the end of what differs.
func UnifiedDiff(from, to string, a, b []byte) string {
	switch {
	case bytes.Equal(a, b):
		return ""
	case len(a)+len(b) <= maxExact && bytes.IndexByte(a, 0) < 0 && bytes.IndexByte(b, 0) < 0:
		return udiff.Unified(from, to, string(a), string(b))
	}
	return difference.Of(a, b).Unified(from, to)
}

const maxExact = 1 << 20 // bytes of two texts whose difference is shown in full

// What of a plan is told. A move may change the links of every note.
const (
	maxPlanned      = 256 << 10 // bytes of all lines together
	maxPlannedLines = 4000
	maxPlannedLine  = 8 << 10 // bytes of one line
)
