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

// File is an open file of the vault. It is a regular file, and the one that its path named.
type File struct {
	content
	Info fs.FileInfo
	// Judged is the text of a note that a [Judge] read; nil if there is no judge or the text is too long.
	Judged []byte
}

// content is an open file, usually an *os.File.
type content interface {
	io.ReadSeekCloser
	Stat() (fs.FileInfo, error)
}

// onDisk returns the open file, nil if it is not on the disk, see [Overlay].
func (f *File) onDisk() *os.File {
	file, _ := f.content.(*os.File)
	return file
}

// Open opens the file at p. The error is fs.ErrNotExist if there is none, and a [Refusal] if there is something
// other than a regular file.
func (f *Folder) Open(p Path) (*File, error) {
	if err := f.admit(p); err != nil {
		return nil, err
	}
	file, err := f.open(p)
	if err != nil || !f.judge.judges(p) {
		return file, err
	}
	mayBeClosed := file.Info.Size() <= longNote || f.judge.suspects(file)
	_, err = file.Seek(0, io.SeekStart)
	if err == nil && mayBeClosed {
		var text []byte
		if text, err = readAll(file, MaxNote); err == nil && f.judge.closes(text) {
			err = missing(p)
		}
		if len(text) <= longNote {
			file.Judged = text
		}
		_, seekErr := file.Seek(0, io.SeekStart)
		err = cmp.Or(err, seekErr)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// open opens the file at p, which must be visible.
func (f *Folder) open(p Path) (*File, error) {
	at := p
	if f.overlay != nil {
		file, from, err := f.overlay.open(f, p)
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
		file, err = f.rooted(dir).open(at.Base())
		return err
	})
	return file, err
}

// Stat returns information about the file at p. The errors are those of Open.
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

// IsFree reports whether there is no visible file at a path. It returns an error if the disk cannot be read.
func (f *Folder) IsFree(p Path) (bool, error) {
	_, err := f.Stat(p)
	if IsUnread(err) {
		return false, err
	}
	return errors.Is(err, fs.ErrNotExist), nil
}

// Read returns the whole content of the file at p. The errors are those of Open, and a *[SizeError] for a file
// larger than MaxNote.
func (f *Folder) Read(p Path) ([]byte, error) {
	text, _, err := f.ReadStamped(p)
	return text, err
}

// ReadStamped is Read, and also returns the stamp of the file before the read. The stamp is zero if the file
// was written meanwhile, because the text may then be a mixture of old and new.
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
		return nil, system.Stamp{}, err // opening must not touch anything but a regular file
	}
	text, stamp, err := at.read(p.Base(), nil)
	return f.deliver(p, text, stamp, err)
}

// ReadHere is ReadStamped for a file that was not requested by name: it does not fetch files from the cloud,
// for which it returns [system.ErrElsewhere].
func (f *Folder) ReadHere(p Path) ([]byte, system.Stamp, error) {
	if elsewhere != nil {
		if info, err := f.Stat(p); err == nil && elsewhere(info) {
			return nil, system.Stamp{}, f.Told(p, system.ErrElsewhere)
		}
	}
	text, stamp, err := f.ReadStamped(p)
	return text, stamp, f.Told(p, err)
}

// HasStub reports whether iCloud has evicted the file at p and replaced it with a stub. It is false for an
// invisible file.
func (f *Folder) HasStub(p Path) bool {
	if f.overlay != nil && f.overlay.differs(p) {
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

// Stamp returns the stamp of the file at p. The errors are those of Open.
func (f *Folder) Stamp(p Path) (system.Stamp, error) {
	s := f.Stamper()
	defer s.Close()
	return s.Stamp(p)
}

// Stamper returns the stamps of many files. It keeps the folder of the last file open, so that each further
// file of the same folder costs only one system call. It is not safe for concurrent use, and must be closed.
type Stamper struct {
	vault  *Folder
	at     place // nil if no folder is open
	folder string
}

// Stamper returns a stamper for files of the vault.
func (f *Folder) Stamper() *Stamper { return &Stamper{vault: f} }

// Stamp is [Folder.Stamp].
func (s *Stamper) Stamp(p Path) (system.Stamp, error) {
	if err := s.vault.admit(p); err != nil {
		return system.Stamp{}, err
	}
	if folder := p.Folder(); s.at == nil || folder != s.folder {
		s.Close()
		at, err := s.vault.place(p.parents())
		if err != nil {
			return system.Stamp{}, s.vault.Told(p, err)
		}
		s.at = at
		s.folder = folder
	}
	if err := s.vault.judge.refuse(s.at, p); err != nil {
		return system.Stamp{}, s.vault.Told(p, err)
	}
	stamp, err := s.at.stamp(p.Base())
	return stamp, s.vault.Told(p, err)
}

// Close closes the folder that is open. The stamper can still be used.
func (s *Stamper) Close() {
	if s.at != nil {
		s.at.close()
		s.at = nil
	}
}

// opened is a file that is open for reading.
type opened interface {
	io.Reader
	// stamp returns the current stamp of the file.
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

// readStamped reads a file into buf, if that is large enough; name is for errors. Because the size is known in
// advance, no extra read is needed to find the end. Comparing the stamps before and after shows whether the
// text is complete and consistent.
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
	// An empty file is read to its end, too: some file systems report this size for files that they generate
	// when they are read.
	isComplete := int64(len(text)) == before.Size && before.Size > 0
	if isComplete && after == before {
		return text, before, nil
	}
	rest, err := io.ReadAll(io.LimitReader(file, limit-int64(len(text))+1))
	if err != nil {
		return nil, system.Stamp{}, err
	}
	text = append(text, rest...)
	size := int64(len(text))
	if size > limit {
		return nil, system.Stamp{}, &SizeError{Path: name, Size: size, Limit: limit}
	}
	if after != before || size != before.Size {
		return text, system.Stamp{}, nil
	}
	return text, before, nil
}

// TooLarge returns the error for a file that is larger than MaxNote, otherwise nil.
func (f *File) TooLarge() error {
	if f.Info.Size() <= MaxNote {
		return nil
	}
	return &SizeError{Path: f.Info.Name(), Size: f.Info.Size(), Limit: MaxNote}
}

// SizeError is the error for a file that is larger than this package accepts. Sizes are in bytes.
type SizeError struct {
	Path        string
	Size, Limit int64
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%q has %d bytes: at most %d", e.Path, e.Size, e.Limit)
}
