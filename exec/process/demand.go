package process

import "time"

// Demand is what a process wants of the processors of the machine, and what it got.
type Demand struct {
	Used       time.Duration // processor time of its threads so far, in steps of 10 ms
	IsRunnable bool          // a thread runs, or would run if it was given a processor
}
