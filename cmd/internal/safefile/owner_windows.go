package safefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"vaultwicket/exec/acl"
	"vaultwicket/exec/way"
)

// NoFollow is a matter of Unix: on Windows whether a name is a link is checked before.
const NoFollow = 0

// checkOwner refuses a file that another user than this one and the administrators owns
// or can write.
func checkOwner(name string, file *os.File, _ fs.FileInfo) error {
	descriptor, err := acl.OfOpen(file)
	if err != nil {
		return err
	}
	found, err := descriptor.Check(acl.ChangeFile)
	switch {
	case err != nil:
		return err
	case found.Own:
		return &UnsafeError{"belongs to another user", fmt.Sprintf("copy it, or as administrator: %s", takeOwnership(name))}
	case found.Account != "":
		return &UnsafeError{fmt.Sprintf("can be written by %q", found.Account), acl.Remedy(name, found.Account)}
	}
	return nil
}

// takeOwnership is a command that gives a file or folder to this user.
func takeOwnership(name string) string {
	user, err := acl.User()
	if err != nil {
		return fmt.Sprintf(`takeown /f "%s"`, name)
	}
	return fmt.Sprintf(`icacls "%s" /setowner "*%s"`, name, user)
}

// CheckFolder refuses a folder that others can reach in another way: through a link
// of theirs, or because they can rename what is on the way to it.
func CheckFolder(folder string) error {
	err := way.Walk(folder, func(around, entry string, info fs.FileInfo) error {
		if around == filepath.Dir(around) {
			if err := safeFolder(around); err != nil {
				return err
			}
		}
		if way.IsLink(entry, info) {
			return safeLink(entry)
		}
		return safeFolder(entry)
	})
	if errors.Is(err, syscall.ELOOP) {
		return &UnsafeError{"is reached through too many links", "use a path without them"}
	}
	return err
}

func safeLink(name string) error {
	found, err := othersOf(name, acl.ChangeFile)
	if err != nil || !found.Own && found.Account == "" {
		return err
	}
	return &UnsafeError{fmt.Sprintf("is reached through the link %q, which another user can change", name), "use a path without it"}
}

// safeFolder refuses a folder that another user can rename, or in which they can replace
// what is not theirs.
func safeFolder(name string) error {
	rights := acl.ReplaceIn
	if name != filepath.Dir(name) {
		rights |= acl.MoveAway
	}
	found, err := othersOf(name, rights)
	switch {
	case err != nil:
		return err
	case found.Own:
		return &UnsafeError{fmt.Sprintf("is in the folder %q, which belongs to another user", name), "as administrator: " + takeOwnership(name)}
	case found.Account != "":
		return &UnsafeError{fmt.Sprintf("is in the folder %q, which %q can write", name, found.Account), withhold(name, found.Account)}
	}
	return nil
}

// withhold says how an account loses its rights to a folder, which others may need.
func withhold(name, account string) string {
	return fmt.Sprintf(`keep the file below your profile, or: icacls "%s" /inheritance:d /remove:g "%s"`, name, account)
}

func othersOf(name string, rights acl.Rights) (acl.Others, error) {
	descriptor, err := acl.Of(name)
	if err != nil {
		return acl.Others{}, err
	}
	return descriptor.Check(rights)
}
