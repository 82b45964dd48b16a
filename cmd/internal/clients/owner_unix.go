//go:build unix

package clients

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// ownedByUser reports whether a file belongs to the user of this process.
func ownedByUser(_ string, info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// resolve follows the symbolic links in a path, which need not exist. It is an error if a link was created by
// another user than this one or root. links is the maximum number of links to missing targets.
func resolve(name string, links int) (string, error) {
	if links == 0 {
		return "", &fs.PathError{Op: "follow", Path: name, Err: syscall.ELOOP}
	}
	err := ownerfiles.WalkPath(name, func(_, entry string, info fs.FileInfo) error {
		if info.Mode()&fs.ModeSymlink != 0 && !ownerfiles.Owned(entry, info) {
			return terminal.Fail(
				terminal.ExitNotReady,
				fmt.Sprintf("%q is behind the symbolic link %q of another user", name, entry),
				"",
			)
		}
		return nil
	})
	switch {
	case err == nil:
		return filepath.EvalSymlinks(name)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	// The path may be a link to a missing target.
	parent, err := resolve(filepath.Dir(name), links)
	if err != nil {
		return "", err
	}
	name = filepath.Join(parent, filepath.Base(name))
	link, err := os.Readlink(name)
	if err != nil {
		return name, nil
	}
	if !filepath.IsAbs(link) {
		link = filepath.Join(parent, link)
	}
	return resolve(link, links-1)
}

// keepRights does nothing on Unix, where a file has no rights besides its mode.
func keepRights(_, _ string) error { return nil }
