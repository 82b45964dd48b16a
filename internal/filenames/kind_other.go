//go:build !windows

package filenames

import (
	"errors"
	"os"
)

// reparseTag returns an error: only Windows has reparse points.
func reparseTag(*os.Root, string) (uint32, error) { return 0, errors.ErrUnsupported }
