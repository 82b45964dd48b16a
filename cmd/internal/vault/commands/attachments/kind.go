package attachments

import "strings"

// kinds are the types of attachments with the extensions that the app opens as such.
var kinds = []struct{ name, extensions string }{
	{"image", "avif bmp gif jpeg jpg png svg webp"},
	{"audio", "flac m4a mp3 oga ogg opus wav"},
	{"video", "3gp mkv mov mp4 ogv webm"},
	{"pdf", "pdf"},
}

// other is the type of files that the app does not open.
const other = "other"

// kindOf returns the type of a file by its extension.
func kindOf(extension string) string {
	extension = strings.ToLower(extension)
	for _, k := range kinds {
		for known := range strings.FieldsSeq(k.extensions) {
			if known == extension {
				return k.name
			}
		}
	}
	return other
}

// isAttachment reports whether a file is no note, canvas or base.
func isAttachment(extension string) bool {
	return extension != "md" && extension != "canvas" && extension != "base"
}
