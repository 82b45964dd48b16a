package vault

import (
	"encoding/json"
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/disk"
)

const bookmarksFile = "bookmarks.json"

func bookmarkCommands() []command {
	return []command{{
		name: "bookmarks", about: "List the bookmarks",
		params: []param{
			{name: "total", kind: flag, about: "Only how many there are"},
			{name: "verbose", kind: flag, about: "Add the kind and the group of each"},
			tableForms(),
		},
		run: listBookmarks,
	}}
}

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
func listBookmarks(v *vault, p params) (reply, error) {
	text, err := v.disk.Config(bookmarksFile)
	var file bookmark
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return reply{}, failure("Cannot use the bookmarks in %s: %v", disk.ConfigPath(bookmarksFile), err)
	}
	all := rows{keys: []string{"type", "title", "target", "group"}}
	all.addBookmarks(v.seenBookmarks(file.Items), nil)
	switch {
	case p.has("total"):
		return say(strconv.Itoa(len(all.cells))), nil
	case p["format"] == formJSON || p.has("verbose"):
		return say(all.print(p["format"])), nil
	}
	plain := rows{keys: []string{"target"}}
	for _, cells := range all.cells {
		plain.cells = append(plain.cells, cells[2:3])
	}
	return say(plain.print(p["format"])), nil
}

// seenBookmarks leaves out what leads to a file or folder that is not seen.
func (v *vault) seenBookmarks(items []bookmark) []bookmark {
	if v.sight == nil {
		return items
	}
	var seen []bookmark
	for _, b := range items {
		b.Items = v.seenBookmarks(b.Items)
		if b.Path == "" || b.Type == "folder" && v.seesFolder(b.Path) || b.Type != "folder" && v.sees(b.Path) {
			seen = append(seen, b)
		}
	}
	return seen
}

// addBookmarks adds entries and what is in groups among them, in their order.
// A group itself is no bookmark.
func (r *rows) addBookmarks(items []bookmark, group []string) {
	for _, b := range items {
		if b.Type == "group" {
			r.addBookmarks(b.Items, append(group[:len(group):len(group)], b.Title))
			continue
		}
		r.cells = append(r.cells, []string{b.Type, b.Title, b.target(), strings.Join(group, "/")})
	}
}
