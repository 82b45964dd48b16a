// Package notes reads files in the folder of a vault as the gateway needs them: the
// hash of a note, whether it has changed, the patterns of the ignore file, whether a path
// leads to a file of another name. It opens only regular files, below the folder, and
// writes nothing.
//
// A folder of "" is one that is not known: nothing is found in it.
package notes

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vaultwicket/policy/access"
)

// Open opens the file at a path in the folder of a vault and returns its size
// in bytes. It returns nil where there is none, and where it is not a regular file.
func Open(folder, path string) (*os.File, int64) {
	root, info := lookAt(folder, path)
	if root == nil {
		return nil, 0
	}
	defer root.Close()
	file, err := root.Open(filepath.FromSlash(path))
	if err != nil {
		return nil, 0
	}
	if opened, err := file.Stat(); err != nil || !os.SameFile(info, opened) {
		file.Close()
		return nil, 0 // it was replaced meanwhile, perhaps by a link
	}
	return file, info.Size()
}

// Info returns what is known of the file at a path in the folder of a vault
// without opening it, nil if it is not a regular file.
func Info(folder, path string) fs.FileInfo {
	root, info := lookAt(folder, path)
	if root != nil {
		root.Close()
	}
	return info
}

// lookAt opens the folder of a vault that has a regular file at a path. Opening
// anything else, such as a pipe, may block.
func lookAt(folder, path string) (*os.Root, fs.FileInfo) {
	if folder == "" || path == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, nil
	}
	info, err := root.Lstat(filepath.FromSlash(path))
	if err != nil || !info.Mode().IsRegular() {
		root.Close()
		return nil, nil
	}
	return root, info
}

// HashOfPrinted returns the hash of a note that the app printed, as results carry it: the
// first 16 hex digits of SHA-256. The app ends a text without a final line break with
// one, so the size of the file decides. It is "" where there is no such note, or its size
// is another.
func HashOfPrinted(folder, path, printed string) string {
	file, size := Open(folder, path)
	if file == nil {
		return ""
	}
	file.Close()
	switch size {
	case int64(len(printed)):
	case int64(len(printed)) - 1:
		printed = strings.TrimSuffix(printed, "\n")
	default:
		return ""
	}
	sum := sha256.Sum256([]byte(printed))
	return hex.EncodeToString(sum[:8])
}

// Hash returns the SHA-256 of the file at a path in the vault as bytes, "" where
// there is no file.
func Hash(folder, path string) string {
	file, _ := Open(folder, path)
	if file == nil {
		return ""
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return ""
	}
	return string(hash.Sum(nil))
}

// StampOf returns the stamp of the file at a path in the vault, the zero one where there
// is none.
func StampOf(folder, path string) Stamp {
	info := Info(folder, path)
	if info == nil {
		return Stamp{}
	}
	return Stamp{info.Size(), info.ModTime()}
}

// Stamp is the size and time of a note, which differ after a change of it. The zero stamp
// is of no note.
type Stamp struct {
	size     int64
	modified time.Time
}

// settled is how long ago the last change of a note must have been for its stamp to
// be different after another one: file systems count time in steps of up to two
// seconds.
const settled = 2 * time.Second

// Before returns the stamp of a note that was read from a moment on, the zero one
// where it may have been changed since.
func (s Stamp) Before(begun time.Time) Stamp {
	if s.modified.After(begun.Add(-settled)) {
		return Stamp{}
	}
	return s
}

// Patterns returns the text of the ignore file of a vault, nil where there is none. ok
// is false for a file that cannot be used.
func Patterns(folder string) (text []byte, ok bool) {
	if folder == "" {
		return nil, true
	}
	if _, err := os.Lstat(filepath.Join(folder, access.IgnoreFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, true
	}
	file, size := Open(folder, access.IgnoreFile)
	if file == nil {
		return nil, false
	}
	defer file.Close()
	if size > access.MaxIgnoreFile {
		return nil, false
	}
	text, err := io.ReadAll(io.LimitReader(file, access.MaxIgnoreFile+1))
	return text, err == nil && len(text) <= access.MaxIgnoreFile
}
