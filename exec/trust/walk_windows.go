package trust

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// split returns the root of the drive or share and the names of an absolute path.
func split(path string) (root string, names []string) {
	path = filepath.Clean(path) // as the system does before it looks at any name
	volume := filepath.VolumeName(path)
	root, names = volume+`\`, namesIn(path[len(volume):])
	if strings.EqualFold(volume, longShare) && len(names) >= 2 {
		root, names = root+names[0]+`\`+names[1]+`\`, names[2:]
	}
	return root, names
}

// longShare is the prefix of the long form of a share's path, before server and share.
const longShare = `\\?\UNC`

func namesIn(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '\\' || r == '/' })
}

// targetOf returns the target of a symbolic link or a junction, "" for anything else. Other
// reparse points, such as files in a cloud, are not regular files either.
func targetOf(entry string, info fs.FileInfo) (target string, err error) {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return os.Readlink(entry)
	case mode&fs.ModeIrregular != 0:
		target, err = os.Readlink(entry)
		if err != nil {
			return "", nil
		}
	}
	return target, nil
}

// splitTarget returns the folder from which the target of a link in a folder counts, and
// the names in it. A target may begin at the root of the drive of the link.
func splitTarget(folder, target string) (from string, names []string) {
	switch {
	case filepath.IsAbs(target):
		return split(target)
	case os.IsPathSeparator(target[0]):
		return filepath.VolumeName(folder) + `\`, namesIn(target)
	}
	return folder, namesIn(target)
}
