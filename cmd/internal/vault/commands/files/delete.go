package files

import (
	"slices"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/session"
)

// remove knows one trash, that of the vault. The system's lies outside, where
// this process is locked out, and the app falls back to the vault's too where it
// cannot use that.
func remove(v *session.Vault, p grammar.Values) (command.Proposal, error) {
	t, err := v.Target(p)
	if err != nil {
		return command.Proposal{}, err
	}
	before, err := v.Disk.Read(t.Path)
	if err != nil {
		return command.Proposal{}, answer.ReadError(t.Typed, err)
	}
	var app struct {
		Trash string `json:"trashOption"`
	}
	if err := v.ReadConfig("app.json", &app); err != nil {
		return command.Proposal{}, err
	}
	gone := command.Step{Path: t.Path, Before: command.Existing(before), Trash: !p.Has("permanent") && app.Trash != "none"}
	said := "Deleted permanently: "
	if gone.Trash {
		said = "Moved to trash: "
	}
	planned := command.Proposal{Steps: []command.Step{gone}, Message: said + t.Path.String(), Note: t.Path}
	x, err := v.Index()
	if err != nil {
		return command.Proposal{}, err
	}
	if place := slices.IndexFunc(x.Files, func(f *index.File) bool { return f.Path == t.Path }); place >= 0 {
		for _, edge := range x.Graph().In(place) {
			if int(edge.Place) != place {
				planned.Broken.Add(x.Files[edge.Place].Path, int(edge.Count))
			}
		}
	}
	return planned, nil
}
