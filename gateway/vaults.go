package gateway

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// target is a vault as the two backends want it named.
type target struct {
	app    string // what stands behind vault= for the app, "" for the app's choice
	folder string // "" when not known
	appErr error  // why the app cannot be asked for this vault
}

// appVault is one entry of the app's list.
type appVault struct{ id, folder string }

func (v appVault) name() string { return filepath.Base(v.folder) }

// locate completes v from the app's list of vaults: a name or an id gets its
// folder, a folder gets the name by which the app knows it, or its id where the
// name stands for two vaults. An id goes before a folder, and a folder that the
// app knows before a name.
func (v Vault) locate(list []appVault) target {
	if i := slices.IndexFunc(list, func(a appVault) bool { return v.Folder != "" && sameFolder(a.folder, v.Folder) }); i >= 0 && v.ID == "" {
		v.Name = "" // it is what callers say, and the app may call another vault so
	}
	switch {
	case v.ID != "":
		return target{app: v.ID, folder: firstOf(v.Folder, folderOf(list, func(a appVault) bool { return a.id == v.ID }))}
	case v.Name != "":
		return target{app: v.Name, folder: firstOf(v.Folder, folderOf(list, func(a appVault) bool { return a.name() == v.Name }))}
	case v.Folder == "":
		return target{}
	}
	i := slices.IndexFunc(list, func(a appVault) bool { return sameFolder(a.folder, v.Folder) })
	if i < 0 {
		return target{folder: v.Folder, appErr: &RequestError{
			code: codeVaultNotFound, reason: fmt.Sprintf("the app does not know a vault in the folder %q", v.Folder),
			hint: "open the folder as a vault in Obsidian, or use --backend embedded",
		}}
	}
	if folderOf(list, func(a appVault) bool { return a.name() == list[i].name() }) == "" {
		return target{app: list[i].id, folder: v.Folder} // two vaults of that name
	}
	return target{app: list[i].name(), folder: v.Folder}
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// folderOf returns the folder of the one vault that matches, "" if none or
// several do.
func folderOf(list []appVault, match func(appVault) bool) string {
	folder := ""
	for _, a := range list {
		if !match(a) {
			continue
		}
		if folder != "" {
			return ""
		}
		folder = a.folder
	}
	return folder
}

func sameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

const maxAppList = 1 << 20 // the app's list is some hundred bytes a vault

// appVaults reads the app's list of vaults. A list that is missing or broken
// is no list: the app is then asked by the name that was configured.
func appVaults(getenv func(string) string) []appVault {
	if getenv == nil {
		return nil
	}
	var list []appVault
	for _, folder := range appConfigFolders(getenv) {
		list = append(list, readAppList(filepath.Join(folder, "obsidian.json"))...)
	}
	slices.SortFunc(list, func(a, b appVault) int { return strings.Compare(a.id, b.id) })
	return slices.CompactFunc(list, func(a, b appVault) bool { return a.id == b.id })
}

// AppVaultFolders returns the folders of all vaults that the app knows. An agent
// may write into any of them.
func AppVaultFolders(getenv func(string) string) []string {
	var folders []string
	for _, v := range appVaults(getenv) {
		folders = append(folders, v.folder)
	}
	return folders
}

func readAppList(file string) []appVault {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	var content struct {
		Vaults map[string]struct {
			Path string `json:"path"`
		} `json:"vaults"`
	}
	if json.NewDecoder(io.LimitReader(f, maxAppList)).Decode(&content) != nil {
		return nil
	}
	var list []appVault
	for id, vault := range content.Vaults {
		if filepath.IsAbs(vault.Path) {
			list = append(list, appVault{id: id, folder: filepath.Clean(vault.Path)})
		}
	}
	return list
}

// appConfigFolders returns where the app keeps its global settings (help page
// "How Obsidian stores data"; the Flatpak and Snap places as seen in use).
func appConfigFolders(getenv func(string) string) []string {
	home := getenv("HOME")
	switch runtime.GOOS {
	case "windows":
		return below(getenv("APPDATA"), "Obsidian")
	case "darwin":
		return below(home, "Library/Application Support/obsidian")
	}
	folders := below(getenv("XDG_CONFIG_HOME"), "obsidian")
	if len(folders) == 0 {
		folders = below(home, ".config/obsidian")
	}
	return append(folders, below(home, ".var/app/md.obsidian.Obsidian/config/obsidian", "snap/obsidian/current/.config/obsidian")...)
}

func below(base string, names ...string) []string {
	if base == "" {
		return nil
	}
	var folders []string
	for _, b := range names {
		folders = append(folders, filepath.Join(base, filepath.FromSlash(b)))
	}
	return folders
}
