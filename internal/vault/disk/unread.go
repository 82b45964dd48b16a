package disk

import (
	"errors"
	"io/fs"
	"sync/atomic"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// An answer that is made of many files is wrong without a word if one of them could not be read. So what is there and
// cannot be read is told to whoever asked for all of it.

// IsUnread reports whether err means that there is a file or a folder whose content cannot be had: because of a fault of
// the disk or a missing permission, or because it is too large or in the cloud. It is false for nil.
func IsUnread(err error) bool { return err != nil && !IsMissing(err) }

// Telling returns the same open folder that calls tell with each visible file or folder that a walk cannot read, and each
// file that [Folder.ReadHere], [Folder.Stamp], or a method of [Entry] or [Stamper] cannot read. It is called from several goroutines, and maybe more
// than once for a path.
func (f *Folder) Telling(tell func(p Path)) *Folder {
	g := *f
	g.tell = tell
	return &g
}

// Told returns err, and tells of the file or folder at p if it could not be read.
func (f *Folder) Told(p Path, err error) error {
	if f.tell != nil && IsUnread(err) {
		f.tell(p)
	}
	return err
}

// InterposeReads has ask called before every look at a file or folder, and every read, of a walk or by a path: with its
// method of place, and the name in its folder. An error of ask is that of the call, which is not made then. It is for
// tests of bad disks.
func (f *Folder) InterposeReads(ask func(method, name string) error) { f.ask.Store(&ask) }

// steady is a place that tries what fails once more: the faults of networks and of disks pass.
type steady struct {
	place
	ask *interposed
}

// interposed is the function of [Folder.InterposeReads], which may be nil.
type interposed = atomic.Pointer[func(method, name string) error]

// try does something once more if it fails for a reason that may pass.
func (s steady) try(method, name string, do func() error) error {
	err := s.once(method, name, do)
	if mayPass(err) {
		err = s.once(method, name, do)
	}
	return err
}

func (s steady) once(method, name string, do func() error) error {
	if ask := s.ask.Load(); ask != nil {
		if err := (*ask)(method, name); err != nil {
			return err
		}
	}
	return do()
}

// mayPass reports whether another try may have another end.
func mayPass(err error) bool {
	if !IsUnread(err) || errors.Is(err, fs.ErrPermission) || errors.Is(err, system.ErrElsewhere) {
		return false
	}
	_, isTooLarge := errors.AsType[*SizeError](err)
	return !isTooLarge
}

func (s steady) list() (found []listed, err error) {
	err = s.try("list", ".", func() (err error) {
		found, err = s.place.list()
		return err
	})
	return found, err
}

func (s steady) step(name string) (sub place, err error) {
	err = s.try("step", name, func() (err error) {
		sub, err = s.place.step(name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return steady{sub, s.ask}, nil
}

func (s steady) lookAtFolder(name string) (info fs.FileInfo, err error) {
	err = s.try("lookAtFolder", name, func() (err error) {
		info, err = s.place.lookAtFolder(name)
		return err
	})
	return info, err
}

func (s steady) info(name string) (info fs.FileInfo, err error) {
	err = s.try("info", name, func() (err error) {
		info, err = s.place.info(name)
		return err
	})
	return info, err
}

func (s steady) stamp(name string) (stamp system.Stamp, err error) {
	err = s.try("stamp", name, func() (err error) {
		stamp, err = s.place.stamp(name)
		return err
	})
	return stamp, err
}

func (s steady) read(name string, buf []byte) (text []byte, stamp system.Stamp, err error) {
	err = s.try("read", name, func() (err error) {
		text, stamp, err = s.place.read(name, buf)
		return err
	})
	return text, stamp, err
}
