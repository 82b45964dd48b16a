//go:build unix

package ownerfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/vaultwicket/vaultwicket/internal/excerpt"
)

const (
	anyExecute  = 0o111
	othersWrite = 0o002
	groupWrites = 0o020
)

const (
	// NoFollow has flags for opening: if a link or a pipe took the place of the file, do not
	// follow the link, and do not wait for a writer of the pipe.
	NoFollow    = syscall.O_NOFOLLOW | Nonblocking
	Nonblocking = syscall.O_NONBLOCK // a flag for opening: do not wait for a writer of a pipe
)

// macAdmins is the group of administrators on macOS, who can become root and write where programs are installed.
const macAdmins = 80

// Owned reports whether a file, folder or link belongs to this user or to root. info is from Lstat.
func Owned(_ string, info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (stat.Uid == 0 || int(stat.Uid) == os.Geteuid())
}

// checkProgramRights objects to a file that is not executable, that another user could have changed,
// or that would run with other rights than this process.
func checkProgramRights(path string, file fs.FileInfo) Objection {
	mode := file.Mode()
	stat, known := file.Sys().(*syscall.Stat_t)
	switch {
	case mode.Perm()&anyExecute == 0:
		return Objection{"is not executable", fmt.Sprintf("chmod u+x %q", path)}
	case mode&(fs.ModeSetuid|fs.ModeSetgid) != 0:
		return Objection{
			Reason: "has the set-uid or set-gid bit, and would run with the rights of another user or group",
		}
	case mode.Perm()&othersWrite != 0:
		return Objection{"can be changed by every user of this machine", chmodOthersCommand(path)}
	case !known:
		return Objection{Reason: "does not tell who owns it"}
	case !Owned(path, file):
		return Objection{"belongs to another user", chownRootCommand(path)}
	case mode.Perm()&groupWrites != 0 && isGroupOfUsers(runtime.GOOS, stat.Gid, uint32(os.Getegid())):
		return Objection{"can be changed by a group of users", chmodGroupCommand(path)}
	}
	return Objection{}
}

// macStaff is the group on macOS to which every user belongs, usually as the primary group.
const macStaff = 20

// isGroupOfUsers reports whether a group may have other members than this user. own is the primary group of the user,
// and goos the system.
func isGroupOfUsers(goos string, group, own uint32) bool {
	return group != own || goos == "darwin" && group == macStaff
}

// chmodOthersCommand returns the command that removes the right to write from all other users. In WSL, every file on a Windows
// drive appears as writable by all users, whatever its rights, unless the drive is mounted with other options
// (https://learn.microsoft.com/windows/wsl/wsl-config#automount-options).
func chmodOthersCommand(path string) string {
	if isWindowsDrive(path) {
		return `printf '[automount]\noptions = "umask=22"\n' | sudo tee -a /etc/wsl.conf && wsl.exe --shutdown`
	}
	return fmt.Sprintf("sudo chmod o-w %q", path)
}

func chmodGroupCommand(path string) string { return fmt.Sprintf("sudo chmod g-w %q", path) }

// chownRootCommand returns the command that makes root, whom every user trusts, the owner of path. For a file in a macOS app
// it is the whole app: whoever drags an app into /Applications owns it.
func chownRootCommand(path string) string {
	const ending = ".app"
	if at := strings.Index(path+"/", ending+"/"); at >= 0 {
		return fmt.Sprintf("sudo chown -R root %q", path[:at+len(ending)])
	}
	return fmt.Sprintf("sudo chown root %q", path)
}

// checkStep objects to a folder in which another user can replace the entry. In a sticky folder
// no other user can replace a folder, whose owner is checked later, but every user can create
// a file or a link there, for example a hard link to a program of root.
func checkStep(folder, _ string, entry fs.FileInfo) (found Objection, err error) {
	info, err := os.Lstat(folder)
	if err != nil {
		return Objection{}, err
	}
	mode := info.Mode()
	if mode.Perm()&othersWrite != 0 && (mode&fs.ModeSticky == 0 || !entry.IsDir()) {
		return Objection{
			"is in a folder that every user of this machine can change, " + excerpt.Quoted(folder),
			chmodOthersCommand(folder),
		}, nil
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	switch {
	case !known:
		return Objection{Reason: "is in the folder " + excerpt.Quoted(folder) + ", which does not tell who owns it"}, nil
	case !Owned(folder, info):
		return Objection{
			"is in the folder " + excerpt.Quoted(folder) + ", which belongs to another user",
			chownRootCommand(folder),
		}, nil
	case mode.Perm()&groupWrites != 0 && mode.Perm()&othersWrite == 0 &&
		isGroupOfUsers(runtime.GOOS, stat.Gid, uint32(os.Getegid())) && !isAdminGroup(stat.Gid):
		return Objection{
			"is in the folder " + excerpt.Quoted(folder) + ", which a group of users can change",
			chmodGroupCommand(folder),
		}, nil
	}
	return Objection{}, nil
}

func isAdminGroup(group uint32) bool { return runtime.GOOS == "darwin" && group == macAdmins }

// checkFileRights refuses a file that another user owns or can write.
func checkFileRights(name string, _ *os.File, info fs.FileInfo) error {
	switch mode := info.Mode().Perm(); {
	case !Owned(name, info):
		return &Untrusted{
			"belongs to another user",
			fmt.Sprintf("copy it, or as root: chown %d %q", os.Geteuid(), name),
		}
	case mode&othersWrite != 0:
		return &Untrusted{fmt.Sprintf("can be written by others (mode %04o)", mode), fmt.Sprintf("chmod 600 %q", name)}
	case mode&groupWrites != 0:
		return &Untrusted{
			fmt.Sprintf("can be written by its group (mode %04o)", mode),
			fmt.Sprintf("chmod 600 %q", name),
		}
	}
	return nil
}

// CheckFolderPath refuses a folder that another user can redirect: through a link of theirs, or because
// they can rename an entry on the path to it. The error is an [*Untrusted] or one of the system.
func CheckFolderPath(folder string) error {
	// If every user can write a folder, they can replace entries of others, unless the folder is sticky.
	check := func(name string, info fs.FileInfo) error {
		if info.Mode().Perm()&othersWrite == 0 || info.Mode()&fs.ModeSticky != 0 {
			return nil
		}
		return &Untrusted{
			fmt.Sprintf("is in the folder %q, which others can write (mode %04o)", name, info.Mode().Perm()),
			fmt.Sprintf("chmod o-w %q", name),
		}
	}
	root, err := os.Lstat("/")
	if err != nil {
		return err
	}
	if err := check("/", root); err != nil {
		return err
	}
	err = WalkPath(folder, func(_, entry string, info fs.FileInfo) error {
		switch {
		case info.Mode()&fs.ModeSymlink == 0:
			return check(entry, info)
		case !Owned(entry, info):
			return &Untrusted{
				fmt.Sprintf("is reached through the link %q, which belongs to another user", entry),
				"use a path without it",
			}
		}
		return nil
	})
	if errors.Is(err, syscall.ELOOP) {
		return &Untrusted{"is reached through too many links", "use a path without them"}
	}
	return err
}

// MachineFile returns the path of the machine-wide settings file of the administrator. Environment
// variables do not change it.
func MachineFile() (string, error) {
	folder := "/etc"
	if runtime.GOOS == "darwin" {
		folder = "/Library/Application Support"
	}
	return filepath.Join(folder, "vaultwicket", "config.toml"), nil
}

// machinePathProblem returns why an entry on the path of the machine-wide settings is not under the exclusive
// control of the administrators, "" if it is. A sticky folder may be writable: only the owners of its
// entries can replace them.
func machinePathProblem(_ string, info fs.FileInfo) string {
	stat, known := info.Sys().(*syscall.Stat_t)
	mode := info.Mode()
	switch {
	case !known || stat.Uid != 0:
		return "does not belong to root"
	case mode&fs.ModeSymlink != 0 || mode.IsDir() && mode&fs.ModeSticky != 0:
		return ""
	case mode.Perm()&othersWrite != 0,
		mode.Perm()&groupWrites != 0 && stat.Gid != 0 && !isAdminGroup(stat.Gid):
		return fmt.Sprintf("can be written by users other than root (mode %04o)", mode.Perm())
	}
	return ""
}

// splitNames returns the elements of a path.
func splitNames(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// targetOf returns the target of a symbolic link, "" for anything else.
func targetOf(entry string, info fs.FileInfo) (target string, err error) {
	if info.Mode()&fs.ModeSymlink == 0 {
		return "", nil
	}
	return os.Readlink(entry)
}

// splitTarget returns the folder from which the target of a link in folder starts, and the path elements from there.
// folder is not used if target is absolute.
func splitTarget(folder, target string) (from string, names []string) {
	if filepath.IsAbs(target) {
		return "/", splitNames(target)
	}
	return folder, splitNames(target)
}

// systemSID returns alias unchanged: there are no Windows accounts.
func systemSID(alias string) string { return alias }
