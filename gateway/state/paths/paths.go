// Package paths says where this program keeps what is not the user's own: by
// the rules of each system, and never in a vault.
package paths

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"vaultwicket/gateway/state/private"
)

const programFolder = "vaultwicket" // of this program, within the places for all programs

// Cache returns where this program keeps what it can find out again, ""
// where there is no such place or it is in the vault: this program keeps nothing there.
func Cache(env func(string) string, vault string) string {
	return outside(vault, baseFolder(env, "XDG_CACHE_HOME", ".cache", "Library/Caches"))
}

// State returns where this program keeps what must not be lost, in the
// same way.
func State(env func(string) string, vault string) string {
	return outside(vault, baseFolder(env, "XDG_STATE_HOME", ".local/state", "Library/Application Support"))
}

// baseFolder returns a folder by the rules of the system: the XDG base directories,
// and their like elsewhere. An XDG variable that is no absolute path is to be
// ignored (XDG Base Directory Specification 0.8).
func baseFolder(env func(string) string, variable, unix, mac string) string {
	if dir := env(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, programFolder)
	}
	if runtime.GOOS == "windows" {
		return programFolderIn(env("LOCALAPPDATA"), "")
	}
	if runtime.GOOS == "darwin" {
		unix = mac
	}
	return programFolderIn(env("HOME"), unix)
}

func programFolderIn(home, dir string) string {
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, filepath.FromSlash(dir), programFolder)
}

// outside returns dir unless it is in the vault. "" is no vault.
func outside(vault, dir string) string {
	if vault == "" || dir == "" {
		return dir
	}
	if real := resolved(dir); isWithin(vault, dir) || isWithin(resolved(vault), real) || contains(vault, real) {
		return ""
	}
	return dir
}

// contains reports whether one of the folders above dir, which has no links in it, is the
// vault itself, as far as they exist: its path may be spelled in another way.
func contains(vault, dir string) bool {
	folder, err := os.Stat(vault)
	if err != nil {
		return false
	}
	for ; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && os.SameFile(folder, info) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

func isWithin(folder, path string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}

// resolved follows the links of a path as far as it exists.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(resolved(parent), filepath.Base(path))
	}
	return path
}

// Unsafe says why a folder must not hold what is the user's alone, "" if it may. One
// that does not exist may: MakePrivate makes it private.
func Unsafe(dir string) string {
	err := private.CheckFolder(dir)
	var unsafe *private.Unsafe
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return ""
	case errors.As(err, &unsafe):
		return unsafe.Reason()
	}
	return "cannot be accessed: " + errors.Unwrap(err).Error()
}

// Remedy returns the command by which the user can restrict an unsafe folder to
// themselves, "" where there is none.
func Remedy(dir string) string {
	var unsafe *private.Unsafe
	if errors.As(private.CheckFolder(dir), &unsafe) {
		return unsafe.Remedy()
	}
	return ""
}

// Unwritable is an error where nothing can be kept in a folder, be it there or to be
// made. It makes nothing.
func Unwritable(dir string) error { return writable(dir) }

// MakePrivate makes a folder that only this user can look into. It reports
// false where that cannot be, and for one that others can look into.
func MakePrivate(dir string) bool {
	if dir == "" || os.MkdirAll(filepath.Dir(dir), 0o700) != nil {
		return false
	}
	if err := (private.Disk{}).Mkdir(dir); err != nil && !os.IsExist(err) {
		return false
	}
	return Unsafe(dir) == ""
}
