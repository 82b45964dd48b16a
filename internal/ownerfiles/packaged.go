package ownerfiles

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// A program that was installed as a package on Windows (MSIX), such as Claude Desktop, has an AppData of its own: what
// it and the programs that it starts make in %LOCALAPPDATA% and %APPDATA% is in the folder of the package, which no
// terminal sees, while reads of what is not there come from the real folder. Microsoft writes that of all new files
// (https://learn.microsoft.com/windows/msix/desktop/desktop-to-uwp-behind-the-scenes), a probe with Claude Desktop in
// August 2026 that of new entries at the top of both folders (https://github.com/anthropics/claude-code/issues/89113).
// The profile folder itself is the real one for both, so the state is there as soon as a packaged program takes part.

// profileFolder is the name of the state folder in the profile of a user of Windows.
const profileFolder = "." + programFolder

// profileState returns the state folder in the profile of the user of the system goos, "" if that is not known.
func profileState(goos string, env func(string) string) string {
	home := Home(goos, env)
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, profileFolder)
}

// windowsState returns which of both state folders is used on Windows: that in the profile if it exists or the process
// is one of a package, otherwise that in the local application data. A folder that is not known is "".
func windowsState(local, profile string, packaged bool) string {
	if profile == "" {
		return local
	}
	if packaged || local == "" || isDir(profile) {
		return profile
	}
	return local
}

func isDir(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}

// stateEntries are the folders of which each state folder in use has one.
var stateEntries = []string{"approvals", "audit", "audit-calls", "journal"}

// hasState reports whether a folder is one in which state was kept, and not only a cache.
func hasState(folder string) bool {
	return slices.ContainsFunc(stateEntries, func(entry string) bool { return isDir(filepath.Join(folder, entry)) })
}

// OtherStates returns the folders of this user on the system goos, a value of [runtime.GOOS], in which state was kept and
// which are not the state folder used: those of packaged programs, and an earlier one. Only Windows has such.
func OtherStates(goos string, env func(string) string, used string) []string {
	local := LocalData(env)
	if goos != "windows" || !filepath.IsAbs(local) {
		return nil
	}
	candidates := []string{profileState(goos, env), filepath.Join(local, programFolder)}
	// Of a pattern that is wrong nothing is found, and a name with signs of a pattern matches itself or nothing.
	packaged, _ := filepath.Glob(filepath.Join(local, "Packages", "*", "LocalCache", "Local", programFolder))
	candidates = append(candidates, packaged...)
	var others []string
	for _, folder := range candidates {
		if folder != "" && folder != used && hasState(folder) {
			others = append(others, folder)
		}
	}
	return others
}

// ShareState makes the state folder that packaged programs and terminals on Windows have in common, and returns it if it
// was made now. An earlier state folder becomes it, with all that is in it. That is an error while a server uses it, and
// nothing is changed then. Where [stateVariable] names the folder, and on other systems, nothing is done.
func ShareState(goos string, env func(string) string) (made string, err error) {
	shared := profileState(goos, env)
	isNamed := filepath.IsAbs(env(stateVariable))
	if goos != "windows" || isNamed {
		return "", nil
	}
	if shared == "" || isDir(shared) {
		return "", nil
	}
	earlier := filepath.Join(LocalData(env), programFolder)
	if !filepath.IsAbs(earlier) || !hasState(earlier) {
		if !EnsureFolder(shared) {
			return "", fmt.Errorf("cannot create %q as a private folder", shared)
		}
		return shared, nil
	}
	running, err := Servers(ServersFolder(earlier))
	if err != nil {
		return "", err
	}
	if len(running) > 0 {
		return "", fmt.Errorf("%d running servers use the state folder %q", len(running), earlier)
	}
	return shared, os.Rename(earlier, shared)
}
