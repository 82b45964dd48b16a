package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// File is an opened file of the vault: regular, and the one that its path named.
type File struct {
	content
	Info fs.FileInfo
	// Judged is the text of a note that was judged, nil where none was, or it is too long to be kept.
	Judged []byte
}

// content is what can be done with an open file: mostly an *os.File.
type content interface {
	io.ReadSeekCloser
	Stat() (fs.FileInfo, error)
}

// onDisk returns the open file, nil for one that is on no disk, see [Overlay].
func (f *File) onDisk() *os.File {
	file, _ := f.content.(*os.File)
	return file
}

// Open opens the file at p. The error is fs.ErrNotExist if there is none, and a [Refusal]
// if there is something other than a regular file.
func (f *Folder) Open(p Path) (*File, error) {
	if err := f.admit(p); err != nil {
		return nil, err
	}
	file, err := f.open(p)
	if err != nil || !f.judge.judges(p) {
		return file, err
	}
	suspected := file.Info.Size() <= longNote || f.judge.suspects(file)
	_, err = file.Seek(0, io.SeekStart)
	if err == nil && suspected {
		var text []byte
		if text, err = readAll(file, MaxNote); err == nil && f.judge.closes(text) {
			err = missing(p)
		}
		if len(text) <= longNote {
			file.Judged = text
		}
		_, failed := file.Seek(0, io.SeekStart)
		err = cmp.Or(err, failed)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// open opens the file at p, which may be seen.
func (f *Folder) open(p Path) (*File, error) {
	at := p
	if f.over != nil {
		file, from, err := f.over.open(f, p)
		if file != nil || err != nil {
			return file, err
		}
		at = from
	}
	var file *File
	err := steady{ask: f.ask}.try("open", at.Base(), func() error {
		dir, err := f.enter(at.parents())
		if err != nil {
			return err
		}
		defer dir.Close()
		file, err = f.in(dir).open(at.Base())
		return err
	})
	return file, err
}

// Stat returns what is known about the file at p, with the errors of Open.
func (f *Folder) Stat(p Path) (fs.FileInfo, error) {
	if err := f.admit(p); err != nil {
		return nil, err
	}
	at, err := f.place(p.parents())
	if err != nil {
		return nil, err
	}
	defer at.close()
	if err := f.judge.refuse(at, p); err != nil {
		return nil, err
	}
	return at.info(p.Base())
}

// IsFree reports whether a path has no file, or none that may be seen. The error is that of a disk that cannot tell.
func (f *Folder) IsFree(p Path) (bool, error) {
	_, err := f.Stat(p)
	if IsUnread(err) {
		return false, err
	}
	return errors.Is(err, fs.ErrNotExist), nil
}

// Read returns the whole file at p, with the errors of Open; one that is larger than
// MaxNote is a SizeError.
func (f *Folder) Read(p Path) ([]byte, error) {
	text, _, err := f.ReadStamped(p)
	return text, err
}

// ReadStamped is Read that also returns the stamp of the file before it was read. The
// stamp is zero if the file was written meanwhile, because the text may be half old and
// half new then.
func (f *Folder) ReadStamped(p Path) ([]byte, system.Stamp, error) {
	if err := f.admit(p); err != nil {
		return nil, system.Stamp{}, err
	}
	at, err := f.place(p.parents())
	if err != nil {
		return nil, system.Stamp{}, err
	}
	defer at.close()
	if _, err := at.stamp(p.Base()); err != nil {
		return nil, system.Stamp{}, err // nothing but a regular file is touched by opening it
	}
	text, stamp, err := at.read(p.Base(), nil)
	return f.passes(p, text, stamp, err)
}

// ReadHere is ReadStamped for a file that was not requested by its name: it fetches none
// from the cloud. The error is then [system.ErrElsewhere].
func (f *Folder) ReadHere(p Path) ([]byte, system.Stamp, error) {
	if elsewhere != nil {
		if info, err := f.Stat(p); err == nil && elsewhere(info) {
			return nil, system.Stamp{}, f.Told(p, system.ErrElsewhere)
		}
	}
	text, stamp, err := f.ReadStamped(p)
	return text, stamp, f.Told(p, err)
}

// HasStub reports whether iCloud has evicted the file at p and put a stub in its place. It
// is false for an invisible file.
func (f *Folder) HasStub(p Path) bool {
	if f.over != nil && f.over.differs(p) {
		return false
	}
	dir, err := f.parent(p)
	if err != nil {
		return false
	}
	defer dir.Close()
	info, err := dir.Lstat(system.CloudStub(p.Base()))
	return err == nil && info.Mode().IsRegular()
}

// Stamp returns the state of the file at p, with the errors of Open.
func (f *Folder) Stamp(p Path) (system.Stamp, error) {
	s := f.Stamper()
	defer s.Close()
	return s.Stamp(p)
}

// Stamper looks at many files. The folder of one is open until a file of another folder is
// requested, so that files of one folder that follow each other cost one look each. It is
// for one goroutine, and has to be closed.
type Stamper struct {
	in     *Folder
	at     place // nil if no folder is open
	folder string
}

// Stamper returns a stamper for files of the folder.
func (f *Folder) Stamper() *Stamper { return &Stamper{in: f} }

// Stamp is [Folder.Stamp].
func (s *Stamper) Stamp(p Path) (system.Stamp, error) {
	if err := s.in.admit(p); err != nil {
		return system.Stamp{}, err
	}
	if folder := p.Folder(); s.at == nil || folder != s.folder {
		s.Close()
		at, err := s.in.place(p.parents())
		if err != nil {
			return system.Stamp{}, s.in.Told(p, err)
		}
		s.at = at
		s.folder = folder
	}
	if err := s.in.judge.refuse(s.at, p); err != nil {
		return system.Stamp{}, s.in.Told(p, err)
	}
	stamp, err := s.at.stamp(p.Base())
	return stamp, s.in.Told(p, err)
}

// Close closes the folder that is open. The stamper can be used again.
func (s *Stamper) Close() {
	if s.at != nil {
		s.at.close()
		s.at = nil
	}
}

// opened is a file that is open for reading.
type opened interface {
	io.Reader
	// stamp returns the state of the file at that moment.
	stamp() (system.Stamp, error)
}

func (f *File) stamp() (system.Stamp, error) {
	info, err := f.Stat()
	if err != nil {
		return system.Stamp{}, err
	}
	return system.StampOf(info), nil
}

func readAll(file *File, limit int64) ([]byte, error) {
	text, _, err := readStamped(file, file.Info.Name(), nil, limit)
	return text, err
}

// readStamped reads a file, of that name in errors, into the memory of buf, if that is large enough.
// The size that the file claims saves the read that only finds its end; the second look tells whether
// that was the whole of it, and one state of it.
func readStamped(file opened, name string, buf []byte, limit int64) ([]byte, system.Stamp, error) {
	before, err := file.stamp()
	if err != nil {
		return nil, system.Stamp{}, err
	}
	if before.Size > limit {
		return nil, system.Stamp{}, &SizeError{Path: name, Size: before.Size, Limit: limit}
	}
	text := slices.Grow(buf[:0], int(before.Size))
	for int64(len(text)) < before.Size {
		n, err := file.Read(text[len(text):before.Size])
		text = text[:len(text)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, system.Stamp{}, err
		}
	}
	after, err := file.stamp()
	if err != nil {
		return nil, system.Stamp{}, err
	}
	// An empty file is read to its end as well: some file systems give this size to files
	// that they generate while they are read.
	if whole := int64(len(text)) == before.Size; whole && after == before && before.Size > 0 {
		return text, before, nil
	}
	more, err := io.ReadAll(io.LimitReader(file, limit-int64(len(text))+1))
	if err != nil {
		return nil, system.Stamp{}, err
	}
	text = append(text, more...)
	size := int64(len(text))
	if size > limit {
		return nil, system.Stamp{}, &SizeError{Path: name, Size: size, Limit: limit}
	}
	if after != before || size != before.Size {
		return text, system.Stamp{}, nil
	}
	return text, before, nil
}

// TooLarge returns the refusal of a file that is larger than MaxNote, or nil.
func (f *File) TooLarge() error {
	if f.Info.Size() <= MaxNote {
		return nil
	}
	return &SizeError{Path: f.Info.Name(), Size: f.Info.Size(), Limit: MaxNote}
}

// SizeError says that a file is larger than this package handles, in bytes.
type SizeError struct {
	Path        string
	Size, Limit int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%q has %d bytes: at most %d", e.Path, e.Size, e.Limit)
}
