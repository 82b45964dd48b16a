package ownerfiles

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const programFolder = "vaultwicket" // of this program, within the places for all programs

// Home returns the folder of the user, which terminals and many clients begin in, as the environment of the system goos
// names it (a value of [runtime.GOOS]): USERPROFILE on Windows, which has no HOME; "" if the environment does not say.
func Home(goos string, env func(string) string) string {
	if goos == "windows" {
		return env("USERPROFILE")
	}
	return env("HOME")
}

// LocalData returns the folder of Windows for the data of programs on this machine, [RoamingData] that for their settings:
// LOCALAPPDATA and APPDATA, or where a client starts servers without these variables, their usual places in the profile if
// those exist; "" if the environment does not say.
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

// HomeVariables names what the environment of the system goos has to say for the folders of the user to be known.
func HomeVariables(goos string) string {
	if goos == "windows" {
		return "USERPROFILE and LOCALAPPDATA"
	}
	return "HOME"
}

// CacheFolder returns the folder for files that this program can make again, by the rules of
// the system, "" if there is none or it is in the vault: this program keeps no files there.
func CacheFolder(env func(string) string, vault string) string {
	return outside(vault, baseFolder(env, "XDG_CACHE_HOME", ".cache", "Library/Caches"))
}

// stateVariable is the environment variable that names the folder in which the state folder is.
const stateVariable = "XDG_STATE_HOME"

// StateFolder returns the folder for files that must not be lost, in the same way. On Windows see [windowsState].
func StateFolder(env func(string) string, vault string) string {
	dir := baseFolder(env, stateVariable, ".local/state", "Library/Application Support")
	if runtime.GOOS == "windows" && !filepath.IsAbs(env(stateVariable)) {
		dir = windowsState(dir, profileState("windows", env), isPackaged())
	}
	return outside(vault, dir)
}

// baseFolder returns a folder by the rules of the system: the XDG base directories,
// and their like elsewhere. An XDG variable that is no absolute
// path is to be ignored (XDG Base Directory Specification 0.8).
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

// outside returns a folder, "" if it is in the vault.
func outside(vault, dir string) string {
	if vault == "" || dir == "" {
		return dir
	}
	real := resolved(dir)
	if isWithin(vault, dir) || isWithin(resolved(vault), real) {
		return ""
	}
	// One of the folders above may be the vault itself: its path may be spelled in another way.
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

// WhyUnsafe says why a folder must not contain private files, "" if it may. One that does not
// exist may: [EnsureFolder] makes it private.
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

// EnsureFolder makes a folder that only this user can access, if it is missing. It reports
// false if that fails, and for a folder that others can access.
func EnsureFolder(dir string) bool {
	if dir == "" || os.MkdirAll(filepath.Dir(dir), 0o700) != nil {
		return false
	}
	if err := (Disk{}).Mkdir(dir); err != nil && !os.IsExist(err) {
		return false
	}
	return WhyUnsafe(dir) == ""
}
