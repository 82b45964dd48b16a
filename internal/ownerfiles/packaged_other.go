//go:build !windows

package ownerfiles

// isPackaged reports false: only Windows has packages with their own folders.
func isPackaged() bool { return false }
