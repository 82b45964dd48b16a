package names

import (
	"path/filepath"
	"strings"
)

// Identity returns the one path of a folder: absolute, without links, and each
// segment as the disk has it. As far as that cannot be found out, the path is as
// it was given.
func Identity(folder string) string {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return folder
	}
	abs = withoutPrefix(abs)
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	volume := filepath.VolumeName(abs)
	top := volume + string(filepath.Separator)
	rest := strings.Trim(filepath.ToSlash(abs[len(volume):]), "/")
	named, err := newFolder(func() (level, error) { return plain(top), nil }).Name(rest)
	if err != nil {
		named = rest
	}
	return strings.ToUpper(volume) + string(filepath.Separator) + filepath.FromSlash(named)
}

// withoutPrefix returns a path of Windows without what turns its own rules about
// names off: \\?\C:\Vault is C:\Vault.
func withoutPrefix(path string) string {
	rest, ok := strings.CutPrefix(path, `\\?\`)
	switch {
	case !ok:
		return path
	case len(rest) >= 4 && strings.EqualFold(rest[:4], `UNC\`):
		return `\\` + rest[4:]
	case filepath.VolumeName(rest) != "":
		return rest
	}
	return path
}
