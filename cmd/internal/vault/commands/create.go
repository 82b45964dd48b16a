package commands

import (
	"path"
	"slices"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/edit"
)

// create refuses a taken path, where the app makes a numbered copy: a caller that
// named a path means that note. Text that is given follows that of a template.
func create(v *command.Vault, p command.Values) (command.Proposal, error) {
	made, err := newPath(v, p)
	if err != nil {
		return command.Proposal{}, err
	}
	before, err := command.ShownState(v, made)
	if err != nil {
		return command.Proposal{}, command.WriteError(made.String(), err)
	}
	if before.Exists && !p.Has("overwrite") {
		return command.Proposal{}, command.AlreadyExists.Failure("File %q already exists.", command.Verbatim(made.String()))
	}
	text := []byte(p["content"])
	if p.Has("template") {
		if text, err = fromTemplate(v, p["template"], made.Stem()); err != nil {
			return command.Proposal{}, err
		}
		if p.Has("content") {
			text = edit.Append(text, p["content"], false)
		}
	}
	said := "Created: "
	if before.Exists {
		said = "Overwrote: "
	}
	return command.Proposal{Steps: []command.Step{{Path: made, Before: before, After: command.Existing(text)}}, Message: said + made.String(), Note: made, Replaces: before.Exists}, nil
}

// newPath returns where a new file goes: path= as it is, name= into the folder
// for new notes.
func newPath(v *command.Vault, p command.Values) (disk.Path, error) {
	text, typed := p["path"], p["path"]
	switch {
	case p.Has("path") && p.Has("name"):
		return disk.Path{}, command.Misuse("Use name=<name> or path=<path>, not both.")
	case p.Has("name"):
		folder, err := newFolder(v)
		if err != nil {
			return disk.Path{}, err
		}
		typed = p["name"]
		text = path.Join(folder, p["name"])
	case !p.Has("path"):
		return disk.Path{}, command.Misuse("Missing required parameter: path=<path> or name=<name>")
	}
	switch kind := allowlist.FileKind(strings.TrimPrefix(path.Ext(text), ".")); kind {
	case "image", "audio", "video", "pdf": // the name means a file, and not a note such as "v1.2 notes"
		return disk.Path{}, command.BadValue.Advise(allowlist.ServesKind(kind)).Failure("File %q is not a note: no text is written into it.", command.Verbatim(typed))
	}
	if !slices.Contains(kept, path.Ext(text)) {
		if at, err := v.PathOf(text); err == nil && slices.Contains(kept, path.Ext(at.String())) {
			return at, nil // a note that is there, with its extension in another case
		}
		text += ".md"
	}
	made, err := v.PathOf(text)
	if err != nil {
		return disk.Path{}, command.Failure("File %q cannot be created: %v.", command.Verbatim(typed), err)
	}
	return made, nil
}

// newFolder returns the folder for new notes, "" for that of the vault. The one
// of the focused note, which can be set too, takes a note that is focused.
func newFolder(v *command.Vault) (string, error) {
	var app struct {
		Location string `json:"newFileLocation"`
		Folder   string `json:"newFileFolderPath"`
	}
	if err := v.ReadConfig("app.json", &app); err != nil {
		return "", err
	}
	switch app.Location {
	case "folder":
		return command.NormalPath(app.Folder), nil
	case "current":
		if active, err := v.ActiveNote(); err == nil && strings.Contains(active, "/") {
			return path.Dir(active), nil
		}
	}
	return "", nil
}
