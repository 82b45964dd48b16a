package parallel

import (
	"runtime"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestOneProcessorMoreIsKept(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer func() { runtime.GOMAXPROCS(before); kept.Store(0) }()
	assert.That(t, Count() == before, "%d goroutines on %d processors", Count(), before)
	for range 2 {
		Keep()
		if Count() != before || runtime.GOMAXPROCS(0) != before+1 {
			t.Errorf("%d goroutines, and %d in all, on %d processors", Count(), runtime.GOMAXPROCS(0), before)
		}
	}
}
