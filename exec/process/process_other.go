//go:build !linux

package process

import (
	"context"
	"os"
)

// widen does nothing: only Linux can enlarge a pipe.
func widen(*os.File) {}

// awaitEnd always returns false: on these systems waiting for the end also reaps the process.
func awaitEnd(int) bool { return false }

// MemoryOf always returns 0, for unknown. The memory of a call is bounded only by its time limit here.
func MemoryOf(int) int64 { return 0 }

// ReapOrphans does nothing: only in containers on Linux can any program be the first process.
func ReapOrphans(context.Context) {}

// DemandOf always returns false, for unknown.
func DemandOf(int) (d Demand, ok bool) { return Demand{}, false }
