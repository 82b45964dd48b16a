// Package registry reads the list that the Obsidian app keeps of its vaults.
package registry

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Vault is one of the list.
type Vault struct {
	ID     string
	Folder string  // absolute
	Opened float64 // when it was opened last, in milliseconds; 0 if the list does not say
}

// Name is what the app calls a vault: the last part of its folder.
func (v Vault) Name() string { return filepath.Base(v.Folder) }

// maxList bounds the file of the list in bytes. A vault takes some hundred.
const maxList = 1 << 20

// Read returns the vaults of the list in the environment env, the one that was
// opened last first, and of two with one id only that one. A list that is missing
// or broken has none.
func Read(env func(string) string) []Vault {
	var all []Vault
	for _, folder := range folders(env) {
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

func readFile(name string) []Vault {
	f := openRegular(name)
	if f == nil {
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

// openRegular opens a file, or the one that a link leads to, nil if it is not a
// regular one: to open a pipe would wait for a writer, and a device may never
// end. It looks before it opens and again afterwards, in case the name was given
// to something else in between.
func openRegular(name string) *os.File {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.OpenFile(name, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return nil
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil
	}
	return f
}

// folders returns where the app keeps its settings for all vaults: that of the
// plain installation first (help page "How Obsidian stores data"), then those of
// Flatpak and Snap, as seen in use.
func folders(env func(string) string) []string {
	home := env("HOME")
	switch runtime.GOOS {
	case "windows":
		return below(env("APPDATA"), "obsidian")
	case "darwin":
		return below(home, "Library/Application Support/obsidian")
	}
	plain := below(env("XDG_CONFIG_HOME"), "obsidian")
	if plain == nil {
		plain = below(home, ".config/obsidian")
	}
	return append(plain, below(home, ".var/app/md.obsidian.Obsidian/config/obsidian", "snap/obsidian/current/.config/obsidian")...)
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

// SameFolder reports whether two paths are those of one folder. Folders that are
// not there are the same by their names.
func SameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
