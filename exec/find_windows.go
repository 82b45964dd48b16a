package exec

import (
	"path/filepath"
)

// fileNames are the files that a bare name can mean. ".exe" is never added:
// Obsidian.exe is the app, which answers a captured call with nothing.
func fileNames(name string) []string {
	if name == defaultCLI {
		return []string{shimName, nativeName + ".com"}
	}
	if filepath.Ext(name) != "" {
		return []string{name}
	}
	return []string{name + ".com"}
}

func wellKnown(getenv func(string) string) []string {
	var all []string
	for _, place := range []struct{ variable, folder string }{
		{"LOCALAPPDATA", `Programs\Obsidian`}, {"LOCALAPPDATA", "Obsidian"},
		{"ProgramFiles", "Obsidian"}, {"ProgramFiles(x86)", "Obsidian"},
	} {
		if base := getenv(place.variable); filepath.IsAbs(base) {
			all = append(all, filepath.Join(base, place.folder, shimName))
		}
	}
	return all
}
