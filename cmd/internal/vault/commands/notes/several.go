package notes

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/edit"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/cmd/internal/vault/session"
)

// maxSeveral bounds the text of an answer with several notes: what is more
// fits no reader, and each note can be read by itself.
const maxSeveral = 4 << 20

// several prints notes one after the other, each under a heading with its
// path. One that is not there, cannot be read, or would make the answer too
// long keeps its heading, which says so. Of each note only the section of a heading is
// printed, if one is given.
func several(v *session.Vault, notes []disk.Path, section string) string {
	var out strings.Builder
	for _, note := range notes {
		text, remark := fitting(v, note, maxSeveral-out.Len())
		if section != "" && remark == "" {
			text, remark = sectionIn(text, section)
		}
		fmt.Fprintf(&out, "==> %s%s <==\n%s", note, remark, text)
		if len(text) > 0 && text[len(text)-1] != '\n' {
			out.WriteByte('\n')
		}
	}
	return out.String()
}

// fitting returns the text of a note if it has at most limit bytes, else what
// stands in its heading.
func fitting(v *session.Vault, note disk.Path, limit int) (text []byte, remark string) {
	info, err := v.Disk.Stat(note)
	switch {
	case err == nil && info.Size() > int64(limit):
		return nil, fmt.Sprintf(" (%d bytes, not shown)", info.Size())
	case err == nil:
		text, err = v.Disk.Read(note)
	}
	switch {
	case err == nil:
		return text, ""
	case disk.IsMissing(err):
		return nil, " (missing)"
	case errors.Is(err, fs.ErrPermission):
		return nil, " (cannot be read: permission denied)"
	}
	return nil, " (cannot be read)"
}

// sectionIn returns the section of a heading, or what stands in the heading
// of the note that has none, or several.
func sectionIn(text []byte, heading string) (section []byte, remark string) {
	found := markdown.Scan(text)
	i, err := edit.FindHeading(found, heading)
	var many *edit.Ambiguous
	switch {
	case errors.As(err, &many):
		return nil, fmt.Sprintf(" (has %d headings of that name)", many.Count)
	case err != nil:
		return nil, " (has no such heading)"
	}
	at := found.Section(i)
	return text[at.Start:at.End], ""
}
