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
	space, name, found := strings.Cut(id, ".")
	if space != "file" && space != "formula" && space != "note" || !found {
		space, name, found = "note", id, true
	}
	switch {
	case b.Labels[space+"."+name] != "":
		return b.Labels[space+"."+name]
	case space == "file" && fileLabels[name] != "":
		return fileLabels[name]
	case space == "note" && b.Labels[name] != "":
		return b.Labels[name]
	}
	return name
}
