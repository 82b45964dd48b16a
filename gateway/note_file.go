package gateway

// The notes of a vault, as far as the gateway knows them by itself: which of them may be seen, by the policy in
// force, its access rules, the ignore file and the names that the disk has for paths; and of single files the hash,
// whether they changed, and whether a path leads to a file of another name. It opens only regular files, below the
// folder of the vault, and writes nothing.
//
// What it says about hidden notes is for the owner of the vault and for the audit log: to callers such a note is
// missing. A folder of "" is one that is not known: nothing is found in it.

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vaultwicket/vaultwicket/gateway/failure"
	"github.com/vaultwicket/vaultwicket/internal/access"
	"github.com/vaultwicket/vaultwicket/internal/excerpt"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/guard"
	"github.com/vaultwicket/vaultwicket/policy"
)

// openFile opens the file at a path in the folder of a vault and returns its size
// in bytes. It returns nil if there is none, and if it is not a regular file.
func openFile(folder, path string) (*os.File, int64) {
	root, info := lookAt(folder, path)
	if root == nil {
		return nil, 0
	}
	defer root.Close()
	return openIn(root, path, info)
}

// openIn is [openFile] of what was seen at the path.
func openIn(root *os.Root, path string, info fs.FileInfo) (*os.File, int64) {
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

// lookAt opens the folder of a vault if it has a regular file at a path: to open anything
// else, such as a pipe, may block.
func lookAt(folder, path string) (*os.Root, fs.FileInfo) {
	if folder == "" || path == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, nil
	}
	info := lookIn(root, path)
	if info == nil {
		root.Close()
		return nil, nil
	}
	return root, info
}

// lookIn returns what is known of the regular file at a path, nil if there is none.
func lookIn(root *os.Root, path string) fs.FileInfo {
	name := filepath.FromSlash(path)
	info, err := root.Lstat(name)
	if err != nil || !filenames.IsFile(root, name, info.Mode()) {
		return nil
	}
	return info
}

// readFile returns what is in the file at a path in the folder of a vault. ok is false where there is
// none, and for one of more than most bytes.
func readFile(folder, path string, most int64) (content []byte, ok bool) {
	file, size := openFile(folder, path)
	return readOpened(file, size, most)
}

// readDirect is [readFile] of a file that is no other one by a symbolic link on the way to it.
func readDirect(folder, path string, most int64) (content []byte, ok bool) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	for i, c := range path {
		if c != '/' {
			continue
		}
		above, err := root.Lstat(filepath.FromSlash(path[:i]))
		if err != nil || !above.IsDir() {
			return nil, false
		}
	}
	info := lookIn(root, path)
	if info == nil {
		return nil, false
	}
	file, size := openIn(root, path, info)
	return readOpened(file, size, most)
}

// readOpened reads and closes a file of a size in bytes. ok is false for nil, and where there are more than most bytes.
func readOpened(file *os.File, size, most int64) (content []byte, ok bool) {
	if file == nil {
		return nil, false
	}
	defer file.Close()
	if size > most {
		return nil, false
	}
	read := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := read.ReadFrom(io.LimitReader(file, most+1))
	return read.Bytes(), err == nil && int64(read.Len()) <= most
}

// HashOfPrinted returns the hash of a note that the app printed, as results carry it: the first 16
// hex digits of SHA-256. The app ends a text without a final line break with one, so the size of
// the file decides. It is "" where there is no such note, or its size is another.
func HashOfPrinted(folder, path, printed string) string {
	root, info := lookAt(folder, path)
	if root == nil {
		return ""
	}
	root.Close()
	switch size := info.Size(); size {
	case int64(len(printed)):
	case int64(len(printed)) - 1:
		printed = strings.TrimSuffix(printed, "\n")
	default:
		return ""
	}
	sum := sha256.Sum256([]byte(printed))
	return hex.EncodeToString(sum[:8])
}

// HashOfNote returns the SHA-256 of the file at a path in the vault as bytes, "" where there is no file.
func HashOfNote(folder, path string) string {
	file, _ := openFile(folder, path)
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

// FileStampOf returns the stamp of the file at a path in the vault, the zero one where there is none.
func FileStampOf(folder, path string) FileStamp {
	root, info := lookAt(folder, path)
	if root == nil {
		return FileStamp{}
	}
	root.Close()
	return FileStamp{info.Size(), info.ModTime()}
}

// FileStamp is the size and time of a note, which differ after a change of it. The zero stamp
// is of no note.
type FileStamp struct {
	size     int64
	modified time.Time
}

// settled is how long ago the last change of a note must have been for its stamp to be different
// after another one: file systems count time in steps of up to two seconds.
const settled = 2 * time.Second

// Before returns the stamp of a note that was read from a moment on, the zero one
// where it may have been changed since.
func (s FileStamp) Before(begun time.Time) FileStamp {
	if s.modified.After(begun.Add(-settled)) {
		return FileStamp{}
	}
	return s
}

// ignorePatterns returns the text of the ignore file of a vault, nil where there is none. ok
// is false for a file that cannot be used.
func ignorePatterns(folder string) (text []byte, ok bool) {
	if folder == "" {
		return nil, true
	}
	if _, err := os.Lstat(filepath.Join(folder, access.IgnoreFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, true
	}
	return readFile(folder, access.IgnoreFile, access.MaxIgnoreFile)
}

// RejectIndirect refuses a path in the folder of a vault that leads to a file of another
// name: through a symbolic link, or because the file has further hard links. It returns
// nil where nothing is at the path, and where the folder is "" or cannot be opened.
func RejectIndirect(folder, note string) error {
	if folder == "" {
		return nil
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil // the app says what is wrong
	}
	defer root.Close()
	parts := strings.Split(note, "/")
	for i := range parts {
		at := path.Join(parts[:i+1]...)
		info, err := root.Lstat(filepath.FromSlash(at))
		switch {
		case err != nil:
			return nil // nothing is at the path
		case info.Mode()&os.ModeSymlink != 0:
			// The embedded program answers in the same way.
			return failure.New(failure.CodeNotFound, "", "file %q not found", excerpt.Short(note))
		case filenames.IsFile(root, filepath.FromSlash(at), info.Mode()) && hardLinks(root, at, info) > 1:
			return failure.New(policy.CodeAccess, "the user can put a copy in the place of the hard link",
				"file %q has more than one hard link, and there are access rules", excerpt.Short(note))
		}
	}
	return nil
}

// maxRead bounds what [TextWithHash] reads: more is not shown to anybody.
const maxRead = 4 << 20

// TextWithHash returns the file at a path in the folder of a vault if it has the SHA-256 hash,
// in hexadecimal, and at most 4 MiB.
func TextWithHash(folder, path, hash string) (text guard.Unjudged, ok bool) {
	content, ok := readFile(folder, path, maxRead)
	sum := sha256.Sum256(content)
	return guard.NewUnjudged(content), ok && hex.EncodeToString(sum[:]) == hash
}

// EachPath calls visit with the path of every file of a vault, as its folders list them, until it
// returns false. Folders whose names begin with a dot are left out, and those that cannot be read.
func EachPath(folder string, visit func(path string) bool) error {
	if folder == "" {
		return errors.New("the folder of the vault is not known")
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		isHidden := path != "." && strings.HasPrefix(entry.Name(), ".")
		switch {
		case err != nil, isHidden && entry.IsDir():
			return fs.SkipDir
		case !entry.IsDir() && !visit(path):
			return fs.SkipAll
		}
		return nil
	})
}

// ListFolders returns the names of at most limit folders that are directly in the folder at a
// path of a vault, "" for its root, sorted, and whether there are more. Folders whose
// names begin with a dot are settings of programs and left out.
func ListFolders(folder, path string, limit int) (names []string, more bool, err error) {
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
