package vault

func deleteCommands() []command {
	return []command{{
		name: "delete", about: "Move a file to the trash, or delete it for good",
		params: append(targetParams(), param{name: "permanent", kind: flag, about: "Delete it for good"}),
		plan:   remove,
	}}
}

// remove knows one trash, that of the vault. The system's lies outside, where
// this process is locked out, and the app falls back to the vault's too where it
// cannot use that.
func remove(v *vault, p params) (proposal, error) {
	t, err := v.target(p)
	if err != nil {
		return proposal{}, err
	}
	before, err := v.disk.Read(t.path)
	if err != nil {
		return proposal{}, unreadable(t.typed, err)
	}
	var app struct {
		Trash string `json:"trashOption"`
	}
	if err := v.config("app.json", &app); err != nil {
		return proposal{}, err
	}
	gone := step{path: t.path, before: holding(before), trash: !p.has("permanent") && app.Trash != "none"}
	said := "Deleted permanently: "
	if gone.trash {
		said = "Moved to trash: "
	}
	return proposal{steps: []step{gone}, said: said + t.path.String(), note: t.path}, nil
}
