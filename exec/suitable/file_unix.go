//go:build unix

package suitable

import (
	"io/fs"
	"os"
	"syscall"
)

const (
	anyExecute   = 0o111
	othersWrite  = 0o002
	theGroupsToo = 0o020
)

// safeFile refuses what cannot be executed, what somebody else could have
// changed, and what would run with other rights than this process has.
func safeFile(_ Surroundings, path string, file fs.FileInfo) string {
	mode := file.Mode()
	if mode.Perm()&anyExecute == 0 {
		return "is not executable"
	}
	if mode&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
		return "has the set-uid or set-gid bit, and would run with the rights of another user or group"
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
	return ""
}

// nonblocking is a flag for opening: do not wait for the other end of a pipe that
// took the place of a file.
const nonblocking = syscall.O_NONBLOCK
