//go:build !darwin && !windows

package doctor

import "io/fs"

// isPlaceholder reports false: other systems have no such files.
func isPlaceholder(fs.FileInfo) bool { return false }
