// Package system has the system calls that the standard library lacks or spreads over
// paths: the calls that change a disk, between open folders and names of one segment, so
// that none follows a link that replaced a folder (TOCTOU); locks; the stamps by which two
// states of a file are told apart; files whose content is in a cloud; and the confinement
// of the process to its folders. It knows nothing of vaults.
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

// Calls are the calls that change a disk. Each works on open folders and on names of one
// segment in them, so none follows a link that replaced a folder. The functions are for tests,
// which let the n-th call fail; without them the calls are those of the operating system.
type Calls struct {
	Patience
	// Around makes a call: its method, and the names that it is about.
	Around func(call func() error, method string, names ...string) error
	Opened func(Handle) Handle // what Create returns for the file that it made
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

// After returns calls that are made after ask; an error of ask is that of the call, which is not
// made then.
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

// Create makes the new file name; it never opens an existing one.
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

// Move atomically renames the file from in source to the name to in target. It fails with
// fs.ErrExist if the name is taken, and with errors.ErrUnsupported where the file system has
// no such call.
func (c Calls) Move(source *os.Root, from string, target *os.Root, to string) error {
	return c.repeatChange(from, func() error {
		return c.around(func() error { return move(source, from, target, to) }, "Move", from, to)
	})
}

// Rename is Move that replaces a file of that name. look is called right before each try, also
// after a wait for another program: its error is returned, and nothing is renamed then.
func (c Calls) Rename(source *os.Root, from string, target *os.Root, to string, look func() error) error {
	return c.repeatChange(to, func() error {
		if err := look(); err != nil {
			return err
		}
		return c.around(func() error { return rename(source, from, target, to) }, "Rename", from, to)
	})
}

// Exchange atomically gives each of two files the name of the other. It fails with
// errors.ErrUnsupported where the system or the file system has no such call, and with
// fs.ErrNotExist if one of the files is missing.
func (c Calls) Exchange(source *os.Root, from string, target *os.Root, to string) error {
	return c.repeatChange(to, func() error {
		return c.around(func() error { return exchange(source, from, target, to) }, "Exchange", from, to)
	})
}

// Link makes the hard link to in target for the file from in source; it fails with
// fs.ErrExist if the name is taken.
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
		seen, err := dir.Lstat(name)
		if err == nil && !seen.IsDir() {
			err = &os.PathError{Op: "rmdir", Path: name, Err: errors.ErrUnsupported}
		}
		if err != nil {
			return err
		}
		return dir.Remove(name)
	}, "Rmdir", name)
}

// Sync makes the names in dir durable (fsync).
func (c Calls) Sync(dir *os.Root) error {
	return c.around(func() error {
		if runtime.GOOS == "windows" {
			return nil // folders cannot be synced there; the file system's journal does it
		}
		handle, err := dir.Open(".")
		if err != nil {
			return err
		}
		defer handle.Close()
		return handle.Sync()
	}, "Sync")
}

// CanKeepOpen reports whether a folder can be renamed and removed while it is open.
const CanKeepOpen = runtime.GOOS != "windows"

// CanSyncLater reports whether a file can be made durable by opening it once more for reading.
const CanSyncLater = runtime.GOOS != "windows"

// SyncFile makes the content of a file durable (fsync) that is open for reading, see [CanSyncLater].
func (c Calls) SyncFile(file *os.File) error {
	return c.around(file.Sync, "SyncFile", file.Name())
}

// lockPatience is how long a write waits for another one in the same folder. The check
// that the note is unchanged follows, so giving up is safe.
const lockPatience = 5 * time.Second

// ErrInUse says that another program has a file open in a way that prevents opening,
// moving, replacing or removing it. Only Windows has that. Nothing was changed.
var ErrInUse = errors.New("is open in another program")

// A virus scanner, a sync client or the app has a file open for moments, and some programs read it again and again. So there
// are many tries: one of them meets the moment between two reads.
const (
	firstWait = 10 * time.Millisecond
	lastWait  = 40 * time.Millisecond
	// The waits add up to so much before a look or a read fails, and before a change does: that was planned, and may have been
	// approved.
	readPatience   = 600 * time.Millisecond
	changePatience = 2 * time.Second
)

// Patience retries calls that fail while another program has the file open.
type Patience struct {
	InUse func(error) bool
	Sleep func(time.Duration)
}

// Patient retries what the operating system says is in use.
var Patient = Patience{InUse: IsInUse, Sleep: time.Sleep}

// Repeat makes a call that concerns the file name, and retries it for up to a second while
// another program has the file open. Then the error wraps [ErrInUse].
func (p Patience) Repeat(name string, call func() error) error {
	return p.repeat(readPatience, name, call)
}

// repeatChange is Repeat for a change of the file, which waits longer.
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

// Stamp tells the states of one file apart without reading it. Two equal stamps that are
// settled mean the same content. The zero Stamp means that nothing is known: it is never
// settled, and nothing may be cached under it.
type Stamp struct {
	Size     int64
	Modified int64 // Unix nanoseconds; a program can set it to any value
	// Changed is the time of the last change of the file or its metadata (ctime), in Unix
	// nanoseconds. No program can set it. It is 0 where the system does not report it.
	Changed int64
	Inode   uint64 // differs after a file was replaced; 0 as above
}

// settling is how long a file must be left alone before its stamp can be trusted. The
// clocks of file systems are coarse, that of FAT counts in two seconds: of two changes
// within one tick the second leaves no trace.
const settling = 2 * time.Second

// ahead is how far in the future the time of a file must be for no clock to have written
// it: a program did, or a machine whose clock was wrong by days.
const ahead = 24 * time.Hour

// Settled reports whether a stamp that was taken at the moment read, or later, was old
// enough then. A change after a younger stamp may leave it unchanged, so read is the
// moment before the read, not that after it.
//
// A time of modification far in the future is ignored where the system reports the time
// of change.
func (s Stamp) Settled(read time.Time) bool {
	last := time.Unix(0, max(s.Modified, s.Changed))
	if s.Changed != 0 && time.Unix(0, s.Modified).After(read.Add(ahead)) {
		last = time.Unix(0, s.Changed)
	}
	return s != Stamp{} && !last.Add(settling).After(read)
}

// portable is the stamp of a file where the system reports no more than Go does.
func portable(info fs.FileInfo) Stamp {
	return Stamp{Size: info.Size(), Modified: info.ModTime().UnixNano()}
}

// Some files of a vault are in a cloud and not on this disk. A program for synchronisation
// lists them like all others and fetches the content when it is read, which may take long,
// need a network, or fill the disk.

// ErrElsewhere says that a file was not read because its content is not on this disk.
var ErrElsewhere = errors.New("is in the cloud and not on this disk")

// CloudStub returns the name of the file that older versions of macOS put in place of one
// that iCloud has evicted from the disk.
func CloudStub(name string) string { return "." + name + stubSuffix }

// IsCloudStub reports whether a name is one of [CloudStub].
func IsCloudStub(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, stubSuffix) && len(name) > len("."+stubSuffix)
}

const stubSuffix = ".icloud"

// Network is what a process that is locked in may reach. The zero Network is nothing.
type Network struct {
	Port  uint16 // a TCP port
	Names bool   // what looks up the addresses of names
}

// Confinement says to what the process is confined, so that a fault in reading a note
// cannot reach anything else of the user: other files, the network, other processes.
//
// It is the second line of defence. The first, package disk, decides which files are
// notes; this one works even where the first has a hole. A system without Landlock goes
// without, and the Confinement says so. The zero Confinement is none.
type Confinement struct {
	level int    // ABI version of Landlock, 0 when there is none
	why   string // there is none
}

// Unconfined is the state of a process that was not confined, and why.
func Unconfined(why string) Confinement { return Confinement{why: why} }

// String returns the state for people, such as "landlock 7: files, TCP, signals" or
// "none: Landlock is for Linux". Newer kernels restrict more:
// https://docs.kernel.org/userspace-api/landlock.html lists what came with which level.
func (c Confinement) String() string {
	if c.level == 0 {
		return "none: " + c.why
	}
	held := "files"
	for _, more := range []struct {
		since int
		what  string
	}{{4, "TCP"}, {6, "signals, abstract sockets"}, {9, "sockets in files"}, {10, "UDP"}} {
		if c.level >= more.since {
			held += ", " + more.what
		}
	}
	return fmt.Sprintf("landlock %d: %s", c.level, held)
}
