// Package processors says how many goroutines a call that looks at a whole vault works
// with, so that a short call beside it need not wait for its end.
package processors

import (
	"runtime"
	"sync/atomic"
)

// kept is how many processors of the runtime calls leave free.
var kept atomic.Int32

// Keep has the runtime run one goroutine more at once than calls use, for the life of the
// process. The system shares the processors among them: a request that comes while a call
// uses all others is read and begun at once, where the runtime would look for it only when
// a goroutine waits. Further calls have no effect.
func Keep() {
	if kept.CompareAndSwap(0, 1) {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	}
}

// Count returns how many goroutines of a call may work at once, at least one.
func Count() int { return max(1, runtime.GOMAXPROCS(0)-int(kept.Load())) }
