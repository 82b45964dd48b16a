package ownerfiles

import (
	"fmt"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sys/windows"
)

const ownerAndList = windows.OWNER_SECURITY_INFORMATION | windows.DACL_SECURITY_INFORMATION

// CurrentUser returns the SID of the user of this process.
var CurrentUser = sync.OnceValues(func() (string, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "", err
	}
	return user.User.Sid.String(), nil
})

// DescriptorOf returns the security descriptor of a file, folder or link. It does not follow links.
func DescriptorOf(name string) (Descriptor, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return Descriptor{}, &fs.PathError{Op: "access", Path: name, Err: err}
	}
	const (
		share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
		flags = windows.FILE_FLAG_BACKUP_SEMANTICS | windows.FILE_FLAG_OPEN_REPARSE_POINT
	)
	handle, err := windows.CreateFile(path, windows.READ_CONTROL, share, nil, windows.OPEN_EXISTING, flags, 0)
	if err != nil {
		return Descriptor{}, &fs.PathError{Op: "access", Path: name, Err: err}
	}
	defer windows.CloseHandle(handle)
	return descriptorOfHandle(handle, name)
}

func descriptorOfHandle(handle windows.Handle, name string) (Descriptor, error) {
	descriptor, err := windows.GetSecurityInfo(handle, windows.SE_FILE_OBJECT, ownerAndList)
	if err != nil {
		return Descriptor{}, &fs.PathError{Op: "access", Path: name, Err: err}
	}
	return ParseDescriptor(descriptor.String()), nil
}

// Others says what untrusted accounts can do with a file or folder.
type Others struct {
	Own     bool   // whether one of them owns it
	Account string // one of them that has a right, by name or SID; "" if none has
}

// Check returns what users other than this one and the administrators can do: whether
// one of them is the owner or has one of the rights.
func (d Descriptor) Check(rights Rights) (Others, error) {
	user, err := CurrentUser()
	if err != nil {
		return Others{}, fmt.Errorf("the user of this process: %w", err)
	}
	trusted := TrustedBy(user)
	others := Others{Own: !d.OwnedBy(trusted)}
	if account := d.Beyond(trusted, rights); account != "" {
		others.Account = AccountName(account)
	}
	return others, nil
}

// AccountName returns the name of an account, or its SID if the system knows no name.
func AccountName(sid string) string {
	id, err := windows.StringToSid(sid)
	if err != nil {
		return sid
	}
	account, _, _, err := id.LookupAccount("")
	if err != nil || account == "" {
		return sid
	}
	return account
}

// systemSID returns the SID of an alias of Windows, such as those for accounts of this machine and its domain; unknown
// aliases are returned unchanged.
func systemSID(alias string) string {
	sid, err := windows.StringToSid(alias)
	if err != nil {
		return alias
	}
	return sid.String()
}

// Remedy returns the command that removes the inherited rights to a file or folder and the rights of an account;
// this user keeps all rights. It works in both shells of Windows.
func Remedy(name, account string) string {
	user, err := CurrentUser()
	if err != nil {
		return ""
	}
	rights := "F"
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		rights = "(OI)(CI)F"
	}
	return fmt.Sprintf(`icacls "%s" /inheritance:r /grant:r "*%s:%s" /remove:g "%s"`, name, user, rights, account)
}
