//go:build unix

package suitable

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"

	"vaultwicket/allowlist/quote"
	"vaultwicket/exec/way"
)

// macAdmins is the group of the administrators of a Mac, who may become root and can
// write where programs are installed.
const macAdmins = 80

// Way looks at every folder on the way to a program, through the links as
// they are: whoever can rename something on it, or turn a link elsewhere, can put
// another program in its place. It says why a path is not safe, "" if it is. The path is
// absolute.
func Way(path string) (reason string, err error) {
	errUnsafe := errors.New("a folder is not safe")
	err = way.Walk(path, func(folder, _ string, info fs.FileInfo) (err error) {
		if reason, err = safeFolder(folder, info.IsDir()); reason != "" {
			return errUnsafe
		}
		return err
	})
	if err == errUnsafe {
		err = nil
	}
	return reason, err
}

// safeFolder refuses a folder in which somebody else can replace what is in it.
// In a sticky one nobody can replace another folder, whose owner is looked at in
// its turn; but everybody can make a file or a link there, a hard link to a
// program of root included.
func safeFolder(name string, holdsFolder bool) (reason string, err error) {
	info, err := os.Lstat(name)
	if err != nil {
		return "", err
	}
	mode := info.Mode()
	if mode.Perm()&othersWrite != 0 && (mode&fs.ModeSticky == 0 || !holdsFolder) {
		return "is in a folder that every user of this machine can change, " + quote.Quoted(name), nil
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	switch {
	case !known:
		return "is in the folder " + quote.Quoted(name) + ", which does not tell who owns it", nil
	case stat.Uid != 0 && int(stat.Uid) != os.Geteuid():
		return "is in the folder " + quote.Quoted(name) + ", which belongs to another user", nil
	case mode.Perm()&theGroupsToo != 0 && mode.Perm()&othersWrite == 0 && isSharedGroup(int(stat.Gid)):
		return "is in the folder " + quote.Quoted(name) + ", which a group of users can change", nil
	}
	return "", nil
}

// isSharedGroup reports whether a group has others in it than the user and root.
func isSharedGroup(group int) bool {
	return group != os.Getegid() && (runtime.GOOS != "darwin" || group != macAdmins)
}
