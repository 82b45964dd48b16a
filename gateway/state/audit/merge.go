package audit

import "iter"

// Merge yields the lines of two logs in the order of their times, and of those of
// one time first those of a. Each log keeps its own order. Errors stay where they
// are among the lines of their log.
func Merge(a, b iter.Seq2[Line, error]) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		nextA, stopA := iter.Pull2(a)
		defer stopA()
		nextB, stopB := iter.Pull2(b)
		defer stopB()
		lineA, errA, okA := nextA()
		lineB, errB, okB := nextB()
		for okA || okB {
			if okA && (!okB || errA != nil || errB == nil && !lineB.Time.Before(lineA.Time)) {
				if !yield(lineA, errA) {
					return
				}
				lineA, errA, okA = nextA()
				continue
			}
			if !yield(lineB, errB) {
				return
			}
			lineB, errB, okB = nextB()
		}
	}
}
