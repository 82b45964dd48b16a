package filenames

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Programs for synchronisation on Windows, such as OneDrive, iCloud and Dropbox, mark each file and folder that they
// keep in step with a reparse point, also while its content is on the disk. Package os calls such a file
// [fs.ModeIrregular], as it does every other reparse point that is not a link.

// IsFile reports whether an entry of that mode in an open folder is a file with content: a regular one, or one that a
// program for synchronisation keeps in step, wherever its content is. It does not fetch the content.
func IsFile(dir *os.Root, name string, mode fs.FileMode) bool {
	return isFile(mode, func() (uint32, error) { return reparseTag(dir, name) })
}

// IsFileAt is [IsFile] for a path.
func IsFileAt(path string, mode fs.FileMode) bool {
	return isFile(mode, func() (uint32, error) {
		dir, err := os.OpenRoot(filepath.Dir(path))
		if err != nil {
			return 0, err
		}
		defer dir.Close()
		return reparseTag(dir, filepath.Base(path))
	})
}

// isFile is IsFile with the function that asks the system for the tag of the reparse point.
func isFile(mode fs.FileMode, tag func() (uint32, error)) bool {
	if mode.Type() != fs.ModeIrregular {
		return mode.IsRegular()
	}
	found, err := tag()
	return err == nil && isCloudTag(found)
}

// isCloudTag reports whether a tag is one of IO_REPARSE_TAG_CLOUD and IO_REPARSE_TAG_CLOUD_1 to _F: 0x9000n01A, see
// [MS-FSCC] 2.1.2.1 at https://learn.microsoft.com/openspecs/windows_protocols/ms-fscc/c8e77b37-3909-4fe6-a4ea-2b9d423b1ee4.
func isCloudTag(tag uint32) bool {
	const (
		cloud  = 0x9000001A
		number = 0x0000F000 // n, the digit in which the tags differ
	)
	return tag&^number == cloud
}
