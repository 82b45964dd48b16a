package gateway

// This file has what the gateway itself reads from the notes of a vault: the hash of single files, whether they
// changed, and whether a path leads to a file of another name. See note_rules.go for which notes may be seen. It
// opens only regular files in the folder of the vault, and writes nothing.
//
// What it reports about hidden notes is for the owner of the vault and for the audit log: to callers such a note
// does not exist. The folder is "" if it is not known; then nothing is found in it.

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

// openFile opens the file at a path in the folder of a vault and returns its size in bytes. It returns nil if there
// is no regular file.
func openFile(folder, path string) (*os.File, int64) {
	root, info := openAndStat(folder, path)
	if root == nil {
		return nil, 0
	}
	defer root.Close()
	return openIn(root, path, info)
}

// openIn is like [openFile] for a file in root. info is the result of statIn for the path.
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

// openAndStat opens the folder of a vault if it has a regular file at a path. Opening anything else, such as a pipe,
// might block.
func openAndStat(folder, path string) (*os.Root, fs.FileInfo) {
	if folder == "" || path == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, nil
	}
	info := statIn(root, path)
	if info == nil {
		root.Close()
		return nil, nil
	}
	return root, info
}

// statIn returns the info of the regular file at a path, nil if there is none.
func statIn(root *os.Root, path string) fs.FileInfo {
	name := filepath.FromSlash(path)
	info, err := root.Lstat(name)
	if err != nil || !filenames.IsFile(root, name, info.Mode()) {
		return nil
	}
	return info
}

// readFile returns the content of the file at a path in the folder of a vault. ok is false if there is no regular
// file, or if it has more than maxSize bytes.
func readFile(folder, path string, maxSize int64) (content []byte, ok bool) {
	file, size := openFile(folder, path)
	return readOpened(file, size, maxSize)
}

// readDirect is like [readFile], but refuses paths that go through a symbolic link.
func readDirect(folder, path string, maxSize int64) (content []byte, ok bool) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	for i, c := range path {
		if c != '/' {
			continue
		}
		parent, err := root.Lstat(filepath.FromSlash(path[:i]))
		if err != nil || !parent.IsDir() {
			return nil, false
		}
	}
	info := statIn(root, path)
	if info == nil {
		return nil, false
	}
	file, size := openIn(root, path, info)
	return readOpened(file, size, maxSize)
}

// readOpened reads and closes a file with the given size in bytes. ok is false if file is nil, or if it has more
// than maxSize bytes.
func readOpened(file *os.File, size, maxSize int64) (content []byte, ok bool) {
	if file == nil {
		return nil, false
	}
	defer file.Close()
	if size > maxSize {
		return nil, false
	}
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	_, err := buf.ReadFrom(io.LimitReader(file, maxSize+1))
	return buf.Bytes(), err == nil && int64(buf.Len()) <= maxSize
}

// HashOfPrinted returns the hash of a note that the app printed, as it is in results: the first 16 hex digits of
// SHA-256. The app adds a missing final line break, so the size of the file tells whether it has one. The hash is ""
// if there is no such note, or if its size does not fit the text.
func HashOfPrinted(folder, path, printed string) string {
	root, info := openAndStat(folder, path)
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

// HashOfNote returns the SHA-256 of the file at a path in the vault as bytes, "" if there is no file.
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

// FileStampOf returns the stamp of the file at a path in the vault, zero if there is none.
func FileStampOf(folder, path string) FileStamp {
	root, info := openAndStat(folder, path)
	if root == nil {
		return FileStamp{}
	}
	root.Close()
	return FileStamp{info.Size(), info.ModTime()}
}

// FileStamp is the size and modification time of a note. It changes when the note changes. The zero stamp is not
// that of any note.
type FileStamp struct {
	size     int64
	modified time.Time
}

// stampAge is how old the last change of a note must be for its stamp to be sure to differ after another change:
// file systems store times in steps of up to two seconds.
const stampAge = 2 * time.Second

// Before returns the stamp of a note that was read at the time begun or later, or the zero stamp if the note may
// have changed since.
func (s FileStamp) Before(begun time.Time) FileStamp {
	if s.modified.After(begun.Add(-stampAge)) {
		return FileStamp{}
	}
	return s
}

// ignorePatterns returns the content of the ignore file of a vault, nil if there is none. ok is false if the file
// cannot be read.
func ignorePatterns(folder string) (text []byte, ok bool) {
	if folder == "" {
		return nil, true
	}
	if _, err := os.Lstat(filepath.Join(folder, access.IgnoreFile)); errors.Is(err, fs.ErrNotExist) {
		return nil, true
	}
	return readFile(folder, access.IgnoreFile, access.MaxIgnoreFile)
}

// RejectIndirect returns an error if a path in the folder of a vault leads to a file of another name: through a
// symbolic link, or because the file has further hard links. It returns nil if there is no file, and if the folder
// is "" or cannot be opened.
func RejectIndirect(folder, note string) error {
	if folder == "" {
		return nil
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil // the app will report that
	}
	defer root.Close()
	parts := strings.Split(note, "/")
	for i := range parts {
		prefix := path.Join(parts[:i+1]...)
		info, err := root.Lstat(filepath.FromSlash(prefix))
		switch {
		case err != nil:
			return nil // nothing is at the path
		case info.Mode()&os.ModeSymlink != 0:
			// The embedded program gives the same answer.
			return failure.New(failure.CodeNotFound, "", "file %q not found", excerpt.Short(note))
		case filenames.IsFile(root, filepath.FromSlash(prefix), info.Mode()) && hardLinks(root, prefix, info) > 1:
			return failure.New(policy.CodeAccess, "the user can put a copy in the place of the hard link",
				"file %q has more than one hard link, and there are access rules", excerpt.Short(note))
		}
	}
	return nil
}

// maxTextSize is the size in bytes up to which [TextWithHash] reads a file. More is shown to nobody.
const maxTextSize = 4 << 20

// TextWithHash returns the content of the file at a path in the folder of a vault if it has the given SHA-256 hash,
// in hexadecimal, and at most 4 MiB.
func TextWithHash(folder, path, hash string) (text guard.Unjudged, ok bool) {
	content, ok := readFile(folder, path, maxTextSize)
	sum := sha256.Sum256(content)
	return guard.NewUnjudged(content), ok && hex.EncodeToString(sum[:]) == hash
}

// EachPath calls visit with the path of every file of a vault, in the order of its folders, until visit returns
// false. Folders whose names begin with a dot, and unreadable ones, are skipped.
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

// ListFolders returns the sorted names of up to limit folders directly in the folder at a path of a vault, ""
// meaning its root, and whether there are more. Folders whose names begin with a dot contain settings of programs
// and are skipped.
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
