package system

import (
	"io/fs"
	"syscall"
	"time"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// moveat is renameat that never replaces a file.
func moveat(source int, from string, target int, to string) error {
	return unix.Renameat2(source, from, target, to, unix.RENAME_NOREPLACE)
}

// exchangeat exchanges the names of two files.
func exchangeat(source int, from string, target int, to string) error {
	return unix.Renameat2(source, from, target, to, unix.RENAME_EXCHANGE)
}

// StampOf returns the stamp of the file that info describes.
func StampOf(info fs.FileInfo) Stamp {
	s := portable(info)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		s.Changed = stat.Ctim.Nano()
		s.Inode = stat.Ino
	}
	return s
}

// minLevel is the first level of Landlock at which a file may be moved from one allowed folder to another
// (Linux 5.19). Below it, a vault in which notes cannot be moved would be worse than one without the second
// line of defence.
const minLevel = 2

// Confine permanently restricts the process to the folders and everything below them, and denies all access to
// the network except what is given, as far as the kernel supports that. A missing folder is left out, and the
// process cannot create it later either. Open files stay open.
//
// The time zone of the system is read first, because it is in a file.
func Confine(folders []string, network Network) Confinement {
	level, err := llsys.LandlockGetABIVersion()
	switch {
	case err != nil:
		return Unconfined("this kernel has no Landlock, or it is switched off")
	case level < minLevel:
		return Unconfined("the Landlock of this kernel is too old, Linux 5.19 is needed")
	}
	_ = time.Now().Local().String()
	rules := []landlock.Rule{landlock.RWDirs(folders...).WithRefer().IgnoreIfMissing()}
	if network.Port != 0 {
		rules = append(rules, landlock.ConnectTCP(network.Port))
	}
	if network.Names {
		const dns = 53
		rules = append(
			rules,
			landlock.ConnectSendUDP(dns),
			landlock.ConnectTCP(dns),
			landlock.ROFiles("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf").
				IgnoreIfMissing(),
			landlock.RODirs("/run/systemd/resolve").IgnoreIfMissing(),
		)
	}
	// Use the newest level that the library supports, reduced to what the kernel supports.
	if err := landlock.V11.BestEffort().Restrict(rules...); err != nil {
		return Unconfined(err.Error())
	}
	return Confinement{level: level}
}

// LimitMemory permanently limits the memory of the process: it ends if it needs more bytes. On other systems,
// it does nothing.
func LimitMemory(bytes uint64) {
	_ = unix.Setrlimit(
		unix.RLIMIT_DATA,
		&unix.Rlimit{Cur: bytes, Max: bytes},
	) // if it fails, only the time limit of a call protects the system
}
