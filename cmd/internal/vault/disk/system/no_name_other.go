//go:build !windows

package system

// IsNoName reports whether an error says that no file can have the name. Here any name
// can be that of a file.
func IsNoName(error) bool { return false }
