package ownerfiles

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const programFolder = "vaultwicket" // the folder of this program within the folders for all programs

// Home returns the home folder of the user from the environment: HOME, or USERPROFILE on Windows; "" if it is not set. goos
// is a value of [runtime.GOOS].
func Home(goos string, env func(string) string) string {
	if goos == "windows" {
		return env("USERPROFILE")
	}
	return env("HOME")
}

// LocalData returns the Windows folder for data of programs on this machine, and [RoamingData] that for their settings:
// LOCALAPPDATA and APPDATA. If a client starts servers without these variables, they are the usual folders in the profile
// if these exist, otherwise "".
func LocalData(env func(string) string) string { return appData(env, "LOCALAPPDATA", "Local") }

// RoamingData is described with [LocalData].
func RoamingData(env func(string) string) string { return appData(env, "APPDATA", "Roaming") }

func appData(env func(string) string, variable, usual string) string {
	named := env(variable)
	home := Home("windows", env)
	if filepath.IsAbs(named) || !filepath.IsAbs(home) {
		return named
	}
	if folder := filepath.Join(home, "AppData", usual); isDir(folder) {
		return folder
	}
	return named
}

// HomeVariables names the environment variables that must be set on the system goos so that the folders of the user are
// known.
func HomeVariables(goos string) string {
	if goos == "windows" {
		return "USERPROFILE and LOCALAPPDATA"
	}
	return "HOME"
}

// CacheFolder returns the folder for files that this program can recreate, by the conventions of
// the system. It is "" if there is none, or if it is in the vault, where this program keeps no files.
func CacheFolder(env func(string) string, vault string) string {
	return unlessInVault(vault, baseFolder(env, "XDG_CACHE_HOME", ".cache", "Library/Caches"))
}

// stateVariable is the environment variable with the parent of the state folder.
const stateVariable = "XDG_STATE_HOME"

// StateFolder is like [CacheFolder] for files that must not be lost. For Windows see [windowsState].
func StateFolder(env func(string) string, vault string) string {
	dir := baseFolder(env, stateVariable, ".local/state", "Library/Application Support")
	if runtime.GOOS == "windows" && !filepath.IsAbs(env(stateVariable)) {
		dir = windowsState(dir, profileState("windows", env), isPackaged())
	}
	return unlessInVault(vault, dir)
}

// baseFolder returns a folder by the conventions of the system: the XDG base directories, and
// their equivalents elsewhere. An XDG variable that is not an absolute path must be ignored
// (XDG Base Directory Specification 0.8).
func baseFolder(env func(string) string, variable, unix, mac string) string {
	home := env("HOME")
	below := unix
	switch runtime.GOOS {
	case "windows":
		home = LocalData(env)
		below = ""
	case "darwin":
		below = mac
	}
	dir := env(variable)
	switch {
	case filepath.IsAbs(dir):
		return filepath.Join(dir, programFolder)
	case filepath.IsAbs(home):
		return filepath.Join(home, filepath.FromSlash(below), programFolder)
	}
	return ""
}

// unlessInVault returns dir, or "" if it is in the vault.
func unlessInVault(vault, dir string) string {
	if vault == "" || dir == "" {
		return dir
	}
	real := resolveLinks(dir)
	if isWithin(vault, dir) || isWithin(resolveLinks(vault), real) {
		return ""
	}
	// A parent may be the vault itself under a path with another spelling.
	folder, err := os.Stat(vault)
	for above := real; err == nil; above = filepath.Dir(above) {
		if info, err := os.Stat(above); err == nil && os.SameFile(folder, info) {
			return ""
		}
		if above == filepath.Dir(above) {
			break
		}
	}
	return dir
}

func isWithin(folder, path string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}

// resolveLinks returns path with its links resolved as far as it exists.
func resolveLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(resolveLinks(parent), filepath.Base(path))
	}
	return path
}

// WhyUnsafe returns why a folder must not contain private files, "" if it may. A folder that does
// not exist may, because [EnsureFolder] creates it as a private one.
func WhyUnsafe(dir string) string {
	err := CheckFolder(dir)
	var unsafe *Unsafe
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return ""
	case errors.As(err, &unsafe):
		return unsafe.Reason()
	}
	return "cannot be accessed: " + errors.Unwrap(err).Error()
}

// EnsureFolder creates a folder that only this user can access, if it is missing. It reports
// false if that fails, or if others can access the existing folder.
func EnsureFolder(dir string) bool {
	if dir == "" || os.MkdirAll(filepath.Dir(dir), 0o700) != nil {
		return false
	}
	if err := (Disk{}).Mkdir(dir); err != nil && !os.IsExist(err) {
		return false
	}
	return WhyUnsafe(dir) == ""
}
