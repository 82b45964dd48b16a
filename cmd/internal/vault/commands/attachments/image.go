package attachments

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// shown are the media types of the images that clients show to a model.
var shown = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// marks are the bytes with which files of a type begin.
var marks = []struct {
	at         int
	text, kind string
}{
	{0, "\x89PNG\r\n\x1a\n", "image/png"}, {0, "\xff\xd8\xff", "image/jpeg"}, {0, "GIF87a", "image/gif"}, {0, "GIF89a", "image/gif"},
	{8, "WEBPVP8", "image/webp"}, {0, "BM", "image/bmp"}, {4, "ftypavif", "image/avif"}, {0, "%PDF-", "application/pdf"},
	{0, "PK\x03\x04", "application/zip"}, {0, "ID3", "audio/mpeg"}, {0, "OggS", "application/ogg"}, {0, "fLaC", "audio/flac"}, {0, "\x1a\x45\xdf\xa3", "video/webm"},
}

// marked returns the type of a file by the bytes with which it begins, "" if they say
// nothing.
func marked(text []byte) string {
	for _, m := range marks {
		if len(text) > m.at && bytes.HasPrefix(text[m.at:], []byte(m.text)) {
			return m.kind
		}
	}
	return ""
}

func isShown(kind string) bool { return slices.Contains(shown, kind) }

// dimensions returns the width and height of an image, "" for a format of which they are
// not known.
func dimensions(text []byte) string {
	var width, height int
	switch kind := marked(text); {
	case kind == "image/png" && len(text) >= 24:
		width, height = int(binary.BigEndian.Uint32(text[16:])), int(binary.BigEndian.Uint32(text[20:]))
	case kind == "image/gif" && len(text) >= 10:
		width, height = int(binary.LittleEndian.Uint16(text[6:])), int(binary.LittleEndian.Uint16(text[8:]))
	case kind == "image/jpeg":
		width, height = frameOf(text)
	}
	if width == 0 || height == 0 {
		return ""
	}
	return fmt.Sprintf(", %dx%d", width, height)
}

// frameOf returns the size of a JPEG, which is in the first segment that begins a frame.
func frameOf(text []byte) (width, height int) {
	const (
		header = 4 // marker and length
		frame  = 9 // up to behind the width
	)
	for at := 2; at+frame <= len(text) && text[at] == 0xff; {
		marker, size := text[at+1], int(binary.BigEndian.Uint16(text[at+2:]))
		if marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc {
			return int(binary.BigEndian.Uint16(text[at+header+3:])), int(binary.BigEndian.Uint16(text[at+header+1:]))
		}
		at += 2 + size
	}
	return 0, 0
}
