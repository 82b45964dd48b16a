package vault

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// isRegistered reports whether the app's own list of vaults has folder under
// that id. The list is looked at only for what can be an id: a call that names
// its vault by name, or not at all, reads nothing outside the vault.
func isRegistered(id, folder string, env func(string) string) bool {
	if len(id) != 16 || strings.Trim(id, "0123456789abcdef") != "" {
		return false
	}
	for _, place := range registryFolders(env) {
		text, err := os.ReadFile(filepath.Join(place, "obsidian.json"))
		if err != nil {
			continue
		}
		var list struct {
			Vaults map[string]struct{ Path string }
		}
		if json.Unmarshal(text, &list) == nil && list.Vaults[id].Path != "" && sameFolder(list.Vaults[id].Path, folder) {
			return true
		}
	}
	return false
}

// registryFolders returns the places where the app keeps its list, the plain
// installation first, then those of package systems that move it.
func registryFolders(env func(string) string) []string {
	home := env("HOME")
	switch {
	case runtime.GOOS == "windows" && env("APPDATA") != "":
		return []string{filepath.Join(env("APPDATA"), "obsidian")}
	case home == "":
		return nil
	case runtime.GOOS == "darwin":
		return []string{filepath.Join(home, "Library", "Application Support", "obsidian")}
	}
	config := env("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(home, ".config")
	}
	return []string{
		filepath.Join(config, "obsidian"),
		filepath.Join(home, ".var", "app", "md.obsidian.Obsidian", "config", "obsidian"),
		filepath.Join(home, "snap", "obsidian", "current", ".config", "obsidian"),
	}
}

func sameFolder(a, b string) bool {
	left, err := os.Stat(a)
	if err != nil {
		return false
	}
	right, err := os.Stat(b)
	return err == nil && os.SameFile(left, right)
}
