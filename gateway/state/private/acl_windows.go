package private

import (
	"fmt"
	"io/fs"
	"math/bits"
	"slices"
	"sync"

	"golang.org/x/sys/windows"

	"vaultwicket/exec/trust"
)

// accounts may own and access private files: this user first, then the system and the
// administrators, who can take ownership of any file. Owner rights (S-1-3-4) and the creator
// (S-1-3-0) are the owner of a file.
var accounts = sync.OnceValues(func() ([]string, error) {
	user, err := trust.User()
	if err != nil {
		return nil, err
	}
	return []string{user, "S-1-5-18", "S-1-5-32-544", "S-1-3-4", "S-1-3-0"}, nil
})

// Mkdir implements [System]. The folder inherits no rights; what is made in it inherits its own.
func (Disk) Mkdir(name string) error {
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

// checkAccess returns an *[Unsafe] unless the owner is one of [accounts] and no other account
// has any right.
func checkAccess(name string, _ fs.FileInfo) error {
	all, err := accounts()
	if err != nil {
		return &fs.PathError{Op: "user", Path: name, Err: err}
	}
	descriptor, err := trust.Of(name)
	if err != nil {
		return err
	}
	if !descriptor.OwnedBy(all) {
		return &Unsafe{Path: name, Problem: OtherOwner}
	}
	if account := foreignIn(descriptor, all); account != "" {
		return &Unsafe{Path: name, Problem: Accessible, Account: account}
	}
	return nil
}

// foreignIn returns an account outside the given SIDs that has any right by a descriptor, also
// one for new files in a folder; "" for none.
func foreignIn(descriptor trust.Descriptor, sids []string) string {
	for _, entry := range descriptor.Entries {
		if !entry.Denies && !slices.Contains(sids, entry.Account) {
			return trust.NameOf(entry.Account)
		}
	}
	return ""
}

// remedy is a command that leaves rights to this user alone.
func (e *Unsafe) remedy() string { return trust.Remedy(e.Path, e.Account) }
