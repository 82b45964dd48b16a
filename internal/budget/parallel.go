package budget

// [Goroutines] limits the goroutines of a call that looks at a whole vault, so that a short call at the same time
// need not wait for its end.

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/pool"
)

// reservedProcessors is how many processors of the runtime are not used by calls.
var reservedProcessors atomic.Int32

// KeepProcessor makes the runtime run one goroutine more at once than calls use, for the life of the process. The
// system shares the processors among them, so a request that comes while a call uses all others is read and started
// at once; otherwise the runtime would look at it only when a goroutine blocks. Further calls have no effect.
func KeepProcessor() {
	if reservedProcessors.CompareAndSwap(0, 1) {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
}

// Goroutines returns how many goroutines a call may run at once, at least one.
func Goroutines() int { return max(1, runtime.GOMAXPROCS(0)-int(reservedProcessors.Load())) }

// InParallel divides length elements into ranges of share elements, calls do once per range from up to [Goroutines]
// goroutines, and returns when all calls have returned. A panic in do is raised again in the caller.
func InParallel(length, share int, do func(start, end int)) {
	var next atomic.Int64
	work := func() {
		for {
			end := int(next.Add(int64(share)))
			if end-share >= length {
				return
			}
			do(end-share, min(end, length))
		}
	}
	var others conc.WaitGroup
	for range min(Goroutines(), (length+share-1)/share) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}

// maxConcurrentWaits is how many goroutines of [WaitForEach] wait for the disk at once. A disk on a network, or one
// that is encrypted by another program, takes milliseconds per access, and serves many accesses at once.
const maxConcurrentWaits = 16

// WaitForEach calls do for each number below count from several goroutines, not to use more processors but because
// each call waits for the disk. After an error no further call starts. It returns the error of the lowest number
// that has one, with that number; without an error it returns count. A panic in do is raised again in the caller.
func WaitForEach(count int, do func(i int) error) (failed int, err error) {
	if count == 1 {
		if err := do(0); err != nil {
			return 0, err
		}
		return count, nil
	}
	var mu sync.Mutex
	var ended atomic.Bool
	failed = count
	each := pool.New().WithMaxGoroutines(maxConcurrentWaits)
	for i := range count {
		if ended.Load() {
			break
		}
		each.Go(func() {
			problem := do(i)
			if problem == nil {
				return
			}
			ended.Store(true)
			mu.Lock()
			defer mu.Unlock()
			if i < failed {
				failed = i
				err = problem
			}
		})
	}
	each.Wait()
	return failed, err
}
