//go:build !linux && !darwin && !windows

package system

import "os"

// CopyAttributes does nothing on this system.
func CopyAttributes(*os.File, *os.File) {}
