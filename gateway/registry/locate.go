package registry

import (
	"cmp"
	"slices"
)

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
	// Unlisted says that the app does not know a vault in the folder, so that it cannot
	// be asked.
	Unlisted bool
}

// Locate completes what is known of a vault from the app's list: a name or an id gets its
// folder, a folder gets the name by which the app knows it, or its id where the
// name is that of two vaults. An id goes before a folder, and a folder that the
// app knows before a name. Where there is no list the app is asked by the name that is
// wanted.
func Locate(list []Vault, w Wanted) Place {
	at := slices.IndexFunc(list, func(v Vault) bool { return w.Folder != "" && SameFolder(v.Folder, w.Folder) })
	if at >= 0 && w.ID == "" {
		w.Name = "" // it is what callers say, and the app may call another vault so
	}
	switch {
	case w.ID != "":
		return Place{App: w.ID, Folder: cmp.Or(w.Folder, folderOf(list, func(v Vault) bool { return v.ID == w.ID }))}
	case w.Name != "":
		return Place{App: w.Name, Folder: cmp.Or(w.Folder, folderOf(list, func(v Vault) bool { return v.Name() == w.Name }))}
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

// folderOf returns the folder of the one vault that matches, "" if none or
// several do.
func folderOf(list []Vault, match func(Vault) bool) string {
	folder := ""
	for _, v := range list {
		if !match(v) {
			continue
		}
		if folder != "" {
			return ""
		}
		folder = v.Folder
	}
	return folder
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
