//go:build !linux

package process

import "context"

// ReapOrphans does nothing here: only containers on Linux have an arbitrary first process.
func ReapOrphans(context.Context) {}
