package attachments

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/order"
	"vaultwicket/cmd/internal/vault/session"
)

// file is one attachment.
type file struct {
	path, kind string
	size       int64
	users      []string // the notes and canvases that link to it or embed it
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
		return inJSON(found), nil
	case len(found) == 0:
		return answer.Text("No attachments found."), nil
	}
	table := answer.Table{}
	for _, f := range found {
		users := strings.Join(f.users[:min(len(f.users), maxUsers)], ", ")
		if left := len(f.users) - maxUsers; left > 0 {
			users += fmt.Sprintf(" and %d more", left)
		}
		table.Rows = append(table.Rows, []string{f.path, f.kind, strconv.FormatInt(f.size, 10), users})
	}
	return table.Reply(answer.FormatTSV), nil
}

// find returns the attachments that a request is about, in the order of listings.
func find(v *session.Vault, p grammar.Values) ([]file, error) {
	x, err := v.Index()
	if err != nil {
		return nil, err
	}
	var found []file
	sorted, err := v.EachFileBelow(p["folder"], func(l session.Listed) {
		extension := l.Path.Ext()
		if !isAttachment(extension) || p.Has("type") && kindOf(extension) != p["type"] {
			return
		}
		place, ok := x.Place(l.Path.String())
		if !ok || p.Has("unused") && len(x.Graph().In(place)) > 0 {
			return
		}
		f := file{path: l.Path.String()}
		if !p.Has("total") {
			stamp, err := l.Stamp()
			if err != nil {
				return // it is gone by now
			}
			f.kind, f.size, f.users = kindOf(extension), stamp.Size, usersOf(x, place)
		}
		found = append(found, f)
	})
	if !sorted {
		slices.SortFunc(found, func(a, b file) int { return order.Compare(a.path, b.path) })
	}
	return found, err
}

// usersOf are the files that link to a file or embed it.
func usersOf(x *index.Index, place int) []string {
	var users []string
	for _, in := range x.Graph().In(place) {
		users = append(users, x.Files[in.Place].Path.String())
	}
	return users
}

// inJSON prints an array of objects, and [] for no files.
func inJSON(found []file) answer.Reply {
	if len(found) == 0 {
		return answer.Text("[]")
	}
	return answer.Rows(len(found), func(b []byte, row int) []byte {
		f := found[row]
		b = append(b, '[')
		if row > 0 {
			b[len(b)-1] = ','
		}
		b = answer.AppendJSON(append(b, `{"path":`...), f.path)
		b = answer.AppendJSON(append(b, `,"type":`...), f.kind)
		b = strconv.AppendInt(append(b, `,"size":`...), f.size, 10)
		b = append(b, `,"usedIn":[`...)
		for i, user := range f.users {
			if i > 0 {
				b = append(b, ',')
			}
			b = answer.AppendJSON(b, user)
		}
		if b = append(b, "]}"...); row == len(found)-1 {
			b = append(b, ']')
		}
		return b
	})
}
