package session

import (
	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/markdown"
)

// Show replies with the text of a file.
func (v *Vault) Show(t Target) (answer.Reply, error) {
	file, err := v.Disk.Open(t.Path)
	if err != nil {
		return answer.Reply{}, answer.ReadError(t.Typed, err)
	}
	if err := file.TooLarge(); err != nil {
		file.Close()
		return answer.Reply{}, err
	}
	return answer.Reply{Body: file, Note: t.Path}, nil
}

// PathsBelow returns the paths of the wanted entries below a folder as it was typed,
// unsorted. A folder that is not there is an error, although for the app it is an
// empty one: nobody can tell the two apart in an answer without rows.
func (v *Vault) PathsBelow(folder string, wanted func(disk.Entry) bool) ([]string, error) {
	under, err := v.FolderOf(folder)
	if err != nil {
		return nil, answer.FolderNotFound(folder)
	}
	found, err := v.PathsIn(under, wanted)
	if disk.IsMissing(err) {
		return nil, answer.FolderNotFound(folder)
	}
	return found, err
}

// PathsIn is [Vault.PathsBelow] for the path of a folder. The error of one that is not
// there is that of the disk.
func (v *Vault) PathsIn(folder disk.Path, wanted func(disk.Entry) bool) (found []string, err error) {
	err = v.Disk.Walk(folder, func(e disk.Entry) {
		if wanted(e) {
			found = append(found, e.Path.String())
		}
	})
	return found, err
}

// MarkdownNote reads the note that a request means, which has to be Markdown.
func (v *Vault) MarkdownNote(p grammar.Values) (t Target, text []byte, err error) {
	if t, err = v.Target(p); err != nil {
		return t, nil, err
	}
	if text, err = v.Disk.Read(t.Path); err != nil {
		return t, nil, answer.ReadError(t.Typed, err)
	}
	if t.Path.Ext() != "md" {
		return t, nil, answer.Failure("File is not a markdown file.")
	}
	return t, text, nil
}

// ScannedNote reads the note that a request means and looks through it. It needs
// no index: one note is read faster than a vault is looked at.
func (v *Vault) ScannedNote(p grammar.Values) (text []byte, found markdown.Note, err error) {
	_, text, err = v.MarkdownNote(p)
	if err != nil {
		return nil, found, err
	}
	return text, markdown.Scan(text), nil
}

// IsNote reports whether an entry of a folder is a note by its extension.
func IsNote(e disk.Entry) bool { return !e.IsDir && e.Path.Ext() == "md" }
