//go:build unix

package exec

import (
	"path/filepath"
	"runtime"
)

func fileNames(name string) []string {
	if name == defaultCLI {
		return []string{name, nativeName}
	}
	return []string{name}
}

func wellKnown(getenv func(string) string) []string {
	var all []string
	home := getenv("HOME")
	if filepath.IsAbs(home) {
		all = append(all, filepath.Join(home, ".local", "bin", defaultCLI))
	}
	if runtime.GOOS == "darwin" {
		all = append(all, "/Applications/Obsidian.app/Contents/MacOS/"+nativeName, "/usr/local/bin/"+defaultCLI)
		if filepath.IsAbs(home) {
			all = append(all, filepath.Join(home, "Applications", "Obsidian.app", "Contents", "MacOS", nativeName))
		}
		return all
	}
	return append(all, "/opt/Obsidian/"+nativeName)
}
