package system

import "golang.org/x/sys/unix"

// moveat is renameat that never replaces a file.
func moveat(source int, from string, target int, to string) error {
	return unix.Renameat2(source, from, target, to, unix.RENAME_NOREPLACE)
}
