package ownerfiles

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// A program that was installed as a package on Windows (MSIX), such as Claude Desktop, has its own AppData: what it and
// the programs that it starts create in %LOCALAPPDATA% and %APPDATA% goes to the folder of the package, which a terminal
// does not see. What does not exist there is read from the real folder. Microsoft documents this for all new files
// (https://learn.microsoft.com/windows/msix/desktop/desktop-to-uwp-behind-the-scenes); a test with Claude Desktop in
// August 2026 confirmed it for new entries at the top of both folders (https://github.com/anthropics/claude-code/issues/89113).
// The profile folder itself is the same for all programs, so the state is kept there once a packaged program uses it.

// profileFolder is the name of the state folder in the profile of a user of Windows.
const profileFolder = "." + programFolder

// profileState returns the state folder in the profile of the user on the system goos, "" if the profile is not known.
func profileState(goos string, env func(string) string) string {
	home := Home(goos, env)
	if !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, profileFolder)
}

// windowsState returns the state folder to use on Windows: the one in the profile if it exists or this process belongs to
// a package, otherwise the one in the local application data. Either argument is "" if it is not known.
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

// stateEntries are folders in a state folder. Each state folder in use has at least one of them.
var stateEntries = []string{"approvals", "audit", "audit-calls", "journal"}

// hasState reports whether a folder contains state, and not only a cache.
func hasState(folder string) bool {
	return slices.ContainsFunc(stateEntries, func(entry string) bool { return isDir(filepath.Join(folder, entry)) })
}

// OtherStates returns the folders of this user with state other than used, the state folder in use: those of packaged
// programs, and an earlier one. goos is a value of [runtime.GOOS]. Only Windows has such folders.
func OtherStates(goos string, env func(string) string, used string) []string {
	local := LocalData(env)
	if goos != "windows" || !filepath.IsAbs(local) {
		return nil
	}
	candidates := []string{profileState(goos, env), filepath.Join(local, programFolder)}
	// An invalid pattern matches nothing, so the error can be ignored.
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

// ShareState creates the state folder that packaged programs and terminals on Windows share, and returns its path if it
// did not exist before. An earlier state folder is moved there with its contents; while a server uses that folder, this
// is an error, and nothing is changed. If [stateVariable] is set, and on other systems, ShareState does nothing.
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
