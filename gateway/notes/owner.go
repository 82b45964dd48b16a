package notes

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxRead bounds what WithHash reads: more is not shown to anybody.
const maxRead = 4 << 20

// WithHash returns the file at a path in the folder of a vault if it has the SHA-256 hash,
// in hexadecimal, and at most 4 MiB.
func WithHash(folder, path, hash string) (text string, ok bool) {
	file, size := Open(folder, path)
	if file == nil {
		return "", false
	}
	defer file.Close()
	if size > maxRead {
		return "", false
	}
	content, err := io.ReadAll(io.LimitReader(file, maxRead+1))
	sum := sha256.Sum256(content)
	return string(content), err == nil && hex.EncodeToString(sum[:]) == hash
}

// Folders returns the names of at most limit folders that are directly in the folder at a
// path of a vault, "" for its root, sorted, and whether there are more. Folders whose
// names begin with a dot are settings of programs and left out.
func Folders(folder, path string, limit int) (names []string, more bool, err error) {
	if folder == "" {
		return nil, false, errors.New("the folder of the vault is not known")
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	if path == "" {
		path = "."
	}
	entries, err := fs.ReadDir(root.FS(), filepath.ToSlash(filepath.Clean(path)))
	if err != nil {
		return nil, false, err
	}
	for _, entry := range entries {
		if entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	if len(names) > limit {
		return names[:limit], true, nil
	}
	return names, false, nil
}
