package ownerfiles

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/vaultwicket/vaultwicket/internal/filenames"
)

const maxFile = 1 << 20 // bytes; settings files usually have some hundred

// Untrusted says why a settings file is not used, and how the user can fix that: whoever can write the
// file can change the policy.
type Untrusted struct{ Reason, Advice string }

func (e *Untrusted) Error() string { return e.Reason }

// ReadTrusted reads a regular file of up to 1 MiB that no other user can write or replace. The info
// is from before it was read. The error is an [*Untrusted] or one of the system.
func ReadTrusted(name string) ([]byte, fs.FileInfo, error) {
	seen, err := os.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if err := checkKind(name, seen); err != nil { // opening a pipe would wait for a writer
		return nil, nil, err
	}
	if err := CheckFolderPath(filepath.Dir(name)); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|NoFollow, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(checkKind(name, info), checkFileRights(name, f, info)); err != nil {
		return nil, nil, err
	}
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(content) > maxFile {
		return nil, nil, tooLarge()
	}
	return content, info, err
}

func checkKind(name string, info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return &Untrusted{"is a symbolic link", "use the path of the file itself with --config"}
	case !filenames.IsFileAt(name, info.Mode()):
		return &Untrusted{"is not a regular file", `"vaultwicket config init" creates a settings file`}
	case info.Size() > maxFile:
		return tooLarge()
	}
	return nil
}

func tooLarge() error {
	return &Untrusted{fmt.Sprintf("is larger than %d bytes", maxFile), "check that this is the right file"}
}

// ErrNotRegular is returned for a folder, a pipe or a device.
var ErrNotRegular = errors.New("is not a regular file")

// OpenRegular opens a regular file for reading and follows links. It checks the kind of file before and after
// opening it (TOCTOU): opening a pipe would wait for a writer, and reading a device may never end. The error is
// [ErrNotRegular] or one of the system.
func OpenRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !filenames.IsFileAt(path, info.Mode()) {
		return nil, ErrNotRegular
	}
	file, err := os.OpenFile(path, os.O_RDONLY|Nonblocking, 0)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err == nil && !filenames.IsFileAt(path, info.Mode()) {
		err = ErrNotRegular
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// VaultAround returns the vault that contains the file name, which need not exist, or "" if there
// is none. It compares folders by identity, so that links and letter case do not matter.
func VaultAround(name string, vaults []string) string {
	existing := name // or the nearest folder above it that exists
	for _, err := os.Lstat(existing); err != nil && existing != filepath.Dir(existing); _, err = os.Lstat(existing) {
		existing = filepath.Dir(existing)
	}
	if whole, err := filepath.EvalSymlinks(existing); err == nil {
		name = whole
	}
	for _, vault := range vaults {
		if info, err := os.Stat(vault); err == nil && (isFolder(name, info) || inside(name, info)) {
			return vault
		}
	}
	return ""
}

// ReadMachineFile reads a file like [ReadTrusted], but only if it and everything on its path is owned by
// administrators, and nobody else can write it, not even the user of this process. The error is an
// [*Untrusted] or one of the system; it is [fs.ErrNotExist] if the file does not exist.
func ReadMachineFile(name string) ([]byte, fs.FileInfo, error) {
	if _, err := os.Lstat(name); err != nil {
		return nil, nil, err
	}
	err := WalkPath(name, func(_, entry string, info fs.FileInfo) error {
		if reason := machinePathProblem(entry, info); reason != "" {
			return &Untrusted{
				fmt.Sprintf("%q %s", entry, reason),
				"the administrator of this machine can correct it or remove the file",
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return ReadTrusted(name)
}

// maxLinks is the maximum number of symbolic links on a path, the same as on Linux.
const maxLinks = 40

// WalkPath calls visit for every file, folder and symbolic link on an absolute path, including the targets of
// links, with its folder, its path and its info from Lstat. The first folder is the root; on Windows, it is
// the root of a drive or a share, and junctions count as links. An error of visit ends the walk and is
// returned. Other errors are those of Lstat and Readlink, and an [*fs.PathError] with [syscall.ELOOP] after
// more than 40 links.
func WalkPath(path string, visit func(folder, entry string, info fs.FileInfo) error) error {
	at, todo := splitTarget("", path)
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
		at = root
		todo = append(names, todo...)
	}
	return nil
}

// IsLink reports whether entry is a link or may be one; info is from Lstat.
func IsLink(entry string, info fs.FileInfo) bool {
	target, err := targetOf(entry, info)
	return target != "" || err != nil
}
