package ownerfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

// NoFollow and Nonblocking are no-ops: Windows has no such open flags. Links are checked before opening.
const NoFollow, Nonblocking = 0, 0

// Owned reports whether a file, folder or link belongs to this user or to an administrator:
// files that an elevated process of the user creates belong to the administrators.
func Owned(name string, _ fs.FileInfo) bool {
	others, err := accessOfOthers(name, 0)
	return err == nil && !others.Own
}

// accessOfOthers returns which of the rights other users have to a file, folder or link.
func accessOfOthers(name string, rights Rights) (Others, error) {
	descriptor, err := DescriptorOf(name)
	if err != nil {
		return Others{}, err
	}
	return descriptor.Check(rights)
}

// reason words what other users can do, to follow the name of the file; "" if they can do nothing.
func (o Others) reason() string {
	switch {
	case o.Own:
		return "belongs to another user"
	case o.Account != "":
		return "can be changed by " + excerpt.Quoted(o.Account)
	}
	return ""
}

// checkProgramRights objects to a file that users other than this one and the administrators own or
// can change. Mode bits have no meaning on Windows; the access list decides.
func checkProgramRights(path string, _ fs.FileInfo) Objection {
	others, err := accessOfOthers(path, ChangeFile)
	if err != nil {
		return Objection{Reason: "has access rights that cannot be read"}
	}
	return others.objection(path, "")
}

// objection returns the objection to path, worded with where as a prefix, and the command that fixes it.
func (o Others) objection(path, where string) Objection {
	switch {
	case o.Own:
		return Objection{where + o.reason(), takeOwnershipCommand(path)}
	case o.Account != "":
		return Objection{where + o.reason(), revokeCommand(path, o.Account)}
	}
	return Objection{}
}

// revokeCommand returns the command that removes an account's rights to a file or folder. It turns inherited rights into
// explicit ones, so that other accounts keep theirs.
func revokeCommand(path, account string) string {
	return fmt.Sprintf(`icacls "%s" /inheritance:d /remove:g "%s"`, path, account)
}

// checkStep objects to a folder in which another user can replace entries, and to a link that another user can change.
// Creating entries is only refused in the folder of the program itself, because libraries are loaded from there: the
// root of a drive often lets every user create folders.
func checkStep(folder, entry string, info fs.FileInfo) (Objection, error) {
	rights := ReplaceIn
	if !info.IsDir() {
		rights |= AddTo
	}
	if folder != filepath.Dir(folder) {
		rights |= MoveAway
	}
	others, err := accessOfOthers(folder, rights)
	if err != nil {
		return Objection{}, err
	}
	where := "is in the folder " + excerpt.Quoted(folder) + ", which "
	if others := others.objection(folder, where); others != (Objection{}) {
		return others, nil
	}
	if !IsLink(entry, info) {
		return Objection{}, nil
	}
	others, err = accessOfOthers(entry, ChangeFile)
	if err != nil {
		return Objection{}, err
	}
	where = "is reached through the link " + excerpt.Quoted(entry) + ", which "
	return others.objection(entry, where), nil
}

// checkFileRights refuses an open file that users other than this one and the administrators own or can write.
func checkFileRights(name string, file *os.File, _ fs.FileInfo) error {
	descriptor, err := descriptorOfHandle(windows.Handle(file.Fd()), file.Name())
	if err != nil {
		return err
	}
	others, err := descriptor.Check(ChangeFile)
	switch {
	case err != nil:
		return err
	case others.Own:
		return &Untrusted{
			"belongs to another user",
			fmt.Sprintf("copy it, or as administrator: %s", takeOwnershipCommand(name)),
		}
	case others.Account != "":
		return &Untrusted{fmt.Sprintf("can be written by %q", others.Account), Remedy(name, others.Account)}
	}
	return nil
}

// takeOwnershipCommand returns a command that makes this user the owner of a file or folder.
func takeOwnershipCommand(name string) string {
	user, err := CurrentUser()
	if err != nil {
		return fmt.Sprintf(`takeown /f "%s"`, name)
	}
	return fmt.Sprintf(`icacls "%s" /setowner "*%s"`, name, user)
}

// CheckFolderPath refuses a folder that another user can redirect: through a link of theirs, or because
// they can rename an entry on the path to it. The error is an [*Untrusted] or one of the system.
func CheckFolderPath(folder string) error {
	// A folder is safe if no other user can rename it, or replace entries in it that are not theirs.
	check := func(name string) error {
		rights := ReplaceIn
		if name != filepath.Dir(name) {
			rights |= MoveAway
		}
		others, err := accessOfOthers(name, rights)
		switch {
		case err != nil:
			return err
		case others.Own:
			return &Untrusted{
				fmt.Sprintf("is in the folder %q, which belongs to another user", name),
				"as administrator: " + takeOwnershipCommand(name),
			}
		case others.Account != "": // other accounts may need their rights to a folder
			return &Untrusted{fmt.Sprintf("is in the folder %q, which %q can write", name, others.Account),
				"keep the file below your profile, or: " + revokeCommand(name, others.Account)}
		}
		return nil
	}
	err := WalkPath(folder, func(parent, entry string, info fs.FileInfo) error {
		if parent == filepath.Dir(parent) {
			if err := check(parent); err != nil {
				return err
			}
		}
		if !IsLink(entry, info) {
			return check(entry)
		}
		others, err := accessOfOthers(entry, ChangeFile)
		if err != nil || !others.Own && others.Account == "" {
			return err
		}
		return &Untrusted{
			fmt.Sprintf("is reached through the link %q, which another user can change", entry),
			"use a path without it",
		}
	})
	if errors.Is(err, syscall.ELOOP) {
		return &Untrusted{"is reached through too many links", "use a path without them"}
	}
	return err
}

// MachineFile returns the path of the machine-wide settings file of the administrator. It asks Windows for the folder,
// because environment variables can be changed by the user. The error names the folder.
func MachineFile() (string, error) {
	folder, err := windows.KnownFolderPath(windows.FOLDERID_ProgramData, 0)
	if err != nil {
		return "", fmt.Errorf("ask Windows for the folder ProgramData: %w", err)
	}
	return filepath.Join(folder, "vaultwicket", "config.toml"), nil
}

// machinePathProblem returns why an entry on the path of the machine-wide settings is not under the exclusive
// control of the administrators, "" if it is.
func machinePathProblem(name string, info fs.FileInfo) string {
	descriptor, err := DescriptorOf(name)
	if err != nil {
		return "has access rights that cannot be read"
	}
	rights := ReplaceIn | MoveAway
	if !info.IsDir() || IsLink(name, info) {
		rights = ChangeFile
	}
	if !descriptor.OwnedBy(administrators()) {
		return "does not belong to the administrators"
	}
	// OWNER RIGHTS and CREATOR OWNER stand for the owner, who was checked above.
	if account := descriptor.Beyond(append([]string{"S-1-3-4", "S-1-3-0"}, administrators()...), rights); account != "" {
		return "can be changed by " + account
	}
	return ""
}

// longShare is the prefix of the long form of a share's path, before server and share.
const longShare = `\\?\UNC`

// splitNames returns the elements of a path.
func splitNames(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '\\' || r == '/' })
}

// targetOf returns the target of a symbolic link or a junction, "" for anything else. Other
// reparse points, such as those of cloud files, have no target.
func targetOf(entry string, info fs.FileInfo) (target string, err error) {
	mode := info.Mode()
	if mode&fs.ModeSymlink != 0 {
		return os.Readlink(entry)
	}
	if mode&fs.ModeIrregular != 0 {
		if target, err := os.Readlink(entry); err == nil { // a junction
			return target, nil
		}
	}
	return "", nil
}

// splitTarget resolves where the target of a link in folder starts: folder itself, the root of its drive (\x), or the
// root of the target's own drive or share if it is absolute. names are the path elements from there. target must not
// be empty.
func splitTarget(folder, target string) (from string, names []string) {
	switch {
	case filepath.IsAbs(target):
		target = filepath.Clean(target) // the system resolves .. textually, too
		volume := filepath.VolumeName(target)
		root := volume + `\`
		names := splitNames(target[len(volume):])
		if strings.EqualFold(volume, longShare) && len(names) >= 2 {
			root += names[0] + `\` + names[1] + `\`
			names = names[2:]
		}
		return root, names
	case os.IsPathSeparator(target[0]):
		return filepath.VolumeName(folder) + `\`, splitNames(target)
	}
	return folder, splitNames(target)
}
