package files

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
)

const bookmarksFile = "bookmarks.json"

// bookmark is one entry of the app's file. Entries of plugins have other kinds
// and may have other fields.
type bookmark struct {
	Type    string     `json:"type"`
	Title   string     `json:"title"`
	Path    string     `json:"path"`
	Subpath string     `json:"subpath"`
	Query   string     `json:"query"`
	URL     string     `json:"url"`
	Items   []bookmark `json:"items"`
}

// target is what a bookmark leads to; for one that leads nowhere, such as the
// graph, its kind.
func (b bookmark) target() string {
	switch {
	case b.Path != "":
		return b.Path + b.Subpath
	case b.Query != "":
		return b.Query
	case b.URL != "":
		return b.URL
	}
	return b.Type
}

// listBookmarks prints what each bookmark leads to. The layout of the app was
// never recorded: the plain form has one target a line, verbose puts kind and
// title in front and the groups behind, and JSON names them all.
func listBookmarks(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	text, err := v.Disk.Config(bookmarksFile)
	var file bookmark
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return answer.Reply{}, answer.Failure("Cannot use the bookmarks in %s: %v", disk.ConfigPath(bookmarksFile), err)
	}
	all := answer.Table{Columns: []string{"type", "title", "target", "group"}}
	addBookmarks(&all, seenBookmarks(v, file.Items), nil)
	switch {
	case p.Has("total"):
		return answer.Text(strconv.Itoa(len(all.Rows))), nil
	case len(all.Rows) == 0 && p["format"] != answer.FormatJSON:
		return answer.Nothing("", "the vault has no bookmarks"), nil
	case p["format"] == answer.FormatJSON || p.Has("verbose"):
		return all.Reply(p["format"]), nil
	}
	plain := answer.Table{Columns: []string{"target"}}
	for _, cells := range all.Rows {
		plain.Rows = append(plain.Rows, cells[2:3])
	}
	return plain.Reply(p["format"]), nil
}

// seenBookmarks leaves out what leads to a file or folder that is not seen.
func seenBookmarks(v *session.Vault, items []bookmark) []bookmark {
	if v.Sight == nil {
		return items
	}
	var seen []bookmark
	for _, b := range items {
		b.Items = seenBookmarks(v, b.Items)
		if b.Path == "" || b.Type == "folder" && v.SeesFolder(b.Path) || b.Type != "folder" && v.Sees(b.Path) {
			seen = append(seen, b)
		}
	}
	return seen
}

// addBookmarks adds entries and what is in groups among them, in their order.
// A group itself is no bookmark.
func addBookmarks(r *answer.Table, items []bookmark, group []string) {
	for _, b := range items {
		if b.Type == "group" {
			addBookmarks(r, b.Items, append(group[:len(group):len(group)], b.Title))
			continue
		}
		r.Rows = append(r.Rows, []string{b.Type, b.Title, b.target(), strings.Join(group, "/")})
	}
}
