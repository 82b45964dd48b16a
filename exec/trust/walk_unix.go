//go:build unix

package trust

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func split(path string) (root string, names []string) { return "/", namesIn(path) }

func namesIn(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// targetOf returns the target of a link, "" for anything else.
func targetOf(entry string, info fs.FileInfo) (target string, err error) {
	if info.Mode()&fs.ModeSymlink == 0 {
		return "", nil
	}
	return os.Readlink(entry)
}

// splitTarget returns the folder from which the target of a link in a folder counts, and its names.
func splitTarget(folder, target string) (from string, names []string) {
	if filepath.IsAbs(target) {
		return split(target)
	}
	return folder, namesIn(target)
}
