//go:build !unix && !windows

package cache

import (
	"errors"
	"os"
)

const cautious = 0

// isPrivate is false: without locks nothing is kept.
func isPrivate(string) bool { return false }

func tryLock(*os.File) error { return errors.ErrUnsupported }
