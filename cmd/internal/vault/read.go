package vault

import (
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/markdown"
)

// show replies with the text of a file.
func (v *vault) show(t target) (reply, error) {
	file, err := v.disk.Open(t.path)
	if err != nil {
		return reply{}, unreadable(t.typed, err)
	}
	if err := file.TooLarge(); err != nil {
		file.Close()
		return reply{}, err
	}
	return reply{body: file, note: t.path}, nil
}

// below returns the paths of the wanted entries below a folder, unsorted. For
// the app a folder that is not there is an empty one.
func (v *vault) below(folder string, wanted func(disk.Entry) bool) ([]string, error) {
	under, err := v.folderOf(folder)
	if err != nil {
		return nil, nil
	}
	var found []string
	err = v.disk.Walk(under, func(e disk.Entry) {
		if wanted(e) {
			found = append(found, e.Path.String())
		}
	})
	if disk.IsMissing(err) {
		return nil, nil
	}
	return found, err
}

// markdownNote reads the note that a request means, which has to be Markdown.
func (v *vault) markdownNote(p params) (t target, text []byte, err error) {
	if t, err = v.target(p); err != nil {
		return t, nil, err
	}
	if text, err = v.disk.Read(t.path); err != nil {
		return t, nil, unreadable(t.typed, err)
	}
	if t.path.Ext() != "md" {
		return t, nil, failure("File is not a markdown file.")
	}
	return t, text, nil
}

// scanned reads the note that a request means and looks through it. It needs
// no index: one note is read faster than a vault is looked at.
func (v *vault) scanned(p params) (text []byte, found markdown.Note, err error) {
	_, text, err = v.markdownNote(p)
	if err != nil {
		return nil, found, err
	}
	return text, markdown.Scan(text), nil
}

func isNote(e disk.Entry) bool { return !e.IsDir && e.Path.Ext() == "md" }
