package private

import (
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/windows"
)

// accounts are who may own and access what is private: this user first, then the system
// and the administrators, who can take every file anyway. Owner rights (S-1-3-4) and the
// creator (S-1-3-0) stand for the owner of a file.
var accounts = sync.OnceValues(func() ([]string, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	return []string{user.User.Sid.String(), "S-1-5-18", "S-1-5-32-544", "S-1-3-4", "S-1-3-0"}, nil
})

// mkdir makes a folder that inherits no rights. What is made in it inherits its own.
func mkdir(name string) error {
	err := makePrivate(name)
	if err != nil {
		return &fs.PathError{Op: "mkdir", Path: name, Err: err}
	}
	return nil
}

func makePrivate(name string) error {
	all, err := accounts()
	if err != nil {
		return err
	}
	descriptor, err := windows.SecurityDescriptorFromString(fmt.Sprintf("D:P(A;OICI;FA;;;%s)(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)", all[0]))
	if err != nil {
		return err
	}
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return err
	}
	const words = 3 // the size of the structure, whose fields are aligned to a word each
	return windows.CreateDirectory(path, &windows.SecurityAttributes{Length: words * bits.UintSize / 8, SecurityDescriptor: descriptor})
}

// checkAccess returns an *[Unsafe] unless something belongs to one of [accounts] and
// nobody else has any right to it.
func checkAccess(name string, _ fs.FileInfo) error {
	all, err := accounts()
	if err != nil {
		return &fs.PathError{Op: "user", Path: name, Err: err}
	}
	const facts = windows.OWNER_SECURITY_INFORMATION | windows.DACL_SECURITY_INFORMATION
	descriptor, err := windows.GetNamedSecurityInfo(name, windows.SE_FILE_OBJECT, facts)
	if err != nil {
		return &fs.PathError{Op: "access", Path: name, Err: err}
	}
	owner, _, err := descriptor.Owner()
	if err != nil || owner == nil || !slices.Contains(all, owner.String()) {
		return &Unsafe{Path: name, Problem: OtherOwner}
	}
	if account := foreignIn(descriptor.String(), all); account != "" {
		return &Unsafe{Path: name, Problem: Accessible, Account: account}
	}
	return nil
}

// foreignIn returns an account that has rights by a descriptor in its text form, such
// as D:P(A;OICI;FA;;;SY), and is not among the given SIDs; "" if there is none. What
// has no list, and what cannot be read, is open to everybody.
func foreignIn(descriptor string, sids []string) string {
	const everybody = "S-1-1-0"
	_, list, found := strings.Cut(descriptor, "D:")
	if list, _, _ = strings.Cut(list, "S:"); !found || strings.Contains(list, "NO_ACCESS_CONTROL") {
		return nameOf(everybody)
	}
	_, entries, found := strings.Cut(list, "(")
	if !found {
		return "" // an empty list gives no rights
	}
	for entry := range strings.SplitSeq(entries, "(") {
		fields := strings.Split(strings.TrimRight(entry, ")"), ";")
		if len(fields) < 6 {
			return nameOf(everybody)
		}
		if kind, sid := fields[0], sidOf(fields[5]); !isDenial(kind) && !slices.Contains(sids, sid) {
			return nameOf(sid)
		}
	}
	return ""
}

// isDenial reports whether an entry of this kind takes rights away, or gives none.
func isDenial(kind string) bool { return slices.Contains([]string{"D", "OD", "XD"}, kind) }

// sidOf returns a SID for an alias, such as S-1-1-0 for WD.
func sidOf(alias string) string {
	sid, err := windows.StringToSid(alias)
	if err != nil {
		return alias
	}
	return sid.String()
}

// nameOf returns the name of an account, or its SID if it has none here.
func nameOf(sid string) string {
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

// remedy is a command that takes away what a file or folder inherits, and what an account
// is given at it itself. It is the same in both shells of Windows.
func (e *Unsafe) remedy() string {
	all, err := accounts()
	if err != nil {
		return ""
	}
	rights := "F"
	if info, err := os.Stat(e.Path); err == nil && info.IsDir() {
		rights = "(OI)(CI)F"
	}
	return fmt.Sprintf(`icacls "%s" /inheritance:r /grant:r "*%s:%s" /remove:g "%s"`, e.Path, all[0], rights, e.Account)
}
