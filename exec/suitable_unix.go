//go:build unix

package exec

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	anyExecute   = 0o111
	othersWrite  = 0o002
	theGroupsToo = 0o020
)

// safeFile refuses what cannot be executed and what somebody else could have
// changed.
func safeFile(_ *Runner, path string, file fs.FileInfo) string {
	mode := file.Mode()
	if mode.Perm()&anyExecute == 0 {
		return "is not executable"
	}
	if mode.Perm()&othersWrite != 0 {
		return "can be changed by every user of this machine"
	}
	stat, known := file.Sys().(*syscall.Stat_t)
	if !known {
		return "does not tell who owns it"
	}
	if stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return "belongs to another user"
	}
	if mode.Perm()&theGroupsToo != 0 && int(stat.Gid) != os.Getegid() {
		return "can be changed by a group of users"
	}
	return safeFolders(filepath.Dir(path))
}

// safeFolders looks at every folder on the way: whoever can rename one of them
// can put another program in its place.
func safeFolders(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&othersWrite != 0 && info.Mode()&fs.ModeSticky == 0 {
			return "stands in a folder that every user of this machine can change"
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}
