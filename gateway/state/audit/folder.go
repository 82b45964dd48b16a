package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	presentFile = "audit.jsonl" // the one that is written to
	headFile    = "head.json"
	lockFile    = "audit.lock"
	newEnd      = ".new" // of a file that is not yet what it will be
)

// olderName is the name of a file that was laid aside, counted from 1.
func olderName(number uint64) string { return fmt.Sprintf("audit-%06d.jsonl", number) }

// olderNumber reads such a name, in the one way that it is written.
func olderNumber(name string) (number uint64, ok bool) {
	digits, _ := strings.CutPrefix(name, "audit-")
	digits, _ = strings.CutSuffix(digits, ".jsonl")
	number, err := strconv.ParseUint(digits, 10, 63)
	return number, err == nil && number > 0 && olderName(number) == name
}

// survey is what lies in the folder.
type survey struct {
	older   []uint64 // the numbers of the files that were laid aside, rising
	present bool
}

func (s survey) isEmpty() bool { return !s.present && len(s.older) == 0 }

func (p place) survey() (survey, error) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return survey{}, unusable(p.dir, err)
	}
	var s survey
	for _, entry := range entries {
		if number, ok := olderNumber(entry.Name()); ok {
			s.older = append(s.older, number)
		}
		s.present = s.present || entry.Name() == presentFile
	}
	slices.Sort(s.older)
	return s, nil
}

// prepare makes the folder if it is missing, and returns an error unless it is
// this user's alone.
func (l *Log) prepare() error {
	dir := l.place.dir
	if !filepath.IsAbs(dir) {
		return &Unusable{Path: dir, Reason: "is no absolute path"}
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := l.makeFolder(dir); err != nil {
			return unusable(dir, err)
		}
	}
	if err := checkFolder(dir); err != nil {
		return err
	}
	return l.place.checkLock()
}

func (l *Log) makeFolder(dir string) error {
	parent := filepath.Dir(dir)
	if _, err := os.Stat(parent); errors.Is(err, fs.ErrNotExist) && parent != dir {
		if err := l.makeFolder(parent); err != nil {
			return err
		}
	}
	err := l.sys.mkdir(dir)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return l.sys.sync(parent)
}

// checkFolder returns an error unless dir is a folder, and no link to one, that
// nobody else can look into.
func checkFolder(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return unusable(dir, err)
	case !info.IsDir():
		return &Unusable{Path: dir, Reason: "is not a folder"}
	case !isPrivate(info):
		return &Unusable{Path: dir, Reason: "is open to others, or of another user"}
	}
	return nil
}

func (p place) checkLock() error {
	info, err := os.Lstat(p.file(lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return unusable(p.file(lockFile), err)
	}
	return checkOwn(p.file(lockFile), info)
}

// openOwn opens a file that is no link, has no other name, and that nobody else
// can look into.
func openOwn(name string, flag int) (*os.File, error) {
	seen, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := checkOwn(name, seen); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, flag|cautious, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	switch {
	case err != nil || !os.SameFile(seen, info):
		err = &Unusable{Path: name, Reason: "was replaced while it was opened"}
	case !hasOneNameOpen(file):
		err = &Unusable{Path: name, Reason: "has a second name, a hard link"}
	default:
		err = checkOwn(name, info)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func checkOwn(name string, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return &Unusable{Path: name, Reason: "is not a regular file"}
	case !isPrivate(info):
		return &Unusable{Path: name, Reason: "is open to others, or of another user"}
	case !hasOneName(info):
		return &Unusable{Path: name, Reason: "has a second name, a hard link"}
	}
	return nil
}

// readSmall reads a file of ours, of which it takes one byte more than size.
func (p place) readSmall(name string, size int) ([]byte, error) {
	file, err := openOwn(p.file(name), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, int64(size)+1))
}

// replace writes a small file so that at any moment there is all of it, or of
// the one before.
func (l *Log) replace(name string, text []byte) error {
	next := l.place.file(name + newEnd)
	if err := l.sys.remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := l.sys.create(next)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = l.sys.rename(next, l.place.file(name))
	}
	if err != nil {
		_ = l.sys.remove(next)
		return err
	}
	return l.sys.sync(l.place.dir)
}
