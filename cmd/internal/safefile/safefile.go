// Package safefile reads a file that only this user can write or replace, and says
// whether a file is inside a vault.
package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const maxFile = 1 << 20 // settings are some hundred bytes

// UnsafeError says why a settings file is not used, and what mends it: whoever
// can write it can open every gate.
type UnsafeError struct{ Reason, Advice string }

func (e *UnsafeError) Error() string { return e.Reason }

// Read reads a regular file that nobody else can write or replace. What
// it returns about the file is from the moment before it was read.
func Read(name string) ([]byte, fs.FileInfo, error) {
	seen, err := os.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if err := checkKind(name, seen); err != nil { // opening a pipe would wait for a writer
		return nil, nil, err
	}
	if err := CheckFolder(filepath.Dir(name)); err != nil {
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
	if err := errors.Join(checkKind(name, info), checkOwner(name, f, info)); err != nil {
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
		return &UnsafeError{"is a symbolic link", "use the path of the file itself with --config"}
	case !info.Mode().IsRegular():
		return &UnsafeError{"is not a regular file", `"vaultwicket config init" creates a settings file`}
	case info.Size() > maxFile:
		return tooLarge()
	}
	return nil
}

func tooLarge() error {
	return &UnsafeError{fmt.Sprintf("is larger than %d bytes", maxFile), "check that this is the right file"}
}

// VaultAround returns the vault in which a file lies or would lie, "" for none.
// It compares folders, not names, so that links and the case of letters do not
// matter.
func VaultAround(name string, vaults []string) string {
	var around []fs.FileInfo
	if whole, err := filepath.EvalSymlinks(existing(name)); err == nil {
		name = whole
	}
	for folder := name; ; folder = filepath.Dir(folder) {
		if info, err := os.Stat(folder); err == nil {
			around = append(around, info)
		}
		if folder == filepath.Dir(folder) {
			break
		}
	}
	for _, vault := range vaults {
		info, err := os.Stat(vault)
		if err != nil {
			continue
		}
		for _, folder := range around {
			if os.SameFile(info, folder) {
				return vault
			}
		}
	}
	return ""
}

// existing returns name, or the nearest folder above it that exists.
func existing(name string) string {
	for {
		if _, err := os.Lstat(name); err == nil || name == filepath.Dir(name) {
			return name
		}
		name = filepath.Dir(name)
	}
}
