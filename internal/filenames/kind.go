package filenames

import (
	"io/fs"
	"os"
	"path/filepath"
)

// On Windows, sync programs such as OneDrive, iCloud and Dropbox mark every file and folder that they manage with a
// reparse point, even while its content is on the disk. Package os reports [fs.ModeIrregular] for such a file, as it does
// for every other reparse point that is not a link.

// IsFile reports whether the entry name of an open folder, which has this mode, is a file with content: a regular file,
// or one that a sync program manages, wherever its content is. It does not download the content.
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

// isFile is [IsFile]; tag returns the tag of the reparse point and is only called if it is needed.
func isFile(mode fs.FileMode, tag func() (uint32, error)) bool {
	if mode.Type() != fs.ModeIrregular {
		return mode.IsRegular()
	}
	found, err := tag()
	return err == nil && isCloudTag(found)
}

// isCloudTag reports whether tag is IO_REPARSE_TAG_CLOUD or one of IO_REPARSE_TAG_CLOUD_1 to _F: 0x9000n01A, see
// [MS-FSCC] 2.1.2.1 at https://learn.microsoft.com/openspecs/windows_protocols/ms-fscc/c8e77b37-3909-4fe6-a4ea-2b9d423b1ee4.
func isCloudTag(tag uint32) bool {
	const (
		cloud  = 0x9000001A
		number = 0x0000F000 // n, the digit in which the tags differ
	)
	return tag&^number == cloud
}
