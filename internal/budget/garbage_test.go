package budget

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

// What a process with a small heap leaves is not collected before it is as much as it may keep.
func TestGarbageOfASmallHeapIsKept(t *testing.T) {
	const least = 64 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer func() { base = nil }()
	collections := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumGC
	}
	KeepGarbage(50, least)
	runtime.GC()
	before := collections()
	for range least / 2 >> 20 {
		litter = make([]byte, 1<<20)
	}
	assert.Equal(t, collections(), before, "collections of half of the garbage that may be kept")
	for range 2 * least >> 20 {
		litter = make([]byte, 1<<20)
	}
	assert.That(t, collections() > before, "nothing is collected")
}

// litter keeps the compiler from leaving out what is allocated.
var litter []byte
