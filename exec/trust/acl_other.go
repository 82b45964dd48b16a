//go:build !windows

package trust

// fromSystem knows no accounts of Windows.
func fromSystem(alias string) string { return alias }
