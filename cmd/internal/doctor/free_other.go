//go:build !linux && !darwin && !windows

package doctor

// Free always reports known as false on this system.
func Free(string) (bytes uint64, known bool) { return 0, false }
