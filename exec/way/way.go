//go:build unix

// Package way walks a path name by name, as the kernel does, for those who have to
// know who could change where it leads.
package way

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks is how many symbolic links may be on the way, as many as Linux allows.
const maxLinks = 40

// Walk visits every file, folder and symbolic link on the way of an absolute path, the
// targets of links included: the folder that it is in, its path there, and what
// Lstat says of it. An error of visit ends the walk and is returned. The other errors
// are those of Lstat and Readlink, and an [*fs.PathError] with [syscall.ELOOP] behind
// more than 40 links.
func Walk(path string, visit func(folder, entry string, info fs.FileInfo) error) error {
	at, links := "/", 0
	for todo := names(path); len(todo) > 0; {
		next := todo[0]
		todo = todo[1:]
		if next == ".." {
			at = filepath.Dir(at)
			continue
		}
		entry := filepath.Join(at, next)
		info, err := os.Lstat(entry)
		if err != nil {
			return err
		}
		if err := visit(at, entry, info); err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = entry
			continue
		}
		if links++; links > maxLinks {
			return &fs.PathError{Op: "follow", Path: path, Err: syscall.ELOOP}
		}
		target, err := os.Readlink(entry)
		if err != nil {
			return err
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		todo = append(names(target), todo...)
	}
	return nil
}

func names(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}
