// Package appvaults reads the list of vaults that the Obsidian app maintains, and converts its paths
// for systems on which the app does not run itself.
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

// Vault is an entry of the app's list.
type Vault struct {
	ID     string
	Folder string  // absolute
	Opened float64 // when it was last opened, in milliseconds since 1970; 0 if unknown
}

// Name returns the name that the app shows for the vault: the last element of its folder.
func (v Vault) Name() string { return filepath.Base(v.Folder) }

// maxList is the maximum number of bytes to read of a list. A vault takes about a hundred.
const maxList = 1 << 20

// Read returns the vaults in the app's list, the last opened first. env returns environment
// variables, which determine where the list is. If two entries have the same id, only the one that
// was opened last is returned. A missing or invalid list counts as empty.
func Read(env func(string) string) []Vault {
	// The folders of the app's global settings: that of a plain installation first (see the help page
	// "How Obsidian stores data"), then those of Flatpak and Snap, as observed on installations.
	var folders []string
	switch runtime.GOOS {
	case "windows":
		folders = joinAll(ownerfiles.RoamingData(env), "obsidian")
	case "darwin":
		folders = joinAll(env("HOME"), "Library/Application Support/obsidian")
	default:
		folders = joinAll(env("XDG_CONFIG_HOME"), "obsidian")
		if folders == nil {
			folders = joinAll(env("HOME"), ".config/obsidian")
		}
		flatpakAndSnap := joinAll(
			env("HOME"),
			".var/app/md.obsidian.Obsidian/config/obsidian",
			"snap/obsidian/current/.config/obsidian",
		)
		folders = append(folders, flatpakAndSnap...)
	}
	var vaults []Vault
	for _, folder := range folders {
		vaults = append(vaults, readFile(filepath.Join(folder, "obsidian.json"))...)
	}
	slices.SortFunc(vaults, func(a, b Vault) int {
		return cmp.Or(cmp.Compare(b.Opened, a.Opened), cmp.Compare(a.Folder, b.Folder), cmp.Compare(a.ID, b.ID))
	})
	seen := map[string]bool{}
	return slices.DeleteFunc(vaults, func(v Vault) bool {
		isDuplicate := seen[v.ID]
		seen[v.ID] = true
		return isDuplicate
	})
}

// readFile returns the vaults in a list. It follows a symbolic link.
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

// joinAll returns the paths of names below base, nil if base is "".
func joinAll(base string, names ...string) []string {
	if base == "" {
		return nil
	}
	var list []string
	for _, name := range names {
		list = append(list, filepath.Join(base, filepath.FromSlash(name)))
	}
	return list
}

// IsID reports whether text has the form of a vault id: 16 hexadecimal digits.
func IsID(text string) bool {
	return len(text) == 16 && strings.Trim(text, "0123456789abcdef") == ""
}

// SameFolder reports whether two paths lead to the same folder. Paths that do not exist are compared
// as text.
func SameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// Wanted identifies a vault in the settings, by one or more of its fields. The zero Wanted stands for
// the vault that the app chooses.
type Wanted struct {
	Name   string // as the app knows it
	ID     string // the app's id, see [IsID]
	Folder string // absolute
}

// Place identifies a vault for the app and for the embedded CLI.
type Place struct {
	App    string // the value of vault= for the app, "" to let the app choose
	Folder string // "" if unknown
	// Unlisted reports that the folder is not in the app's list, so that the app cannot be used for it.
	Unlisted bool
}

// Locate completes w from the app's list: it looks up the folder for a name or an id, and for a
// folder the name that the app uses, or the id if two vaults have that name. An id takes precedence
// over a folder, and a folder in the list takes precedence over a name. If the list is empty, the
// wanted name is used for the app.
func Locate(list []Vault, w Wanted) Place {
	at := slices.IndexFunc(list, func(v Vault) bool { return w.Folder != "" && SameFolder(v.Folder, w.Folder) })
	if at >= 0 && w.ID == "" {
		w.Name = "" // the name that our callers use; the app may use it for another vault
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
		return Place{App: list[at].ID, Folder: w.Folder} // two vaults have that name
	}
	return Place{App: list[at].Name(), Folder: w.Folder}
}

// folderOf returns the folder of the only vault that matches, "" if none or several do.
func folderOf(list []Vault, match func(Vault) bool) string {
	matching := slices.DeleteFunc(slices.Clone(list), func(v Vault) bool { return !match(v) })
	if len(matching) != 1 {
		return ""
	}
	return matching[0].Folder
}

// VaultFolders returns the folders of all vaults in the app's list, see [Read]. An agent may be able
// to write to any of them.
func VaultFolders(env func(string) string) []string {
	var list []string
	for _, v := range Read(env) {
		list = append(list, v.Folder)
	}
	return list
}
