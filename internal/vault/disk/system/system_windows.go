package system

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"runtime"
	"syscall"
	"time"
	"unicode/utf16"

	"golang.org/x/sys/windows"
)

const (
	NonBlocking = 0 // 0: folders on Windows contain no named pipes
	NoFollow    = 0 // 0: there is no such flag, so callers must check for links first
)

func move(source *os.Root, from string, target *os.Root, to string) error {
	return renameat("move", source, from, target, to, 0)
}

func rename(source *os.Root, from string, target *os.Root, to string) error {
	return renameat("rename", source, from, target, to, windows.FILE_RENAME_REPLACE_IF_EXISTS)
}

// exchange returns an error: this system cannot exchange two files.
func exchange(_ *os.Root, from string, _ *os.Root, to string) error {
	return &os.LinkError{Op: "exchange", Old: from, New: to, Err: errors.ErrUnsupported}
}

// link returns an error. It is not needed, because every file system can move without replacing.
func link(_ *os.Root, from string, _ *os.Root, to string) error {
	return &os.LinkError{Op: "link", Old: from, New: to, Err: errors.ErrUnsupported}
}

func remove(dir *os.Root, name string) error { return dir.Remove(name) }

// renameat renames the file from in source to the name to in target. Both folders are open, and a link is
// renamed itself.
func renameat(op string, source *os.Root, from string, target *os.Root, to string, flags uint32) error {
	err := within(source, func(old windows.Handle) error {
		return within(target, func(new windows.Handle) error { return renameBetween(old, from, new, to, flags) })
	})
	if err != nil {
		return &os.LinkError{Op: op, Old: from, New: to, Err: err}
	}
	return nil
}

// within calls a function with the handle of an open folder.
func within(dir *os.Root, call func(windows.Handle) error) error {
	handle, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer handle.Close()
	return call(windows.Handle(handle.Fd()))
}

func renameBetween(source windows.Handle, from string, target windows.Handle, to string, flags uint32) error {
	file, err := openToRename(source, from)
	if err != nil {
		return errno(err)
	}
	defer windows.CloseHandle(file)
	const inClass65 = 65 // FileRenameInformationEx, which x/sys does not name
	err = setName(file, target, to, flags|windows.FILE_RENAME_POSIX_SEMANTICS, inClass65)
	if err == nil || errors.Is(err, windows.STATUS_OBJECT_NAME_COLLISION) {
		return errno(err)
	}
	// FAT, and systems before Windows 10, only support the older class.
	err = errno(setName(file, target, to, flags, windows.FileRenameInformation))
	if flags&windows.FILE_RENAME_REPLACE_IF_EXISTS == 0 {
		return err
	}
	return replaceError(err, func() (uint32, error) { return attributesOf(target, to) })
}

// attributesOf returns the attributes of a file, which it opens as for a rename.
func attributesOf(dir windows.Handle, name string) (uint32, error) {
	file, err := openToRename(dir, name)
	if err != nil {
		return 0, errno(err)
	}
	defer windows.CloseHandle(file)
	var info windows.ByHandleFileInformation
	err = windows.GetFileInformationByHandle(file, &info)
	return info.FileAttributes, err
}

// openToRename opens a file; a link is opened itself.
func openToRename(dir windows.Handle, name string) (file windows.Handle, err error) {
	text, err := windows.NewNTUnicodeString(name)
	if err != nil {
		return 0, err
	}
	object := windows.OBJECT_ATTRIBUTES{
		Length:        6 * pointerSize, // of the structure: six fields, each as wide as a pointer including padding
		RootDirectory: dir,
		ObjectName:    text,
		Attributes:    windows.OBJ_CASE_INSENSITIVE,
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	const options = windows.FILE_NON_DIRECTORY_FILE | windows.FILE_OPEN_REPARSE_POINT |
		windows.FILE_OPEN_FOR_BACKUP_INTENT | windows.FILE_SYNCHRONOUS_IO_NONALERT
	err = windows.NtCreateFile(
		&file,
		windows.SYNCHRONIZE|windows.DELETE|windows.FILE_READ_ATTRIBUTES,
		&object,
		&windows.IO_STATUS_BLOCK{},
		nil,
		0,
		share,
		windows.FILE_OPEN,
		options,
		0,
		0,
	)
	return file, err
}

const pointerSize = bits.UintSize / 8

// setName makes the call with a FILE_RENAME_INFORMATION: the flags and the handle of the folder, each as wide
// as a pointer, the length of the name in bytes, and the name.
func setName(file, dir windows.Handle, name string, flags, class uint32) error {
	units := utf16.Encode([]rune(name))
	info := make([]byte, 2*pointerSize, 2*pointerSize+4+2*len(units))
	binary.LittleEndian.PutUint32(info, flags)
	if pointerSize == 8 {
		binary.LittleEndian.PutUint64(info[pointerSize:], uint64(dir))
	} else {
		binary.LittleEndian.PutUint32(info[pointerSize:], uint32(dir))
	}
	info = binary.LittleEndian.AppendUint32(info, uint32(2*len(units)))
	for _, unit := range units {
		info = binary.LittleEndian.AppendUint16(info, unit)
	}
	return windows.NtSetInformationFile(file, &windows.IO_STATUS_BLOCK{}, &info[0], uint32(len(info)), class)
}

// errno converts a status to the error that the os package uses.
func errno(err error) error {
	if status, ok := err.(windows.NTStatus); ok {
		return status.Errno()
	}
	return err
}

// Lock prevents other processes of this program on this machine from writing to dir until unlock is called, by
// any goroutine. It creates no file and ends with the process. Windows cannot lock folders, so it uses a mutex
// named after the identity of the folder. If the mutex is not available, Lock does nothing, and only the check
// just before a note is replaced protects it.
func Lock(dir *os.Root) (unlock func()) {
	mutex, err := mutexOf(dir)
	if err != nil {
		return func() {}
	}
	acquired := make(chan struct{})
	release := make(chan struct{})
	released := make(chan struct{})
	go func() {
		defer close(released)
		holdMutex(mutex, acquired, release)
	}()
	<-acquired
	return func() {
		close(release)
		<-released
	}
}

// holdMutex acquires a mutex, closes acquired, and releases the mutex once release is closed. A mutex belongs
// to a thread, so the goroutine must stay on its thread meanwhile.
func holdMutex(mutex windows.Handle, acquired chan<- struct{}, release <-chan struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer windows.CloseHandle(mutex)
	// A mutex whose owner crashed (WAIT_ABANDONED) is acquired, too.
	event, err := windows.WaitForSingleObject(mutex, uint32(lockPatience.Milliseconds()))
	isHeld := err == nil && event != uint32(windows.WAIT_TIMEOUT)
	close(acquired)
	<-release
	if isHeld {
		_ = windows.ReleaseMutex(mutex)
	}
}

// mutexOf opens the mutex of a folder. It is the same for every path and session through which the folder was
// opened.
func mutexOf(dir *os.Root) (windows.Handle, error) {
	var info windows.ByHandleFileInformation
	err := within(dir, func(folder windows.Handle) error { return windows.GetFileInformationByHandle(folder, &info) })
	if err != nil {
		return 0, err
	}
	name, err := windows.UTF16PtrFromString(fmt.Sprintf(
		`Global\vaultwicket-%08x-%08x%08x`,
		info.VolumeSerialNumber,
		info.FileIndexHigh,
		info.FileIndexLow,
	))
	if err != nil {
		return 0, err
	}
	mutex, err := windows.CreateMutex(nil, false, name)
	if errors.Is(err, windows.ERROR_ALREADY_EXISTS) {
		err = nil // the handle is that of the existing mutex
	}
	return mutex, err
}

// TryLock acquires the exclusive lock on an open file without waiting. The lock ends when the file is closed,
// or with the process.
func TryLock(file *os.File) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var result error
	err = raw.Control(func(fd uintptr) {
		const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
		result = windows.LockFileEx(windows.Handle(fd), flags, 0, 1, 0, &windows.Overlapped{})
	})
	if err != nil {
		return err
	}
	return result
}

// IsPrivate reports whether dir is a folder (not a link to one). Who may write to it is determined by the
// folder that contains it.
func IsPrivate(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}

// IsInUse reports whether a call failed because another program has the file open.
func IsInUse(err error) bool { return isWindowsInUse(err) }

// IsNoName reports whether an error means that no file can have the name, such as one with a question mark.
func IsNoName(err error) bool { return errors.Is(err, windows.ERROR_INVALID_NAME) }

// BornOf returns the creation time of the file that info describes. ok is false if the file system does not
// record it.
func BornOf(info fs.FileInfo) (born time.Time, ok bool) {
	data, ok := info.Sys().(*syscall.Win32FileAttributeData)
	if !ok || data.CreationTime == (syscall.Filetime{}) {
		return time.Time{}, false
	}
	return time.Unix(0, data.CreationTime.Nanoseconds()), true
}

// StampOf returns the stamp of the file that info describes: its size and modification time.
func StampOf(info fs.FileInfo) Stamp { return portable(info) }

// HasCloudFiles reports whether the content of a file can be elsewhere on this system.
const HasCloudFiles = true

// IsElsewhere reports whether reading a file fetches its content, see
// https://learn.microsoft.com/windows/win32/fileio/file-attribute-constants
func IsElsewhere(info fs.FileInfo) bool {
	const fetched = windows.FILE_ATTRIBUTE_OFFLINE | windows.FILE_ATTRIBUTE_RECALL_ON_OPEN | windows.FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS
	data, ok := info.Sys().(*syscall.Win32FileAttributeData)
	return ok && data.FileAttributes&fetched != 0
}

// IsFetching reports whether an error means that the content of a file could not be fetched. These are the
// ERROR_CLOUD_FILE codes of
// https://learn.microsoft.com/windows/win32/debug/system-error-codes
func IsFetching(err error) bool {
	const first, last = 358, 404 // ERROR_CLOUD_FILE_SYNC_ROOT_METADATA_CORRUPT and the following codes
	var code syscall.Errno
	return errors.As(err, &code) && first <= code && code <= last
}
