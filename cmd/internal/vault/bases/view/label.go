package view

import "strings"

// fileLabels are the words of the app for the fields of a file; those that are not
// here stand for themselves.
var fileLabels = map[string]string{
	"name": "file name", "basename": "file base name", "fullname": "file full name", "path": "file path", "folder": "folder", "ext": "file extension",
	"size": "file size", "ctime": "created time", "mtime": "modified time", "tags": "file tags", "links": "file links", "embeds": "file embeds",
	"backlinks": "file backlinks", "properties": "properties", "file": "file",
}

// Label returns what is written above a column: the display name of the property,
// else the word of the app, else its name.
func (b *Base) Label(id string) string {
	if label, ok := b.Labels[id]; ok {
		return label
	}
	space, name, found := strings.Cut(id, ".")
	switch {
	case found && space == "file":
		if label, ok := fileLabels[name]; ok {
			return label
		}
		return name
	case found && (space == "note" || space == "formula"):
		if label, ok := b.Labels[name]; ok && space == "note" {
			return label
		}
		return name
	}
	if label, ok := b.Labels["note."+id]; ok {
		return label
	}
	return id
}
