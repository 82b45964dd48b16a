//go:build unix && !linux

package ownerfiles

// isWindowsDrive reports false: drives of Windows are in WSL.
func isWindowsDrive(string) bool { return false }
