package index

import (
	"sync"
	"sync/atomic"

	"vaultwicket/cmd/internal/vault/processors"
)

// share is how many files one goroutine takes at a time.
const share = 64

// Collect asks each file with facts a question, on all processors, and returns
// the answers in the order of the files. The answer for a file without facts is
// the zero value.
func Collect[T any](files []*File, ask func(Facts) T) []T {
	unshelve(files)
	answers := make([]T, len(files))
	var next atomic.Int64
	work := func() {
		for {
			end := int(next.Add(share))
			start := end - share
			if start >= len(files) {
				return
			}
			for i := start; i < min(end, len(files)); i++ {
				if files[i].HasFacts() {
					answers[i] = ask(files[i].Facts())
				}
			}
		}
	}
	var others sync.WaitGroup
	for range min(processors.Count(), 1+len(files)/share) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return answers
}
