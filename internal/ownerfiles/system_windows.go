package ownerfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

const (
	// noFollow has the flags for opening that do not follow links. Windows has none: links are checked before.
	noFollow = 0

	// CanRenameOpen reports whether a file can be renamed while a process has it open.
	CanRenameOpen = false
)

// hasSecondLink reports whether an open file has more than one hard link. For a nil file, which cannot be
// asked, it is false.
func hasSecondLink(_ fs.FileInfo, file *os.File) bool {
	if file == nil {
		return false
	}
	var info syscall.ByHandleFileInformation
	err := syscall.GetFileInformationByHandle(syscall.Handle(file.Fd()), &info)
	return err != nil || info.NumberOfLinks != 1
}

// accounts returns the accounts that may own and access private files: this user first, then the
// system and the administrators, who can take ownership of any file. Owner rights (S-1-3-4) and
// the creator (S-1-3-0) stand for the owner of a file.
var accounts = sync.OnceValues(func() ([]string, error) {
	user, err := CurrentUser()
	if err != nil {
		return nil, err
	}
	return []string{user, "S-1-5-18", "S-1-5-32-544", "S-1-3-4", "S-1-3-0"}, nil
})

// Mkdir implements [System]. The folder inherits no rights; files in it inherit its rights.
func (Disk) Mkdir(name string) error {
	err := makePrivate(name)
	if err != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: err}
	}
	return nil
}

func makePrivate(name string) error {
	sids, err := accounts()
	if err != nil {
		return err
	}
	descriptor, err := windows.SecurityDescriptorFromString(
		fmt.Sprintf("D:P(A;OICI;FA;;;%s)(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)", sids[0]),
	)
	if err != nil {
		return err
	}
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return err
	}
	const words = 3 // the structure has three fields, each aligned to a word
	return windows.CreateDirectory(
		path,
		&windows.SecurityAttributes{Length: words * bits.UintSize / 8, SecurityDescriptor: descriptor},
	)
}

// checkAccess returns an *[Unsafe] unless the owner is one of accounts and no other account
// has any right.
func checkAccess(name string, _ fs.FileInfo) error {
	sids, err := accounts()
	if err != nil {
		return &fs.PathError{Op: "user", Path: name, Err: err}
	}
	descriptor, err := DescriptorOf(name)
	if err != nil {
		return err
	}
	if !descriptor.OwnedBy(sids) {
		return &Unsafe{Path: name, Problem: OtherOwner}
	}
	if account := foreignAccount(descriptor, sids); account != "" {
		return &Unsafe{Path: name, Problem: Accessible, Account: account}
	}
	return nil
}

// foreignAccount returns the name of an account other than the given SIDs to which a descriptor grants
// any right, even if only for new files in a folder; "" if there is none.
func foreignAccount(descriptor Descriptor, sids []string) string {
	for _, entry := range descriptor.Entries {
		if !entry.Denies && !slices.Contains(sids, entry.Account) {
			return AccountName(entry.Account)
		}
	}
	return ""
}

// Remedy returns the command with which the user can fix the problem, "" if there is none: it removes the
// rights of all other accounts.
func (e *Unsafe) Remedy() string {
	if e.Problem != Accessible {
		return ""
	}
	return Remedy(e.Path, e.Account)
}

// A rename is retried for half a second while another process has the file open: another
// process of this program, or a virus scanner.
const (
	renameTries = 50
	renamePause = 10 * time.Millisecond
)

// Rename implements [System].
func (Disk) Rename(from, to string) error {
	for try := 1; ; try++ {
		err := os.Rename(from, to)
		inUse := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, fs.ErrPermission)
		if !inUse || try == renameTries {
			return err
		}
		time.Sleep(renamePause)
	}
}

// lockFile tries to acquire the exclusive lock of an open file, which is on its first byte.
func lockFile(file *os.File) (locked bool, err error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

func unlockFile(file *os.File) error {
	return windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, &windows.Overlapped{})
}

// Unwritable returns nil: on Windows, this is not known before a file is created.
func Unwritable(string) error { return nil }
