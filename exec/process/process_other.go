//go:build !linux

package process

import (
	"context"
	"os"
)

// widen does nothing: only Linux can enlarge a pipe.
func widen(*os.File) {}

// awaitEnd reports false: here waiting takes the exit status.
func awaitEnd(int) bool { return false }

// MemoryOf always returns unknown here; the time limit of a call bounds its memory.
func MemoryOf(int) int64 { return 0 }

// ReapOrphans does nothing here: only containers on Linux have an arbitrary first process.
func ReapOrphans(context.Context) {}
