package knowledge

import (
	"sync"
	"sync/atomic"

	"vaultwicket/cmd/internal/vault/processors"
)

// share is how many notes one goroutine takes at a time.
const share = 64

// eachShare does something with shares of a list of a length, on all processors.
func eachShare(length int, do func(start, end int)) {
	var next atomic.Int64
	work := func() {
		for {
			end := int(next.Add(share))
			if end-share >= length {
				return
			}
			do(end-share, min(end, length))
		}
	}
	var others sync.WaitGroup
	for range min(processors.Count(), 1+length/share) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
}

// only returns the elements of a list for which keep is set.
func only[T any](list []T, keep []bool) []T {
	var some []T
	for i, element := range list {
		if keep[i] {
			some = append(some, element)
		}
	}
	return some
}
