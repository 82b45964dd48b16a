//go:build unix && !linux

package ownerfiles

// isWindowsDrive reports false: only WSL, which is Linux, mounts Windows drives.
func isWindowsDrive(string) bool { return false }
