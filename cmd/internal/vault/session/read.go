package session

import (
	"vaultwicket/cmd/internal/vault/answer"
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
