//go:build !linux && !darwin && !windows

package doctor

// Free reports that it is not known.
func Free(string) (bytes uint64, known bool) { return 0, false }
