package vault

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/disk"
)

func baseCreateCommands() []command {
	return []command{{
		name: "base:create", about: "Add a note to a base",
		params: []param{
			{name: "file", hint: "name", about: "Base by its name, resolved like a link"},
			{name: "path", hint: "path", about: "Base by its path from the vault's folder"},
			{name: "view", hint: "name", about: "Has no effect without the app"},
			{name: "name", hint: "name", about: "Name of the note"},
			{name: "content", hint: "text", kind: content, about: "Its text"},
			{name: "open", kind: flag, about: "Has no effect without the app"},
			{name: "newtab", kind: flag, about: "Has no effect without the app"},
		},
		plan: createInBase, meant: meansAddedToBase,
	}}
}

// createInBase makes a note where new notes go. It does not fill in what the
// filters of a view ask for: the app does that in its window, and what the
// command does was never recorded. Like the app it takes every name of a view,
// puts a number behind a name that is taken, and confirms without the folder.
func createInBase(v *vault, p params) (proposal, error) {
	base, err := v.base(p)
	if err != nil {
		return proposal{}, err
	}
	if _, err := v.disk.Stat(base); disk.IsMissing(err) {
		return proposal{}, failure("Base file not found: %s", base)
	} else if err != nil {
		return proposal{}, unreadable(base.String(), err)
	}
	folder, err := v.itemFolder(base)
	if err != nil {
		return proposal{}, err
	}
	name := strings.TrimSuffix(cmp.Or(p["name"], "Untitled"), ".md")
	if strings.ContainsAny(name, `/\`) {
		return proposal{}, misuse("Invalid value for name: %s. It is a name without a folder.", p["name"])
	}
	made, err := v.free(path.Join(folder, name))
	if err != nil {
		return proposal{}, err
	}
	said := "Created: " + path.Base(made.String())
	return proposal{steps: []step{{path: made, after: holding([]byte(p["content"]))}}, said: said, note: made}, nil
}

// itemFolder returns the folder for new notes. That of the present note is that
// of the base.
func (v *vault) itemFolder(base disk.Path) (string, error) {
	var app struct {
		Location string `json:"newFileLocation"`
	}
	if err := v.config("app.json", &app); err != nil {
		return "", err
	}
	if app.Location == "current" {
		return strings.TrimPrefix(path.Dir("/"+base.String()), "/"), nil
	}
	return v.newFolder()
}

// maxNumbered is how many notes of one name are told apart by numbers.
const maxNumbered = 10_000

// free returns the path of a note that can be made: what is asked for, or the
// same with a number.
func (v *vault) free(asked string) (disk.Path, error) {
	for n := range maxNumbered {
		text := asked + ".md"
		if n > 0 {
			text = asked + " " + strconv.Itoa(n) + ".md"
		}
		made, err := v.pathOf(text)
		if err != nil {
			return disk.Path{}, failure("File %q cannot be made: %v.", verbatim(text), err)
		}
		if _, err := v.disk.Stat(made); errors.Is(err, fs.ErrNotExist) {
			return made, nil
		}
	}
	return disk.Path{}, failure("File %q already exists.", verbatim(asked+".md"))
}
