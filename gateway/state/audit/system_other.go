//go:build !unix && !windows

package audit

import (
	"io/fs"
	"os"
)

// What is not known of a system is left to the folder, which is one of the
// user's.
const (
	noFollow      = 0
	cautious      = 0
	canRenameOpen = false
)

func isPrivate(fs.FileInfo) bool { return true }

func hasOneName(fs.FileInfo) bool { return true }

func hasOneNameOpen(*os.File) bool { return true }

func isReadOnly(error) bool { return false }
