package exec

import (
	"path/filepath"
)

// fileNames returns the names of the files that a bare name may mean. ".exe" is never added: Obsidian.exe is the
// app, which prints nothing when its output is captured.
func fileNames(name string) []string {
	if name == defaultCLI {
		return []string{shimName, nativeName + ".com"}
	}
	if filepath.Ext(name) != "" {
		return []string{name}
	}
	return []string{name + ".com"}
}

// wellKnown returns the paths at which the app installs its CLI.
func wellKnown(getenv func(string) string) []string {
	var paths []string
	for _, place := range []struct{ variable, folder string }{
		{"LOCALAPPDATA", `Programs\Obsidian`}, {"LOCALAPPDATA", "Obsidian"},
		{"ProgramFiles", "Obsidian"}, {"ProgramFiles(x86)", "Obsidian"},
	} {
		if base := getenv(place.variable); filepath.IsAbs(base) {
			paths = append(paths, filepath.Join(base, place.folder, shimName))
		}
	}
	return paths
}
