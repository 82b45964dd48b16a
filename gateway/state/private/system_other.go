//go:build !unix && !windows

package private

import (
	"io/fs"
	"os"
)

// What is not known of a system is left to the folder, which is one of the user's.
const (
	noFollow = 0

	// CanRenameOpen reports whether a file can be renamed while a process has it open.
	CanRenameOpen = false
)

func checkAccess(string, fs.FileInfo) error { return nil }

func hasSecondLink(fs.FileInfo) bool { return false }

func hasSecondLinkOpen(*os.File) bool { return false }

func isReadOnly(error) bool { return false }

func mkdir(name string) error { return os.Mkdir(name, 0o700) }

func rename(from, to string) error { return os.Rename(from, to) }
