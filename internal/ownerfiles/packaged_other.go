//go:build !windows

package ownerfiles

// isPackaged reports false: packages with folders of their own are a matter of Windows.
func isPackaged() bool { return false }
