package clients

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/vaultwicket/vaultwicket/cmd/internal/terminal"
	"github.com/vaultwicket/vaultwicket/internal/filenames"
	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
	"github.com/vaultwicket/vaultwicket/internal/protocol"
	"github.com/vaultwicket/vaultwicket/internal/textedit"
)

// file is a settings file as it was read.
type file struct {
	name    string // its path in the table
	target  string // its path after following symbolic links
	content []byte // nil if it does not exist
	info    fs.FileInfo
}

func (f file) missing() bool { return f.info == nil }

// maxLinks is the maximum length of a chain of links to a missing target, which could be a loop.
const maxLinks = 40

// readFile reads a settings file, which must belong to this user. A missing file is not an error. Symbolic links are
// followed if this user or root created them.
func readFile(name string) (file, error) {
	f := file{name: name}
	var err error
	if f.target, err = resolve(name, maxLinks); err != nil {
		return f, environment(name, err)
	}
	info, err := os.Lstat(f.target)
	if errors.Is(err, fs.ErrNotExist) {
		return f, f.checkCreatable()
	}
	if err != nil {
		return f, environment(name, err)
	}
	switch {
	case !filenames.IsFileAt(f.target, info.Mode()):
		return f, terminal.Fail(terminal.ExitNotReady, fmt.Sprintf("%q is not a regular file", name), "")
	case info.Size() > textedit.MaxText:
		return f, terminal.Fail(
			terminal.ExitNotReady,
			fmt.Sprintf("%q is larger than %d MiB", name, textedit.MaxText>>20),
			"",
		)
	case !ownedByUser(f.target, info):
		return f, terminal.Fail(
			terminal.ExitNotReady,
			fmt.Sprintf("%q belongs to another user", f.target),
			"run the command as that user",
		)
	}
	if f.content, err = os.ReadFile(f.target); err != nil {
		return f, environment(name, err)
	}
	if f.content == nil {
		f.content = []byte{}
	}
	f.info = info
	return f, nil
}

// checkCreatable returns an error if the nearest existing folder around a missing file belongs to another user.
func (f file) checkCreatable() error {
	for folder := filepath.Dir(f.target); ; folder = filepath.Dir(folder) {
		info, err := os.Stat(folder)
		switch {
		case err == nil && !info.IsDir():
			return terminal.Fail(terminal.ExitNotReady, fmt.Sprintf("%q is not a folder", folder), "")
		case err == nil && !ownedByUser(folder, info):
			return terminal.Fail(
				terminal.ExitNotReady,
				fmt.Sprintf("%q cannot be created: the folder %q belongs to another user", f.name, folder),
				"run the command as that user",
			)
		case err == nil:
			return nil
		case !errors.Is(err, fs.ErrNotExist) || folder == filepath.Dir(folder):
			return environment(f.name, err)
		}
	}
}

// environment returns the error for an error of the operating system about a file.
func environment(name string, err error) error { return environmentOn(runtime.GOOS, name, err) }

func environmentOn(goos, name string, err error) error {
	if protocol.IsClosedByMacOS(goos, err) {
		return terminal.Fail(
			terminal.ExitNotReady,
			fmt.Sprintf("%q: macOS does not allow access to it", name),
			protocol.HintPrivacy,
		)
	}
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return terminal.Fail(terminal.ExitNotReady, fmt.Sprintf("%q: %v", name, err), "")
}

// unchanged returns an error if the file has changed since it was read.
func (f file) unchanged() error {
	again, err := readFile(f.name)
	if err != nil {
		return err
	}
	isSameFile := again.target == f.target && again.missing() == f.missing()
	if isSameFile && bytes.Equal(again.content, f.content) {
		return nil
	}
	return terminal.Fail(
		terminal.ExitFailed,
		fmt.Sprintf("%q was changed by another program after it was shown; nothing was written", f.name),
		"run the command again, with the client closed if this happens again",
	)
}

// replace replaces the file through a temporary file in its folder. The new file has the mode of the old one, and on
// Windows its access control list; perm is the mode if there was no file. It fails if the file changed since it was
// read.
func (f file) replace(content []byte, perm fs.FileMode) error {
	folder := filepath.Dir(f.target)
	if f.missing() {
		folderPerm := fs.FileMode(0o700)
		if perm&0o044 != 0 {
			folderPerm = 0o755
		}
		if err := os.MkdirAll(folder, folderPerm); err != nil {
			return environment(f.name, err)
		}
	} else {
		perm = f.info.Mode().Perm()
	}
	temporary, err := os.CreateTemp(folder, ".vaultwicket-*")
	if err != nil {
		return environment(f.name, err)
	}
	defer os.Remove(temporary.Name())
	if !f.missing() {
		err = keepRights(f.target, temporary.Name()) // before writing what others must not read
	}
	if err == nil {
		_, err = temporary.Write(content)
	}
	err = errors.Join(err, temporary.Chmod(perm), temporary.Sync(), temporary.Close())
	if err != nil {
		return environment(f.name, err)
	}
	if err := f.unchanged(); err != nil {
		return err
	}
	if f.missing() {
		err = ownerfiles.Publish(temporary.Name(), f.target)
	} else {
		err = os.Rename(temporary.Name(), f.target)
	}
	if errors.Is(err, fs.ErrExist) {
		return f.unchanged()
	}
	if err != nil {
		return environment(f.name, err)
	}
	return nil
}

const (
	maxBackups   = 20 // per file; older ones are deleted
	backupEnding = ".bak"
	absentEnding = ".absent" // records that there was no file
)

// backupsOf returns the folder with the backups of a file. It is not next to the file, because some files contain
// secrets, and some folders are shared or watched.
func (i Installer) backupsOf(c Client, f file) (folder string) {
	digest := sha256.Sum256([]byte(f.target))
	return filepath.Join(i.Backups, c.ID+"-"+hex.EncodeToString(digest[:4]))
}

// backupNames lists the backups in a folder, the latest first.
func backupNames(folder string) []string {
	entries, _ := os.ReadDir(folder)
	var names []string
	for _, entry := range entries {
		ending := filepath.Ext(entry.Name())
		isBackup := ending == backupEnding || ending == absentEnding
		if isBackup && entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	slices.Reverse(names)
	return names
}
