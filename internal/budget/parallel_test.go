package budget

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/vaultwicket/vaultwicket/tests/assert"
)

func TestOneProcessorMoreIsKept(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer func() { runtime.GOMAXPROCS(before); reservedProcessors.Store(0) }()
	assert.That(t, Goroutines() == before, "%d goroutines on %d processors", Goroutines(), before)
	for range 2 {
		KeepProcessor()
		if Goroutines() != before || runtime.GOMAXPROCS(0) != before+1 {
			t.Errorf("%d goroutines, and %d in all, on %d processors", Goroutines(), runtime.GOMAXPROCS(0), before)
		}
	}
}

// Calls that wait for each other all run at once, as many as are allowed; after an error none begins, and the error of the
// lowest number is returned.
func TestWaitingIsForSeveralAtOnce(t *testing.T) {
	arrived := make(chan struct{})
	var here atomic.Int32
	failed, err := WaitForEach(maxConcurrentWaits, func(int) error {
		if here.Add(1) == maxConcurrentWaits {
			close(arrived)
		}
		<-arrived
		return nil
	})
	assert.NoError(t, err)
	assert.Equal(t, failed, maxConcurrentWaits)
	var begun atomic.Int32
	failed, err = WaitForEach(10*maxConcurrentWaits, func(i int) error {
		begun.Add(1)
		if i >= 3 {
			return fmt.Errorf("number %d", i)
		}
		return nil
	})
	assert.Equal(t, fmt.Sprint(err), fmt.Sprintf("number %d", failed))
	assert.That(t, failed >= 3, "number %d failed", failed)
	assert.That(t, begun.Load() <= 3+2*maxConcurrentWaits, "%d calls were begun", begun.Load())
	failed, err = WaitForEach(0, func(int) error { return errors.New("called") })
	assert.NoError(t, err)
	assert.Equal(t, failed, 0)
}
