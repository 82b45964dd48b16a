//go:build !linux

package watch

// reportsChanges is false: a watch costs a descriptor per file (macOS, BSD) or is untested (Windows). Checking
// every file again only takes milliseconds on these systems.
func reportsChanges(string) bool { return false }
