//go:build unix

package exec

import (
	"path/filepath"
	"runtime"
)

// fileNames returns the names of the files that a bare name may mean.
func fileNames(name string) []string {
	if name == defaultCLI {
		return []string{name, nativeName}
	}
	return []string{name}
}

// wellKnown returns the paths at which the app installs its CLI.
func wellKnown(getenv func(string) string) []string {
	var paths []string
	home := getenv("HOME")
	if filepath.IsAbs(home) {
		paths = append(paths, filepath.Join(home, ".local", "bin", defaultCLI))
	}
	if runtime.GOOS == "darwin" {
		paths = append(paths, "/Applications/Obsidian.app/Contents/MacOS/"+nativeName, "/usr/local/bin/"+defaultCLI)
		if filepath.IsAbs(home) {
			paths = append(paths, filepath.Join(home, "Applications", "Obsidian.app", "Contents", "MacOS", nativeName))
		}
		return paths
	}
	return append(paths, "/opt/Obsidian/"+nativeName)
}
