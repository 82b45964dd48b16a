package allowlist

import (
	"path"
	"slices"
	"strings"
)

// fileKinds are the kinds of files with the extensions that the app opens as such (help page
// "Accepted file formats").
var fileKinds = []struct{ name, extensions string }{
	{"note", "md"}, {"canvas", "canvas"}, {"base", "base"},
	{"image", "avif bmp gif jpeg jpg png svg webp"},
	{"audio", "flac m4a mp3 oga ogg opus wav"},
	{"video", "3gp mkv mov mp4 ogv webm"},
	{"pdf", "pdf"},
}

// FileKind returns the kind of a file by its extension, without the dot and in any case: note,
// canvas, base, image, audio, video, pdf, or other.
func FileKind(extension string) string {
	extension = strings.ToLower(extension)
	for _, k := range fileKinds {
		for known := range strings.FieldsSeq(k.extensions) {
			if known == extension {
				return k.name
			}
		}
	}
	return "other"
}

// ServesKind returns a hint that names the commands for a kind of file that is no note.
func ServesKind(kind string) string {
	switch kind {
	case "canvas":
		return "canvas:read shows a canvas; canvas:add, canvas:set, canvas:connect and canvas:remove change it"
	case "base":
		return "base:query answers a base; base:add-view, base:set-view, base:set-formula and base:remove-view change it"
	case "pdf":
		return "attachment:text prints the text of a PDF; attachment:write replaces the file"
	case "image":
		return "attachment:read shows an image; attachment:write replaces the file"
	}
	return "attachment:text prints a text, attachment:read tells the type and size of another file; attachment:write replaces it"
}

// TextInto returns the kind of the file into which the call puts text, as far as its name tells;
// note for every other call.
func (c Call) TextInto() string {
	if c.row == nil || !slices.ContainsFunc(c.row.params, func(p param) bool { return p.kind == kindContent }) {
		return "note"
	}
	for _, a := range c.args {
		if a.key == "path" || a.key == "file" || a.key == "name" {
			if kind := FileKind(strings.TrimPrefix(path.Ext(a.value), ".")); kind != "other" {
				return kind
			}
		}
	}
	return "note"
}
