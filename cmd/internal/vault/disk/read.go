package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"vaultwicket/cmd/internal/vault/disk/system"
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
	if err := f.admit(p); err != nil {
		return nil, err
	}
	dir, err := f.enter(p.parents())
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return f.openIn(dir, p.base())
}

// Stat returns what is known about the file at p, with the errors of Open.
func (f *Folder) Stat(p Path) (fs.FileInfo, error) {
	if err := f.admit(p); err != nil {
		return nil, err
	}
	dir, err := f.enter(p.parents())
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return f.statIn(dir, p.base())
}

// Read returns the whole file at p, with the errors of Open; one that is
// larger than MaxNote is a SizeError.
func (f *Folder) Read(p Path) ([]byte, error) {
	text, _, err := f.ReadStamped(p)
	return text, err
}

// ReadStamped is Read that also returns the stamp of the file before it was
// read. The stamp is zero if the file was written meanwhile, because the text
// may be half old and half new then.
func (f *Folder) ReadStamped(p Path) ([]byte, system.Stamp, error) {
	if err := f.admit(p); err != nil {
		return nil, system.Stamp{}, err
	}
	at, err := f.place(p.parents())
	if err != nil {
		return nil, system.Stamp{}, err
	}
	defer at.close()
	if _, err := at.stamp(p.base()); err != nil {
		return nil, system.Stamp{}, err // nothing but a regular file is touched by opening it
	}
	return at.read(p.base(), nil)
}

// ReadHere is ReadStamped for a file that nobody has asked for by its name: it fetches
// none from the cloud. The error is then [system.ErrElsewhere].
func (f *Folder) ReadHere(p Path) ([]byte, system.Stamp, error) {
	if system.HasCloudFiles {
		if info, err := f.Stat(p); err == nil && system.IsElsewhere(info) {
			return nil, system.Stamp{}, system.ErrElsewhere
		}
	}
	return f.ReadStamped(p)
}

// HasStub reports whether iCloud has taken the file at p off the disk and put a stub in
// its place. It looks at nothing that may not be seen.
func (f *Folder) HasStub(p Path) bool {
	if f.admit(p) != nil {
		return false
	}
	dir, err := f.enter(p.parents())
	if err != nil {
		return false
	}
	defer dir.Close()
	info, err := dir.Lstat(system.CloudStub(p.base()))
	return err == nil && info.Mode().IsRegular()
}

// Stamp returns the state of the file at p, with the errors of Open.
func (f *Folder) Stamp(p Path) (system.Stamp, error) {
	if err := f.admit(p); err != nil {
		return system.Stamp{}, err
	}
	at, err := f.place(p.parents())
	if err != nil {
		return system.Stamp{}, err
	}
	defer at.close()
	return at.stamp(p.base())
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
	var info fs.FileInfo
	err := system.RetryReads.Repeat(name, func() (err error) {
		info, err = dir.Lstat(name)
		return err
	})
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
	for range replacedOften {
		file, err := openOnce(dir, name)
		if !errors.Is(err, errReplaced) {
			return file, err
		}
	}
	return openOnce(dir, name)
}

// replacedOften is how often a file is opened again that an editor replaced while
// it was opened: its path was never without a file.
const replacedOften = 16

// errReplaced says that a name was given to another file. It is no [Refusal], for
// there is a file.
var errReplaced = errors.New("was replaced while it was opened")

func openOnce(dir *os.Root, name string) (*File, error) {
	seen, err := statIn(dir, name)
	if err != nil {
		return nil, err
	}
	var file *os.File
	err = system.RetryReads.Repeat(name, func() (err error) {
		file, err = dir.OpenFile(name, os.O_RDONLY|system.NonBlocking, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(seen, info) {
		err = fmt.Errorf("%q %w", name, errReplaced)
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
	text, _, err := readStamped(file, nil, limit)
	return text, err
}

// opened is a file that is open for reading.
type opened interface {
	io.Reader
	// stamp returns the state the file is in at that moment.
	stamp() (system.Stamp, error)
	title() string
}

func (f *File) title() string { return f.Info.Name() }

func (f *File) stamp() (system.Stamp, error) {
	info, err := f.Stat()
	if err != nil {
		return system.Stamp{}, err
	}
	return system.StampOf(info), nil
}

// readStamped reads a file into the memory of buf, if that is large enough. The
// size that the file says it has saves the read that only finds its end; the
// second look tells whether that was the whole of it, and one state of it.
func readStamped(file opened, buf []byte, limit int64) ([]byte, system.Stamp, error) {
	before, err := file.stamp()
	if err != nil {
		return nil, system.Stamp{}, err
	}
	if before.Size > limit {
		return nil, system.Stamp{}, &SizeError{Path: file.title(), Size: before.Size, Limit: limit}
	}
	text, err := readUpTo(file, slices.Grow(buf[:0], int(before.Size)), before.Size)
	if err != nil {
		return nil, system.Stamp{}, err
	}
	after, err := file.stamp()
	if err != nil {
		return nil, system.Stamp{}, err
	}
	// An empty file is read to its end as well: some file systems give this
	// size to what they make up while it is read.
	if whole := int64(len(text)) == before.Size; whole && after == before && before.Size > 0 {
		return text, before, nil
	}
	text, err = readRest(file, text, limit)
	if err != nil || after != before || int64(len(text)) != before.Size {
		return text, system.Stamp{}, err
	}
	return text, before, nil
}

// readUpTo adds to text until it has this size or the file ends.
func readUpTo(file io.Reader, text []byte, size int64) ([]byte, error) {
	for int64(len(text)) < size {
		n, err := file.Read(text[len(text):size])
		text = text[:len(text)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return text, nil
}

// readRest adds to text until the file ends. One that outgrows the limit is
// refused.
func readRest(file opened, text []byte, limit int64) ([]byte, error) {
	more, err := io.ReadAll(io.LimitReader(file, limit-int64(len(text))+1))
	if err != nil {
		return nil, err
	}
	if text = append(text, more...); int64(len(text)) > limit {
		return nil, &SizeError{Path: file.title(), Size: int64(len(text)), Limit: limit}
	}
	return text, nil
}

// TooLarge returns the refusal of a file that is larger than MaxNote, or nil.
func (f *File) TooLarge() error {
	if f.Info.Size() <= MaxNote {
		return nil
	}
	return &SizeError{Path: f.title(), Size: f.Info.Size(), Limit: MaxNote}
}

// SizeError says that a file is larger than this package handles.
type SizeError struct {
	Path        string
	Size, Limit int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%q has %d bytes: at most %d", e.Path, e.Size, e.Limit)
}
