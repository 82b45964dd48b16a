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

// exchangeat gives each of two files the name of the other.
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

// leastLevel is the first level of Landlock at which a file may be moved from one allowed
// folder to another (Linux 5.19). Below it a vault in which notes cannot be moved would be
// worse than one without the second line of defence.
const leastLevel = 2

// Confine restricts the process, for good, to the folders and everything below them, and
// denies it the network as far as the kernel can, but for what it is given. A missing folder is left out: it cannot be made afterwards either. What is open stays open.
//
// The time zone of the machine is read before, because that is a file.
func Confine(folders []string, network Network) Confinement {
	level, err := llsys.LandlockGetABIVersion()
	switch {
	case err != nil:
		return Unconfined("this kernel has no Landlock, or it is switched off")
	case level < leastLevel:
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
	// The newest level that the library knows, less what the kernel does not.
	if err := landlock.V11.BestEffort().Restrict(rules...); err != nil {
		return Unconfined(err.Error())
	}
	return Confinement{level: level}
}

// LimitMemory bounds the memory of the process, for good: one that needs more than so many bytes
// ends. On other systems it does nothing.
func LimitMemory(bytes uint64) {
	_ = unix.Setrlimit(
		unix.RLIMIT_DATA,
		&unix.Rlimit{Cur: bytes, Max: bytes},
	) // without it the process has the time of its call
}
