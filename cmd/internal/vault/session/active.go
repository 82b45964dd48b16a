package session

import (
	"encoding/json"

	"vaultwicket/cmd/internal/vault/answer"
)

// ActiveNote returns the path of the focused note. Whether there is one is not
// looked at, but one that is not to be seen is not focused.
func (v *Vault) ActiveNote() (string, error) {
	active, err := v.recordedActive()
	if err == nil && !v.Sees(active) {
		return "", answer.NoActiveFile()
	}
	return active, err
}

func (v *Vault) recordedActive() (string, error) {
	if v.active != "" {
		return v.active, nil
	}
	// The record is the app's own scratch file. One that is missing or that
	// cannot be understood means that nothing is known to be open.
	text, err := v.Disk.Config("workspace.json")
	if err != nil {
		return "", answer.NoActiveFile()
	}
	var space workspace
	if json.Unmarshal(text, &space) != nil || space.Active == "" {
		return "", answer.NoActiveFile()
	}
	for _, side := range []pane{space.Main, space.Left, space.Right, space.Floating} {
		if leaf := side.find(space.Active); leaf != nil && leaf.State.State.File != "" {
			return leaf.State.State.File, nil
		}
	}
	return "", answer.NoActiveFile()
}

// workspace is the part of workspace.json that says what is focused.
type workspace struct {
	Active                      string
	Main, Left, Right, Floating pane
}

// pane is a node of the window's layout; a leaf holds a view.
type pane struct {
	ID       string
	Children []pane
	State    struct{ State struct{ File string } }
}

func (p *pane) find(id string) *pane {
	if p.ID == id {
		return p
	}
	for i := range p.Children {
		if found := p.Children[i].find(id); found != nil {
			return found
		}
	}
	return nil
}
