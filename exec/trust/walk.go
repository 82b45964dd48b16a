package trust

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxLinks is how many symbolic links may be on the way, as many as Linux allows.
const maxLinks = 40

// Walk visits every file, folder and symbolic link on the way of an absolute path, the targets of links
// included: the folder that it is in, its path there, and what Lstat says of it. The first folder is
// the root, on Windows that of a drive or a share; junctions are links there. An error of visit ends
// the walk and is returned. The other errors are those of Lstat and Readlink, and an [*fs.PathError]
// with [syscall.ELOOP] after more than 40 links.
func Walk(path string, visit func(folder, entry string, info fs.FileInfo) error) error {
	at, todo := split(path)
	for links := 0; len(todo) > 0; {
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
		target, err := targetOf(entry, info)
		if err != nil {
			return err
		}
		if target == "" {
			at = entry
			continue
		}
		if links++; links > maxLinks {
			return &fs.PathError{Op: "follow", Path: path, Err: syscall.ELOOP}
		}
		root, names := splitTarget(at, target)
		at, todo = root, append(names, todo...)
	}
	return nil
}

// IsLink reports whether Lstat has seen a link at entry, which may lead elsewhere.
func IsLink(entry string, info fs.FileInfo) bool {
	target, err := targetOf(entry, info)
	return target != "" || err != nil
}
