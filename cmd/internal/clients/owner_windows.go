package clients

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/windows"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// ownedByUser reports whether a file belongs to the user of this process or to the
// administrators, who own what an elevated process of the user creates.
func ownedByUser(name string, info fs.FileInfo) bool { return ownerfiles.Owned(name, info) }

// resolve follows the symbolic links in a path, which need not exist. It is an error if a link was created by
// another user than this one or an administrator.
func resolve(name string, _ int) (string, error) {
	err := ownerfiles.WalkPath(name, func(_, entry string, info fs.FileInfo) error {
		if ownerfiles.IsLink(entry, info) && !ownedByUser(entry, info) {
			return terminal.Fail(
				terminal.ExitNotReady,
				fmt.Sprintf("%q is behind the symbolic link %q of another user", name, entry),
				"",
			)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	target, err := filepath.EvalSymlinks(name)
	if err == nil || !errors.Is(err, fs.ErrNotExist) || filepath.Dir(name) == name {
		return target, err
	}
	parent, err := resolve(filepath.Dir(name), maxLinks)
	return filepath.Join(parent, filepath.Base(name)), err
}

// keepRights copies the access control list of a file, including inherited entries, to the file that will replace it.
func keepRights(from, to string) error {
	descriptor, err := windows.GetNamedSecurityInfo(from, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	path, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	handle, err := windows.CreateFile(path, windows.WRITE_DAC, share, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return err
	}
	return errors.Join(
		windows.SetKernelObjectSecurity(handle, windows.DACL_SECURITY_INFORMATION, descriptor),
		windows.CloseHandle(handle),
	)
}
