package vault

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// registered is one vault of the app's own list.
type registered struct {
	id, path string
	opened   float64 // when it was opened last, in milliseconds
}

// registry returns the app's list of vaults, the one that was opened last
// first. A list that is missing or broken has none.
func registry(env func(string) string) []registered {
	var all []registered
	for _, place := range registryFolders(env) {
		text, err := os.ReadFile(filepath.Join(place, "obsidian.json"))
		if err != nil {
			continue
		}
		var list struct {
			Vaults map[string]struct {
				Path string
				TS   float64
			}
		}
		if json.Unmarshal(text, &list) != nil {
			continue
		}
		for id, vault := range list.Vaults {
			if vault.Path != "" {
				all = append(all, registered{id, vault.Path, vault.TS})
			}
		}
	}
	slices.SortFunc(all, func(a, b registered) int {
		return cmp.Or(cmp.Compare(b.opened, a.opened), cmp.Compare(a.path, b.path))
	})
	return all
}

// isRegistered reports whether the app's own list of vaults has folder under
// that id. The list is looked at only for what can be an id: a call that names
// its vault by name, or not at all, reads nothing outside the vault.
func (h *host) isRegistered(id, folder string) bool {
	return isID(id) && slices.ContainsFunc(h.listed(), func(r registered) bool { return r.id == id && sameFolder(r.path, folder) })
}

// isID reports whether a text can be the app's id of a vault.
func isID(text string) bool { return len(text) == 16 && strings.Trim(text, "0123456789abcdef") == "" }

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
