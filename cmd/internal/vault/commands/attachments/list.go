package attachments

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/session"
)

// file is one attachment.
type file struct {
	Path   string   `json:"path"`
	Type   string   `json:"type"`
	Size   int64    `json:"size"`
	UsedIn []string `json:"usedIn"` // notes and canvases that link to it or embed it
}

// maxUsers is how many notes a row of text names; JSON has all.
const maxUsers = 5

func list(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	found, err := find(v, p)
	switch {
	case err != nil:
		return answer.Reply{}, err
	case p.Has("total"):
		return answer.Text(strconv.Itoa(len(found))), nil
	case p["format"] == answer.FormatJSON:
		text, err := json.Marshal(found)
		return answer.Text(string(text)), err
	case len(found) == 0:
		return answer.Text("No attachments found."), nil
	}
	table := answer.Table{}
	for _, f := range found {
		users := strings.Join(f.UsedIn[:min(len(f.UsedIn), maxUsers)], ", ")
		if left := len(f.UsedIn) - maxUsers; left > 0 {
			users += fmt.Sprintf(" and %d more", left)
		}
		table.Rows = append(table.Rows, []string{f.Path, f.Type, strconv.FormatInt(f.Size, 10), users})
	}
	return table.Reply(answer.FormatTSV), nil
}

// find returns the attachments that a request is about, in the order of listings.
func find(v *session.Vault, p grammar.Values) ([]file, error) {
	under, err := v.FolderOf(p["folder"])
	if err != nil {
		return nil, answer.FolderNotFound(p["folder"])
	}
	x, err := v.Index()
	if err != nil {
		return nil, err
	}
	sizes, err := sizesBelow(v, under)
	if disk.IsMissing(err) {
		return nil, answer.FolderNotFound(p["folder"])
	}
	if err != nil {
		return nil, err
	}
	found := []file{}
	for place, f := range x.Files {
		size, below := sizes[f.Path.String()]
		if !below || p.Has("type") && kindOf(f.Path.Ext()) != p["type"] {
			continue
		}
		users := usersOf(x, place)
		if !p.Has("unused") || len(users) == 0 {
			found = append(found, file{Path: f.Path.String(), Type: kindOf(f.Path.Ext()), Size: size, UsedIn: users})
		}
	}
	return found, nil
}

// sizesBelow returns the sizes of the attachments below a folder by their paths.
func sizesBelow(v *session.Vault, under disk.Path) (map[string]int64, error) {
	sizes := map[string]int64{}
	err := v.Disk.Walk(under, func(e disk.Entry) {
		if !e.IsDir && isAttachment(e.Path.Ext()) {
			sizes[e.Path.String()] = e.Size()
		}
	})
	return sizes, err
}

// usersOf are the files that link to a file or embed it.
func usersOf(x *index.Index, place int) []string {
	users := []string{}
	for _, in := range x.Graph().In(place) {
		users = append(users, x.Files[in.Place].Path.String())
	}
	return users
}
