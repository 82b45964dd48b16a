package budget

// [Goroutines] says how many goroutines a call that looks at a whole vault works with, so that a short call at the
// same time need not wait for its end.

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/pool"
)

// kept is how many processors of the runtime calls leave free.
var kept atomic.Int32

// KeepProcessor has the runtime run one goroutine more at once than calls use, for the life of the
// process. The system shares the processors among them: a request that comes while a call
// uses all others is read and begun at once, where the runtime would look for it only when
// a goroutine waits. Further calls have no effect.
func KeepProcessor() {
	if kept.CompareAndSwap(0, 1) {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
}

// Goroutines returns how many goroutines of a call may work at once, at least one.
func Goroutines() int { return max(1, runtime.GOMAXPROCS(0)-int(kept.Load())) }

// InParallel divides a list of a length into ranges of share elements, calls do for each range
// from as many goroutines as [Goroutines] allows, and returns when the last call has. A panic of a call is one of Each.
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

// waiting is how many goroutines wait for the disk at once for [WaitForEach]. One that is on a network, or encrypted by another
// program, takes milliseconds for each call, and many at once.
const waiting = 16

// WaitForEach calls do for each number below count, from several goroutines: not to use processors, but because each call waits
// for the disk. After an error no further call begins. It returns the error of the lowest number that has one, with that
// number. A panic of a call is one of Waiting.
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
	each := pool.New().WithMaxGoroutines(waiting)
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
