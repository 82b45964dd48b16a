// Package appvaults reads the list that the Obsidian app keeps of its vaults.
package appvaults

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// Vault is one of the list.
type Vault struct {
	ID     string
	Folder string  // absolute
	Opened float64 // when it was opened last, in milliseconds; 0 if unknown
}

// Name is what the app calls a vault: the last part of its folder.
func (v Vault) Name() string { return filepath.Base(v.Folder) }

// maxList bounds the file of the list in bytes. A vault takes some hundred.
const maxList = 1 << 20

// Read returns the vaults of the list in the environment env, the one that was opened last first,
// and of two with one id only that one. A list that is missing or broken has none.
func Read(env func(string) string) []Vault {
	// Where the app has its settings for all vaults: that of the plain installation first (help page "How
	// Obsidian stores data"), then those of Flatpak and Snap, as seen in use.
	var places []string
	switch runtime.GOOS {
	case "windows":
		places = below(ownerfiles.RoamingData(env), "obsidian")
	case "darwin":
		places = below(env("HOME"), "Library/Application Support/obsidian")
	default:
		if places = below(env("XDG_CONFIG_HOME"), "obsidian"); places == nil {
			places = below(env("HOME"), ".config/obsidian")
		}
		places = append(
			places,
			below(
				env("HOME"),
				".var/app/md.obsidian.Obsidian/config/obsidian",
				"snap/obsidian/current/.config/obsidian",
			)...)
	}
	var all []Vault
	for _, folder := range places {
		all = append(all, readFile(filepath.Join(folder, "obsidian.json"))...)
	}
	slices.SortFunc(all, func(a, b Vault) int {
		return cmp.Or(cmp.Compare(b.Opened, a.Opened), cmp.Compare(a.Folder, b.Folder), cmp.Compare(a.ID, b.ID))
	})
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(v Vault) bool {
		known := seen[v.ID]
		seen[v.ID] = true
		return known
	})
}

// readFile returns the vaults in a file, or the target of a link.
func readFile(name string) []Vault {
	f, err := ownerfiles.OpenRegular(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	var content struct {
		Vaults map[string]struct {
			Path string  `json:"path"`
			TS   float64 `json:"ts"`
		} `json:"vaults"`
	}
	if json.NewDecoder(io.LimitReader(f, maxList)).Decode(&content) != nil {
		return nil
	}
	var list []Vault
	for id, v := range content.Vaults {
		if filepath.IsAbs(v.Path) {
			list = append(list, Vault{ID: id, Folder: filepath.Clean(v.Path), Opened: v.TS})
		}
	}
	return list
}

func below(base string, names ...string) []string {
	if base == "" {
		return nil
	}
	var list []string
	for _, name := range names {
		list = append(list, filepath.Join(base, filepath.FromSlash(name)))
	}
	return list
}

// IsID reports whether a text has the form of the id of a vault.
func IsID(text string) bool {
	return len(text) == 16 && strings.Trim(text, "0123456789abcdef") == ""
}

// SameFolder reports whether two paths are those of one folder. Folders that do not exist are
// compared by name.
func SameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// Wanted is a vault as the settings name it, by one or more of the three. The zero Wanted
// is the one that the app chooses.
type Wanted struct {
	Name   string // as the app knows it
	ID     string // the app's id, see [IsID]
	Folder string // absolute
}

// Place is a vault as the two programs want it named.
type Place struct {
	App    string // the value of vault= for the app, "" for the app's choice
	Folder string // "" when not known
	// Unlisted says that the app does not know a vault in the folder, so that it cannot be asked.
	Unlisted bool
}

// Locate completes what is known of a vault from the app's list: a name or an id gets its folder,
// a folder the name by which the app knows it, or its id if two vaults have that name. An id takes
// precedence over a folder, and a folder that the app knows over a name. Without a list the app is
// asked by the wanted name.
func Locate(list []Vault, w Wanted) Place {
	at := slices.IndexFunc(list, func(v Vault) bool { return w.Folder != "" && SameFolder(v.Folder, w.Folder) })
	if at >= 0 && w.ID == "" {
		w.Name = "" // it is what callers say, and the app may call another vault so
	}
	switch {
	case w.ID != "":
		return Place{App: w.ID, Folder: cmp.Or(w.Folder, folderOf(list, func(v Vault) bool { return v.ID == w.ID }))}
	case w.Name != "":
		return Place{
			App:    w.Name,
			Folder: cmp.Or(w.Folder, folderOf(list, func(v Vault) bool { return v.Name() == w.Name })),
		}
	case w.Folder == "":
		return Place{}
	case at < 0:
		return Place{Folder: w.Folder, Unlisted: true}
	}
	if folderOf(list, func(v Vault) bool { return v.Name() == list[at].Name() }) == "" {
		return Place{App: list[at].ID, Folder: w.Folder} // two vaults of that name
	}
	return Place{App: list[at].Name(), Folder: w.Folder}
}

// folderOf returns the folder of the one vault that matches, "" if none or several do.
func folderOf(list []Vault, match func(Vault) bool) string {
	matching := slices.DeleteFunc(slices.Clone(list), func(v Vault) bool { return !match(v) })
	if len(matching) != 1 {
		return ""
	}
	return matching[0].Folder
}

// VaultFolders returns the folders of the vaults of the list in the environment env. An
// agent may write into any of them.
func VaultFolders(env func(string) string) []string {
	var list []string
	for _, v := range Read(env) {
		list = append(list, v.Folder)
	}
	return list
}
