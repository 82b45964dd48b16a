package session

import (
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/disk/system"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/order"
)

// Listed is a file that [Vault.EachFile] visits. It can be asked during the visit alone.
type Listed struct {
	Path  disk.Path
	entry disk.Entry  // of a walk
	known *index.File // nil in a walk
	looks *disk.Stamper
}

// IsNote reports whether the file is a note by its extension.
func (l Listed) IsNote() bool { return l.Path.Ext() == "md" }

// Stamp returns the state of the file, with the errors of [disk.Folder.Open].
func (l Listed) Stamp() (system.Stamp, error) {
	switch {
	case l.known == nil:
		return l.entry.Stamp()
	case l.known.Stamp != system.Stamp{}:
		return l.known.Stamp, nil
	}
	return l.looks.Stamp(l.Path) // the index does not look into such a file
}

// EachFile visits the files below a folder. In a worker with an index that is up to date it
// looks at no folder, and visits them in the order of listings, as sorted says. The error is
// that of the disk; a folder that is not there is one.
func (v *Vault) EachFile(under disk.Path, visit func(Listed)) (sorted bool, err error) {
	return v.EachEntry(under, visit, nil)
}

// EachEntry is [Vault.EachFile] that visits the folders too, unless folder is nil.
func (v *Vault) EachEntry(under disk.Path, file func(Listed), folder func(path string)) (sorted bool, err error) {
	if files := v.indexedBelow(under); len(files) > 0 {
		looks := v.Disk.Stamper()
		defer looks.Close()
		for _, f := range files {
			file(Listed{Path: f.Path, known: f, looks: looks})
		}
		return true, v.eachFolder(under, folder)
	}
	// The index does not tell a folder without files from one that is not there.
	return false, v.Disk.Walk(under, func(e disk.Entry) {
		switch {
		case !e.IsDir:
			file(Listed{Path: e.Path, entry: e})
		case folder != nil:
			folder(e.Path.String())
		}
	})
}

// eachFolder visits the folders below one, as a worker knows them.
func (v *Vault) eachFolder(under disk.Path, visit func(path string)) error {
	if visit == nil {
		return nil
	}
	folders, err := v.Host.Knowledge.Folders(v.View())
	for _, path := range folders {
		if under == (disk.Path{}) || strings.HasPrefix(path, under.String()+"/") {
			visit(path)
		}
	}
	return err
}

// PathsBelow returns the paths of the wanted files below a folder as it was typed, in the
// order of listings. A folder that is not there is an error, although for the app it is an
// empty one: nobody can tell the two apart in an answer without rows.
func (v *Vault) PathsBelow(folder string, wanted func(Listed) bool) (found []string, err error) {
	sorted, err := v.EachFileBelow(folder, func(l Listed) {
		if wanted(l) {
			found = append(found, l.Path.String())
		}
	})
	if !sorted {
		order.Sort(found)
	}
	return found, err
}

// EachFileBelow is [Vault.EachFile] for a folder as it was typed. The error of one that is
// not there says so.
func (v *Vault) EachFileBelow(folder string, visit func(Listed)) (sorted bool, err error) {
	under, err := v.FolderOf(folder)
	if err != nil {
		return false, answer.FolderNotFound(folder)
	}
	if sorted, err = v.EachFile(under, visit); disk.IsMissing(err) {
		err = answer.FolderNotFound(folder)
	}
	return sorted, err
}

// IsThere returns the error of the disk if a folder is not there.
func (v *Vault) IsThere(folder disk.Path) error {
	if len(v.indexedBelow(folder)) > 0 {
		return nil
	}
	return v.Disk.Walk(folder, func(disk.Entry) {})
}

// indexedBelow returns the files below a folder in the order of listings, if there is an index
// that is up to date, and none otherwise.
func (v *Vault) indexedBelow(folder disk.Path) []*index.File {
	x, ok := v.Host.Knowledge.IndexIfMade(v.View())
	switch {
	case !ok:
		return nil
	case folder == disk.Path{}:
		return x.Files
	}
	var below []*index.File
	for _, f := range x.Files {
		if f.Path.Below(folder) {
			below = append(below, f)
		}
	}
	return below
}
