package ownerfiles

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// Open opens the existing file name with flag, such as os.O_RDONLY. It does not follow links and
// does not wait for pipes. The error is an *[Unsafe] if the file is not a regular file of this
// user with one hard link that no one else can access; other errors are those of the system.
func Open(name string, flag int) (*os.File, error) { return open(name, flag, CheckFile, checkOpened) }

// OpenLinked is [Open] for reading a file that may have several hard links.
func OpenLinked(name string) (*os.File, error) {
	return open(name, os.O_RDONLY, checkRegular, func(name string, file *os.File) (fs.FileInfo, error) {
		info, err := file.Stat()
		if err != nil {
			return nil, err
		}
		return info, checkRegular(name, info)
	})
}

// open checks the file at name, opens it, and checks that it opened the same file (TOCTOU).
func open(
	name string,
	flag int,
	check func(string, fs.FileInfo) error,
	checkOpened func(string, *os.File) (fs.FileInfo, error),
) (*os.File, error) {
	seen, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	// On Windows, os.SameFile looks up the identity of a file by its name on first use. This call
	// makes it do so now, and not after another file may have taken its place.
	os.SameFile(seen, seen)
	if err := check(name, seen); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, flag|noFollow, 0)
	if err != nil {
		return nil, err
	}
	info, err := checkOpened(name, file)
	if err == nil && !os.SameFile(seen, info) {
		err = &Unsafe{Path: name, Problem: Replaced}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// CheckFile returns an *[Unsafe] unless [Open] would accept the file name, whose info is
// from os.Lstat or os.Stat. On Windows, the number of hard links is only known for open
// files and not checked here.
func CheckFile(name string, info fs.FileInfo) error {
	if err := checkRegular(name, info); err != nil {
		return err
	}
	if hasSecondLink(info, nil) {
		return &Unsafe{Path: name, Problem: HardLinked}
	}
	return nil
}

func checkRegular(name string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return &Unsafe{Path: name, Problem: NotRegular}
	}
	return checkAccess(name, info)
}

// checkOpened is [CheckFile] for an open file. It also returns the info of the file.
func checkOpened(name string, file *os.File) (fs.FileInfo, error) {
	info, err := file.Stat()
	if err == nil {
		err = checkRegular(name, info)
	}
	if err == nil && hasSecondLink(info, file) {
		err = &Unsafe{Path: name, Problem: HardLinked}
	}
	return info, err
}

// Read returns the content of the file name, which it opens with [Open]. It returns
// at most limit+1 bytes: more than limit means that the file is too long.
func Read(name string, limit int) ([]byte, error) {
	file, err := Open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, int64(limit)+1))
}

// ReadToken returns the only line of the file name, which it opens with [Open], without the white space around it. The
// line must be valid as a token in a header: up to limit bytes of visible ASCII characters.
func ReadToken(name string, limit int) (string, error) {
	text, err := Read(name, limit)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	isVisible := !strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' })
	if token == "" || len(text) > limit || !isVisible {
		return "", fmt.Errorf("want one line of up to %d visible characters of ASCII", limit)
	}
	return token, nil
}

// CheckFolder returns an error unless dir is a folder of this user, and not a link,
// that no one else can access. The error is an *[Unsafe] or an *[fs.PathError]; it is
// [fs.ErrNotExist] if dir does not exist.
func CheckFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &Unsafe{Path: dir, Problem: NotFolder}
	}
	return checkAccess(dir, info)
}

// MakeFolder creates the folder dir, an absolute path, and its missing parents, accessible only to
// this user, and makes their names durable. It does nothing if dir exists. The errors are those of
// [CheckFolder] and of sys.
func MakeFolder(sys System, dir string) error {
	if !filepath.IsAbs(dir) {
		return &Unsafe{Path: dir, Problem: NotAbsolute}
	}
	err := CheckFolder(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := makeWithParents(sys, dir); err != nil {
		return err
	}
	return CheckFolder(dir)
}

func makeWithParents(sys System, dir string) error {
	parent := filepath.Dir(dir)
	if _, err := os.Stat(parent); errors.Is(err, fs.ErrNotExist) && parent != dir {
		if err := makeWithParents(sys, parent); err != nil {
			return err
		}
	}
	err := sys.Mkdir(dir)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return sys.SyncFolder(parent)
}

// Line is a line of a file, which was not checked.
type Line struct {
	Number  int    // counted from 1 at the start of the range
	Text    []byte // without its newline; nil if the line is longer than the limit
	At, End int64  // its offsets; End is after its newline
	Whole   bool   // whether it ends with a newline
}

// Lines yields the lines of a file between two offsets. limit is the maximum length in bytes of a
// line with its newline, and bounds the memory. Text is valid until the next line. An error ends
// the sequence.
func Lines(in io.ReaderAt, from, to int64, limit int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		if from >= to {
			return
		}
		lines := bufio.NewReaderSize(io.NewSectionReader(in, from, to-from), int(min(to-from, 64<<10)))
		var long []byte // a line that does not fit the buffer
		line := Line{At: from, End: from}
		for {
			line = Line{Number: line.Number + 1, At: line.End, End: line.End}
			long = long[:0]
			var err error
			for {
				var piece []byte
				piece, err = lines.ReadSlice('\n')
				line.End += int64(len(piece))
				isPart := errors.Is(err, bufio.ErrBufferFull)
				fitsLimit := line.End-line.At <= int64(limit)
				line.Text = piece
				if fitsLimit && (isPart || len(long) > 0) {
					long = append(long, piece...)
					line.Text = long
				}
				if !isPart {
					break
				}
			}
			if err != nil && err != io.EOF {
				yield(Line{}, err)
				return
			}
			length := line.End - line.At
			if length == 0 {
				return
			}
			line.Whole = err == nil
			switch {
			case length > int64(limit):
				line.Text = nil
			case line.Whole:
				line.Text = line.Text[:length-1]
			}
			if !yield(line, nil) || err == io.EOF {
				return
			}
		}
	}
}

// keySize is the size of a key in bytes.
const keySize = 16

// Key returns the random key in the file name of the folder dir, and creates both if they are missing.
// If the key can be neither read nor stored, it is only valid for this process.
func Key(dir, name string) []byte {
	name = filepath.Join(dir, name)
	if key := readKey(name); key != nil {
		return key
	}
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	if !EnsureFolder(dir) {
		return key
	}
	file, err := os.CreateTemp(dir, ".key-") // mode 0600
	if err != nil {
		return key
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(hex.EncodeToString(key))
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		_ = os.Link(file.Name(), name) // does not overwrite the key that another process may have created
	}
	if kept := readKey(name); kept != nil {
		return kept
	}
	return key
}

func readKey(name string) []byte {
	file, err := OpenLinked(name) // while Key creates it, it has two names
	if err != nil {
		return nil
	}
	defer file.Close()
	text, _ := io.ReadAll(io.LimitReader(file, 2*keySize+1))
	if key, err := hex.DecodeString(string(text)); err == nil && len(key) == keySize {
		return key
	}
	return nil
}

// IsUntouched reports whether before and after, the infos of a path at two times, show the same file without a change.
func IsUntouched(before, after fs.FileInfo) bool {
	if !os.SameFile(before, after) || before.Mode() != after.Mode() {
		return false
	}
	return before.Size() == after.Size() && before.ModTime().Equal(after.ModTime())
}
