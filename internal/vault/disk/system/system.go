// Package system has system calls that the standard library lacks or only offers for paths: calls that change a
// disk, between open folders and names of one segment, so that none follows a link that replaced a folder
// (TOCTOU); locks; stamps that distinguish two states of a file; detection of files whose content is in a
// cloud; and the confinement of the process to its folders. It knows nothing about vaults.
package system

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"
)

// Calls makes the calls that change a disk. Each works on open folders and on names of one segment in them, so
// none follows a link that replaced a folder. Tests set the functions to make the n-th call fail; if they are
// nil, the calls are those of the operating system.
type Calls struct {
	Patience
	// Around makes a call. It gets the name of the method and the file names.
	Around func(call func() error, method string, names ...string) error
	Opened func(Handle) Handle // replaces the file that Create returns
}

// Handle is a file that is being written.
type Handle interface {
	io.WriteCloser
	Chmod(fs.FileMode) error
	Sync() error
}

func (c Calls) around(call func() error, method string, names ...string) error {
	if c.Around == nil {
		return call()
	}
	return c.Around(call, method, names...)
}

// After returns calls that first call ask with the name of the method. If ask returns an error, the call is not
// made and returns that error.
func (c Calls) After(ask func(method string) error) Calls {
	within := c
	c.Around = func(call func() error, method string, names ...string) error {
		if err := ask(method); err != nil {
			return err
		}
		return within.around(call, method, names...)
	}
	return c
}

// Create creates the file name. It never opens an existing one.
func (c Calls) Create(dir *os.Root, name string, perm fs.FileMode) (file Handle, err error) {
	err = c.around(func() (err error) {
		file, err = dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
		return err
	}, "Create", name)
	if err == nil && c.Opened != nil {
		file = c.Opened(file)
	}
	return file, err
}

// Mkdir makes a folder.
func (c Calls) Mkdir(dir *os.Root, name string) error {
	return c.around(func() error { return dir.Mkdir(name, 0o755) }, "Mkdir", name)
}

// Move atomically renames the file from in source to the name to in target. The error is fs.ErrExist if the
// name is taken, and errors.ErrUnsupported if the file system does not support such a call.
func (c Calls) Move(source *os.Root, from string, target *os.Root, to string) error {
	return c.repeatChange(from, func() error {
		return c.around(func() error { return move(source, from, target, to) }, "Move", from, to)
	})
}

// Rename is Move, but replaces an existing file. look is called just before each attempt, also after waiting
// for another program. If it returns an error, nothing is renamed and Rename returns that error.
func (c Calls) Rename(source *os.Root, from string, target *os.Root, to string, look func() error) error {
	return c.repeatChange(to, func() error {
		if err := look(); err != nil {
			return err
		}
		return c.around(func() error { return rename(source, from, target, to) }, "Rename", from, to)
	})
}

// Exchange atomically exchanges the names of two files. The error is errors.ErrUnsupported if the system or the
// file system does not support such a call, and fs.ErrNotExist if one of the files is missing.
func (c Calls) Exchange(source *os.Root, from string, target *os.Root, to string) error {
	return c.repeatChange(to, func() error {
		return c.around(func() error { return exchange(source, from, target, to) }, "Exchange", from, to)
	})
}

// Link creates a hard link to in target to the file from in source. The error is fs.ErrExist if the name is
// taken.
func (c Calls) Link(source *os.Root, from string, target *os.Root, to string) error {
	return c.around(func() error { return link(source, from, target, to) }, "Link", from, to)
}

// Remove removes a file, never a folder.
func (c Calls) Remove(dir *os.Root, name string) error {
	return c.repeatChange(name, func() error {
		return c.around(func() error { return remove(dir, name) }, "Remove", name)
	})
}

// Rmdir removes an empty folder.
func (c Calls) Rmdir(dir *os.Root, name string) error {
	return c.around(func() error {
		info, err := dir.Lstat(name)
		if err == nil && !info.IsDir() {
			err = &os.PathError{Op: "rmdir", Path: name, Err: errors.ErrUnsupported}
		}
		if err != nil {
			return err
		}
		return dir.Remove(name)
	}, "Rmdir", name)
}

// OpenFolder opens a folder as a file, to use its descriptor or to list its names. It opens it as non-blocking,
// which is without effect on a folder: otherwise the runtime would set and reset that with four system calls.
func OpenFolder(dir *os.Root) (*os.File, error) { return dir.OpenFile(".", os.O_RDONLY|NonBlocking, 0) }

// Sync makes the names in dir durable (fsync).
func (c Calls) Sync(dir *os.Root) error {
	return c.around(func() error {
		if runtime.GOOS == "windows" {
			return nil // Windows cannot sync folders; the journal of its file system does that
		}
		handle, err := OpenFolder(dir)
		if err != nil {
			return err
		}
		defer handle.Close()
		return handle.Sync()
	}, "Sync")
}

// HasWriter reports whether a program has the file open for writing, or mapped for that. The file must be open for
// reading only. It is false where the system does not say so: on macOS and Windows, on a server of Windows or Samba, and on a
// file of another user.
func (c Calls) HasWriter(file *os.File) (isOpen bool, err error) {
	err = c.around(func() error {
		isOpen = hasWriter(file)
		return nil
	}, "HasWriter", file.Name())
	return isOpen, err
}

// CanKeepOpen reports whether a folder can be renamed and removed while it is open.
const CanKeepOpen = runtime.GOOS != "windows"

// CanSyncLater reports whether a file can be made durable by opening it again for reading.
const CanSyncLater = runtime.GOOS != "windows"

// SyncFile makes the content of a file durable (fsync). The file may be open for reading, see [CanSyncLater].
func (c Calls) SyncFile(file *os.File) error {
	return c.around(file.Sync, "SyncFile", file.Name())
}

// lockPatience limits the wait for another write in the same folder. The write is still checked afterwards, so
// giving up is safe.
const lockPatience = 5 * time.Second

// ErrInUse is returned if another program has a file open in a way that prevents opening, moving, replacing or
// removing it. It only occurs on Windows. Nothing was changed.
var ErrInUse = errors.New("is open in another program")

// A virus scanner, a sync client or the app has a file open for a moment, and some programs read it repeatedly.
// Many short waits make it likely that an attempt falls between two reads.
const (
	firstWait = 10 * time.Millisecond
	lastWait  = 40 * time.Millisecond
	// Total wait before a lookup or a read fails, and before a change fails. A change is worth a longer wait:
	// it was planned, and may have been approved.
	readPatience   = 600 * time.Millisecond
	changePatience = 2 * time.Second
)

// Patience retries calls that fail because another program has the file open.
type Patience struct {
	InUse func(error) bool
	Sleep func(time.Duration)
}

// Patient retries calls that fail with an error of [IsInUse].
var Patient = Patience{InUse: IsInUse, Sleep: time.Sleep}

// Repeat makes a call on the file name, and retries it for less than a second while another program has the
// file open. If it still fails, the error wraps [ErrInUse].
func (p Patience) Repeat(name string, call func() error) error {
	return p.repeat(readPatience, name, call)
}

// repeatChange is Repeat for a change of the file, with a longer wait.
func (p Patience) repeatChange(name string, call func() error) error {
	return p.repeat(changePatience, name, call)
}

func (p Patience) repeat(patience time.Duration, name string, call func() error) error {
	waited := time.Duration(0)
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		err := call()
		if !p.InUse(err) {
			return err
		}
		if waited >= patience {
			return fmt.Errorf("%q %w", name, ErrInUse)
		}
		p.Sleep(wait)
		waited += wait
	}
}

// Stamp identifies a state of a file without reading it. Two equal stamps that are settled mean equal content.
// The zero Stamp is unknown: it is never settled, and must not be used as a cache key.
type Stamp struct {
	Size     int64
	Modified int64 // Unix nanoseconds; a program can set it to any value
	// Changed is the time of the last change of the file or its metadata (ctime), in Unix nanoseconds. No
	// program can set it. It is 0 if the system does not report it.
	Changed int64
	Inode   uint64 // differs after a file was replaced; 0 if the system does not report it
}

// settling is the time for which a file must be unchanged before its stamp can be trusted. The clocks of file
// systems are coarse (FAT counts in steps of two seconds): the second of two changes within one step leaves no
// trace.
const settling = 2 * time.Second

// ahead is the distance into the future from which a file's time cannot be from a clock that is merely
// inaccurate: a program set it, or the clock was wrong by days.
const ahead = 24 * time.Hour

// Settled reports whether a stamp that was taken at the time read, or later, was old enough then. A later
// change may leave a younger stamp unchanged. So read must be the time before reading the file, not after it.
//
// A modification time far in the future is ignored if the system reports the time of change.
func (s Stamp) Settled(read time.Time) bool {
	last := time.Unix(0, max(s.Modified, s.Changed))
	if s.Changed != 0 && time.Unix(0, s.Modified).After(read.Add(ahead)) {
		last = time.Unix(0, s.Changed)
	}
	return s != Stamp{} && !last.Add(settling).After(read)
}

// portable returns the stamp of a file on a system that reports no more than Go does.
func portable(info fs.FileInfo) Stamp {
	return Stamp{Size: info.Size(), Modified: info.ModTime().UnixNano()}
}

// The content of some files in a vault may be in a cloud instead of on this disk. A sync program lists them
// like all others and fetches the content when it is read, which may take long, need a network, or fill the
// disk.

// ErrElsewhere is returned if a file was not read because its content is not on this disk.
var ErrElsewhere = errors.New("is in the cloud and not on this disk")

// CloudStub returns the name of the file by which older versions of macOS replace a file that iCloud has
// evicted from the disk.
func CloudStub(name string) string { return "." + name + stubSuffix }

// IsCloudStub reports whether a name is the result of [CloudStub].
func IsCloudStub(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, stubSuffix) && len(name) > len("."+stubSuffix)
}

const stubSuffix = ".icloud"

// Network is what a confined process may reach. The zero Network is nothing.
type Network struct {
	Port  uint16 // a TCP port
	Names bool   // servers and files for looking up host names
}

// Confinement describes the restrictions of the process, with which a fault while reading a note cannot reach
// other files of the user, the network, or other processes.
//
// It is the second line of defence. The first, package disk, decides which files are notes; this one works even
// if the first has a gap. Without Landlock, a process runs unconfined, and the Confinement gives the reason.
// The zero Confinement is unconfined.
type Confinement struct {
	level int    // ABI version of Landlock; 0 if unconfined
	why   string // reason if unconfined
}

// Unconfined returns the Confinement of a process that is not confined, with the reason.
func Unconfined(why string) Confinement { return Confinement{why: why} }

// restrictions are what levels of Landlock restrict in addition to files.
var restrictions = []struct {
	since int // level
	what  string
}{
	{4, "TCP"},
	{6, "signals, abstract sockets"},
	{9, "sockets in files"},
	{10, "UDP"},
}

// String describes the confinement for users, such as "landlock 7: files, TCP, signals" or "none: Landlock is
// for Linux". Newer kernels restrict more;
// https://docs.kernel.org/userspace-api/landlock.html lists which level added what.
func (c Confinement) String() string {
	if c.level == 0 {
		return "none: " + c.why
	}
	restricted := "files"
	for _, more := range restrictions {
		if c.level >= more.since {
			restricted += ", " + more.what
		}
	}
	return fmt.Sprintf("landlock %d: %s", c.level, restricted)
}
