package disk

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// File is an opened file of the vault: regular, and the one that its path
// named.
type File struct {
	*os.File
	Info fs.FileInfo
}

// Open opens the file at p. It answers fs.ErrNotExist if nothing is there, and
// a [Refusal] if something else than a regular file is.
func (f *Folder) Open(p Path) (*File, error) {
	dir, err := f.enter(p.parents())
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return openIn(dir, p.base())
}

// Stat returns what is known about the file at p, with the errors of Open.
func (f *Folder) Stat(p Path) (fs.FileInfo, error) {
	dir, err := f.enter(p.parents())
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return statIn(dir, p.base())
}

// Read returns the whole file at p, with the errors of Open; one that is
// larger than MaxNote is a SizeError.
func (f *Folder) Read(p Path) ([]byte, error) {
	file, err := f.Open(p)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file, MaxNote)
}

// Config returns the app's settings file of that name, or fs.ErrNotExist.
func (f *Folder) Config(name string) ([]byte, error) {
	dir, err := f.enter([]string{configFolder})
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	file, err := openIn(dir, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readAll(file, maxConfig)
}

// ConfigPath returns how a settings file is called in messages.
func ConfigPath(name string) string { return configFolder + "/" + name }

// statIn looks at the regular file name in dir.
func statIn(dir *os.Root, name string) (fs.FileInfo, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if reason := irregular(info.Mode()); reason != "" {
		return nil, &Refusal{Path: name, Reason: reason}
	}
	return info, nil
}

// openIn opens the regular file name in dir. It looks before it opens, so that
// no device is touched, and again afterwards, in case the name was given to
// another file in between.
func openIn(dir *os.Root, name string) (*File, error) {
	seen, err := statIn(dir, name)
	if err != nil {
		return nil, err
	}
	file, err := dir.OpenFile(name, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(seen, info) {
		err = &Refusal{Path: name, Reason: "was replaced while it was opened"}
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &File{File: file, Info: info}, nil
}

// irregular says what a file is if it is not a regular one.
func irregular(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "is a folder"
	case mode&fs.ModeSymlink != 0:
		return "is a symbolic link"
	}
	return "is not a regular file"
}

func readAll(file *File, limit int64) ([]byte, error) {
	size := file.Info.Size()
	if size > limit {
		return nil, tooLarge(file, size, limit)
	}
	text := make([]byte, size)
	n, err := io.ReadFull(file, text)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return text[:n], nil // it became shorter
	}
	if err != nil {
		return nil, err
	}
	more, err := io.ReadAll(io.LimitReader(file, limit-size+1)) // it became longer
	if text = append(text, more...); int64(len(text)) > limit {
		return nil, tooLarge(file, int64(len(text)), limit)
	}
	return text, err
}

// TooLarge returns the refusal of a file that is larger than MaxNote, or nil.
func (f *File) TooLarge() error {
	if f.Info.Size() <= MaxNote {
		return nil
	}
	return tooLarge(f, f.Info.Size(), MaxNote)
}

func tooLarge(file *File, size, limit int64) error {
	return &SizeError{Path: file.Info.Name(), Size: size, Limit: limit}
}

// SizeError says that a file is larger than this package handles.
type SizeError struct {
	Path        string
	Size, Limit int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%q has %d bytes: at most %d", e.Path, e.Size, e.Limit)
}
