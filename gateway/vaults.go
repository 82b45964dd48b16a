package gateway

import (
	"cmp"
	"slices"

	"vaultwicket/gateway/failure"
	"vaultwicket/gateway/registry"
)

// target is a vault as the two backends want it named.
type target struct {
	app    string // the value of vault= for the app, "" for the app's choice
	folder string // "" when not known
	appErr error  // why the app cannot be asked for this vault
}

// locate completes v from the app's list of vaults: a name or an id gets its
// folder, a folder gets the name by which the app knows it, or its id where the
// name is that of two vaults. An id goes before a folder, and a folder that the
// app knows before a name.
func (v Vault) locate(list []registry.Vault) target {
	if i := slices.IndexFunc(list, func(a registry.Vault) bool { return v.Folder != "" && registry.SameFolder(a.Folder, v.Folder) }); i >= 0 && v.ID == "" {
		v.Name = "" // it is what callers say, and the app may call another vault so
	}
	switch {
	case v.ID != "":
		return target{app: v.ID, folder: cmp.Or(v.Folder, folderOf(list, func(a registry.Vault) bool { return a.ID == v.ID }))}
	case v.Name != "":
		return target{app: v.Name, folder: cmp.Or(v.Folder, folderOf(list, func(a registry.Vault) bool { return a.Name() == v.Name }))}
	case v.Folder == "":
		return target{}
	}
	i := slices.IndexFunc(list, func(a registry.Vault) bool { return registry.SameFolder(a.Folder, v.Folder) })
	if i < 0 {
		return target{folder: v.Folder, appErr: failure.New(failure.CodeVaultNotFound, "the user can open the folder as a vault in Obsidian, or set backend to embedded",
			"the app does not know a vault in the folder %q", v.Folder)}
	}
	if folderOf(list, func(a registry.Vault) bool { return a.Name() == list[i].Name() }) == "" {
		return target{app: list[i].ID, folder: v.Folder} // two vaults of that name
	}
	return target{app: list[i].Name(), folder: v.Folder}
}

// folderOf returns the folder of the one vault that matches, "" if none or
// several do.
func folderOf(list []registry.Vault, match func(registry.Vault) bool) string {
	folder := ""
	for _, a := range list {
		if !match(a) {
			continue
		}
		if folder != "" {
			return ""
		}
		folder = a.Folder
	}
	return folder
}

// appVaults reads the app's list of vaults. Where there is none the app is asked by
// the name that was configured.
func appVaults(getenv func(string) string) []registry.Vault {
	if getenv == nil {
		return nil
	}
	return registry.Read(getenv)
}

// AppVaultFolders returns the folders of all vaults that the app knows. An agent
// may write into any of them.
func AppVaultFolders(getenv func(string) string) []string {
	var folders []string
	for _, v := range appVaults(getenv) {
		folders = append(folders, v.Folder)
	}
	return folders
}

// Vault is the vault all calls go to. The zero Vault is the one the app
// chooses.
type Vault struct {
	Name   string // as the app knows it
	ID     string // the app's id, 16 hex digits
	Folder string // absolute; lets the embedded program serve the vault
	// Pinned has the app say where its vault of that name or id lies, before
	// anything else is asked of it, and refuses when that is not Folder.
	Pinned bool
}

// Backend says which program is to answer.
type Backend string

const (
	// Auto is the official CLI where it is usable, else the embedded program
	// where the folder of the vault is known. The zero value means the same.
	Auto Backend = "auto"
	// App is the official CLI and nothing else.
	App Backend = "obsidian"
	// Embedded is this binary's own vault CLI and nothing else.
	Embedded Backend = "embedded"
)
