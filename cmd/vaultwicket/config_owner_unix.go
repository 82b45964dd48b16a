//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// noFollow opens no link that took the place of the file, and does not wait for
// the writer of a pipe that did.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// safeOwner refuses a file that somebody else owns or can write.
func safeOwner(name string, info fs.FileInfo) error {
	switch mode := info.Mode().Perm(); {
	case !ours(info):
		return &unsafeFile{"belongs to another user", fmt.Sprintf("copy it, or as root: chown %d %q", os.Geteuid(), name)}
	case mode&0o002 != 0:
		return &unsafeFile{fmt.Sprintf("can be written by others (mode %04o)", mode), fmt.Sprintf("chmod 600 %q", name)}
	case mode&0o020 != 0:
		return &unsafeFile{fmt.Sprintf("can be written by its group (mode %04o)", mode), fmt.Sprintf("chmod 600 %q", name)}
	}
	return nil
}

// ours reports whether a file belongs to us or to root.
func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (stat.Uid == 0 || int(stat.Uid) == os.Geteuid())
}

const maxLinks = 40 // on the way to a folder, as the kernel allows

// safeWay refuses a folder that others can reach in another way: through a link
// of theirs, or because they can rename what is on the way to it.
func safeWay(folder string) error {
	at, links := "/", 0
	if err := safeFolder(at); err != nil {
		return err
	}
	for todo := steps(folder); len(todo) > 0; {
		next := todo[0]
		todo = todo[1:]
		if next == ".." {
			at = filepath.Dir(at)
			continue
		}
		step := filepath.Join(at, next)
		info, err := os.Lstat(step)
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = step
			if err := safeMode(step, info); err != nil {
				return err
			}
			continue
		}
		if links++; links > maxLinks {
			return &unsafeFile{"is behind too many links", "name the file without them"}
		}
		if !ours(info) {
			return &unsafeFile{fmt.Sprintf("is behind the link %q, which belongs to another user", step), "name the file without it"}
		}
		target, err := os.Readlink(step)
		if err != nil {
			return err
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		todo = append(steps(target), todo...)
	}
	return nil
}

// steps returns the names of a path one by one.
func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

func safeFolder(name string) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	return safeMode(name, info)
}

// safeMode refuses a folder in which anybody can replace what is not theirs.
func safeMode(name string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o002 == 0 || info.Mode()&fs.ModeSticky != 0 {
		return nil
	}
	return &unsafeFile{fmt.Sprintf("is in the folder %q, which others can write (mode %04o)", name, info.Mode().Perm()), fmt.Sprintf("chmod o-w %q", name)}
}
