package attachments

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
)

const (
	// maxImage is the size of the largest image that is shown. Models take images of a
	// few megabytes, and as text in a message each is a third larger.
	maxImage = 2 << 20
	maxText  = 16 << 20 // what is kept of an answer
)

// read prints a text as it is. Of an image it prints a line about it and a line with its
// bytes, which the gateway hands to the client as an image. Of any other file it tells
// the type and the size.
func read(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	t, err := v.Target(p)
	if err != nil {
		return answer.Reply{}, err
	}
	info, err := v.Disk.Stat(t.Path)
	if err != nil {
		return answer.Reply{}, answer.ReadError(t.Typed, err)
	}
	size := info.Size()
	if size > maxText {
		return answer.Text(fmt.Sprintf("%s, %d bytes: too large to be read", promised(t.Path), size)), nil
	}
	text, err := v.Disk.Read(t.Path)
	if err != nil {
		return answer.Reply{}, answer.ReadError(t.Typed, err)
	}
	kind := mediaType(t.Path, text)
	switch {
	case isText(text):
		return answer.FromNote(t.Path, text, string(text)), nil
	case !isShown(kind):
		return answer.FromNote(t.Path, text, fmt.Sprintf("%s, %d bytes: not a text, and not an image that can be shown", kind, len(text))), nil
	case len(text) > maxImage:
		return answer.FromNote(t.Path, text, fmt.Sprintf("%s%s, %d bytes: images of up to %d bytes are shown", kind, dimensions(text), len(text), maxImage)), nil
	}
	said := answer.FromNote(t.Path, text, fmt.Sprintf("%s%s, %d bytes", kind, dimensions(text), len(text)))
	if v.ForGateway {
		said.Text += "\n" + base64.StdEncoding.EncodeToString(text)
		said.Image = kind
	}
	return said, nil
}

// isText reports whether a file can be printed: it is valid UTF-8 without control
// characters of binary files.
func isText(text []byte) bool {
	return utf8.Valid(text) && bytes.IndexByte(text, 0) < 0
}

// mediaType returns the type of a file by what it contains, or by its name where that
// says nothing.
func mediaType(path disk.Path, text []byte) string {
	return cmp.Or(marked(text), promised(path))
}

// promised returns the type that the name of a file promises.
func promised(path disk.Path) string {
	extension := strings.ToLower(path.Ext())
	switch kind := kindOf(extension); {
	case kind == "pdf":
		return "application/pdf"
	case kind == other:
		return "application/octet-stream"
	default:
		return kind + "/" + extension
	}
}
