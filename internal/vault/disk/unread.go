package disk

import (
	"errors"
	"io/fs"
	"sync/atomic"

	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// An answer that is based on many files is silently wrong if one of them could not be read. So whoever asks for
// all files is told of those that exist and cannot be read.

// IsUnread reports whether err means that a file or folder exists but its content is not available: because of
// a fault of the disk, a missing permission, its size, or because it is in the cloud. It is false for nil.
func IsUnread(err error) bool { return err != nil && !IsMissing(err) }

// Telling returns the same open folder. It calls tell with each visible file or folder that a walk cannot read,
// and each file that [Folder.ReadHere], [Folder.Stamp], or a method of [Entry] or [Stamper] cannot read. tell
// is called from several goroutines, possibly more than once for a path.
func (f *Folder) Telling(tell func(p Path)) *Folder {
	g := *f
	g.tell = tell
	return &g
}

// Told returns err. If it means that the file or folder at p could not be read, Told also calls the function
// set by [Folder.Telling].
func (f *Folder) Told(p Path, err error) error {
	if f.tell != nil && IsUnread(err) {
		f.tell(p)
	}
	return err
}

// InterposeReads sets a function that is called before every lookup and read of a file or folder, during a walk
// or by path, with the method of place and the name in its folder. If it returns an error, the call is not made
// and returns that error. It is for tests of faulty disks.
func (f *Folder) InterposeReads(ask func(method, name string) error) { f.ask.Store(&ask) }

// steady is a place that retries failed calls once, because faults of networks and disks may be temporary.
type steady struct {
	place
	ask *interposed
}

// interposed holds the function of [Folder.InterposeReads], or nil.
type interposed = atomic.Pointer[func(method, name string) error]

// try calls do, and calls it again if it fails for a reason that may be temporary.
func (s steady) try(method, name string, do func() error) error {
	err := s.once(method, name, do)
	if mayRetry(err) {
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

// mayRetry reports whether another attempt may succeed.
func mayRetry(err error) bool {
	if !IsUnread(err) || errors.Is(err, fs.ErrPermission) || errors.Is(err, system.ErrElsewhere) {
		return false
	}
	_, isTooLarge := errors.AsType[*SizeError](err)
	return !isTooLarge
}

func (s steady) list() (entries []listed, err error) {
	err = s.try("list", ".", func() (err error) {
		entries, err = s.place.list()
		return err
	})
	return entries, err
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
