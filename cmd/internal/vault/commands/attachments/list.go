package attachments

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/knowledge"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/order"
	"vaultwicket/cmd/internal/vault/session"
)

// file is one attachment.
type file struct {
	path, kind string
	size       int64
	users      []index.Edge // the notes and canvases that link to it or embed it
}

func list(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	x, err := v.Index()
	if err != nil {
		return answer.Reply{}, err
	}
	found, err := find(v, x, p)
	switch {
	case err != nil:
		return answer.Reply{}, err
	case p.Has("total"):
		return answer.Text(strconv.Itoa(len(found))), nil
	case p["format"] == answer.FormatJSON:
		return inJSON(quotedPaths.Of(&v.Host.Memo, x.Files), found), nil
	case len(found) == 0:
		return answer.Text("No attachments found."), nil
	}
	return inTable(x, found), nil
}

// find returns the attachments that a request is about, in the order of listings.
func find(v *session.Vault, x *index.Index, p grammar.Values) ([]file, error) {
	var found []file
	graph := x.Graph()
	sorted, err := v.EachFileBelow(p["folder"], func(l session.Listed) {
		extension := l.Path.Ext()
		if !isAttachment(extension) || p.Has("type") && kindOf(extension) != p["type"] {
			return
		}
		place, ok := x.Place(l.Path.String())
		if !ok {
			return
		}
		users := graph.In(place)
		if p.Has("unused") && len(users) > 0 {
			return
		}
		f := file{path: l.Path.String()}
		if !p.Has("total") {
			stamp, err := l.Stamp()
			if err != nil {
				return // it is gone by now
			}
			f.kind, f.size, f.users = kindOf(extension), stamp.Size, users
		}
		found = append(found, f)
	})
	if !sorted {
		slices.SortFunc(found, func(a, b file) int { return order.Compare(a.path, b.path) })
	}
	return found, err
}

// maxUsers is how many notes a row of text names; JSON has all.
const maxUsers = 5

// inTable prints a row for each file, with some of its users.
func inTable(x *index.Index, found []file) answer.Reply {
	table := answer.Table{}
	for _, f := range found {
		var names []string
		for _, user := range f.users[:min(len(f.users), maxUsers)] {
			names = append(names, x.Files[user.Place].Path.String())
		}
		users := strings.Join(names, ", ")
		if left := len(f.users) - maxUsers; left > 0 {
			users += fmt.Sprintf(" and %d more", left)
		}
		table.Rows = append(table.Rows, []string{f.path, f.kind, strconv.FormatInt(f.size, 10), users})
	}
	return table.Reply(answer.FormatTSV)
}

// inJSON prints an array of objects, and [] for no files.
func inJSON(paths quoted, found []file) answer.Reply {
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
			b = append(b, paths.at(user.Place)...)
		}
		if b = append(b, "]}"...); row == len(found)-1 {
			b = append(b, ']')
		}
		return b
	})
}

// quoted has the paths of all files as JSON strings, by their places, one behind the other: in
// a large vault many attachments have the same users, and the paths of files lie far apart.
type quoted struct {
	text string
	ends []int
}

var quotedPaths = &knowledge.Derived[quoted]{Name: "paths as JSON", Compute: func(files []*index.File) quoted {
	var text []byte
	ends := make([]int, len(files))
	for i, f := range files {
		text = answer.AppendJSON(text, f.Path.String())
		ends[i] = len(text)
	}
	return quoted{string(text), ends}
}}

func (q quoted) at(place int32) string {
	start := 0
	if place > 0 {
		start = q.ends[place-1]
	}
	return q.text[start:q.ends[place]]
}
