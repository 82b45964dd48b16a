//go:build (!unix && !windows) || aix || solaris

package private

import (
	"errors"
	"os"
)

// lockFile refuses: the files of several processes cannot be kept consistent
// where there are no locks.
func lockFile(*os.File) (locked bool, err error) { return false, errors.ErrUnsupported }

func unlockFile(*os.File) error { return nil }
