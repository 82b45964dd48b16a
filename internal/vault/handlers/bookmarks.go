package handlers

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/internal/textedit"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/call"
	"github.com/vaultwicket/vaultwicket/internal/vault/change"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
)

func init() {
	register(
		Command{Name: "bookmarks", Run: listBookmarks},
		Command{Name: "bookmark", Plan: addBookmark, Verify: verifyBookmark},
	)
}

const bookmarksFile = "bookmarks.json"

// bookmark is one entry of the app's file, its fields in the order in which the app writes them. Plugins may add
// entries of other types and with other fields.
type bookmark struct {
	Type    string `json:"type"`
	Ctime   any    `json:"ctime"` // Unix milliseconds
	Path    string `json:"path,omitempty"`
	Subpath string `json:"subpath,omitempty"`
	Query   string `json:"query,omitempty"`
	URL     string `json:"url,omitempty"`
	Title   string `json:"title,omitempty"`
}

// bookmarkItem is a bookmark, or a group of them.
type bookmarkItem struct {
	bookmark
	Items []bookmarkItem `json:"items"`
}

// target returns what a bookmark opens, or its type if it has no target, such as the graph.
func (b bookmark) target() string {
	if b.Path != "" {
		return b.Path + b.Subpath
	}
	return cmp.Or(b.Query, b.URL, b.Type)
}

// judged returns the entry with the texts that the caller may see. Paths are checked by the table, as in other
// listings.
func (b bookmark) judged(v *call.Vault) bookmark {
	for _, text := range []*string{&b.Type, &b.Subpath, &b.Query, &b.URL, &b.Title} {
		*text = v.JudgedText(*text)
	}
	return b
}

// listBookmarks prints the target of each bookmark. How the app lays this out is not known; here the plain form has
// one target per line, verbose adds type and title before it and the group after it, and JSON has all fields.
func listBookmarks(v *call.Vault, p call.Values) (answer.Reply, error) {
	text, err := v.Disk.Config(bookmarksFile)
	var file bookmarkItem
	if err == nil {
		err = json.Unmarshal(text.ForProgram(), &file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return answer.Reply{}, answer.Failure("Cannot use the bookmarks in %s: %v", disk.ConfigPath(bookmarksFile), err)
	}
	table := answer.Table{Columns: []string{"type", "title", "target", "group"}}
	appendBookmarks(v, &table, file.Items, nil)
	switch {
	case p.Has("total"):
		return answer.Number(len(table.Rows)), nil
	case len(table.Rows) == 0 && p["format"] != answer.FormatJSON:
		return answer.Nothing("No bookmarks found.", "the vault has no bookmarks"), nil
	case p["format"] == answer.FormatJSON || p.Has("verbose"):
		return table.Reply(v.Disk, p["format"]), nil
	}
	plain := answer.Table{Columns: []string{"target"}}
	for _, cells := range table.Rows {
		plain.Rows = append(plain.Rows, cells[2:3])
	}
	return plain.Reply(v.Disk, p["format"]), nil
}

// appendBookmarks adds the entries, including those in groups, in order, except those of hidden files and
// folders. A group itself is not a bookmark.
func appendBookmarks(v *call.Vault, table *answer.Table, items []bookmarkItem, group []string) {
	for _, b := range items {
		isSeen := v.Sees
		if b.Type == "folder" {
			isSeen = v.SeesFolder
		}
		if v.Hides() && b.Path != "" && !isSeen(b.Path) {
			continue
		}
		if b.Type == "group" {
			appendBookmarks(v, table, b.Items, append(slices.Clip(group), b.Title))
			continue
		}
		shown := b.judged(v)
		groupPath := v.JudgedText(strings.Join(group, "/"))
		table.Rows = append(table.Rows, []string{shown.Type, shown.Title, shown.target(), groupPath})
	}
}

// addBookmark appends an entry. The app reloads the file when it changes. What the app prints is not known.
func addBookmark(v *call.Vault, p call.Values) (change.Proposal, error) {
	added, err := parseBookmark(v, p)
	if err != nil {
		return change.Proposal{}, err
	}
	at := disk.Bookmarks()
	before, err := change.CurrentState(v, at)
	if err != nil {
		return change.Proposal{}, answer.ReadError(at.String(), err)
	}
	var file bookmarkItem
	if json.Unmarshal(before.Text.ForProgram(), &file) == nil && added.existsIn(file.Items) {
		return change.Proposal{Note: at, Already: fmt.Sprintf("%q is bookmarked already", answer.Verbatim(added.target()))}, nil
	}
	after, err := withBookmark(before.Text.ForProgram(), added)
	if err != nil {
		return change.Proposal{}, answer.Failure("Cannot use the bookmarks in %s: %v", at, err)
	}
	reported, err := json.Marshal(added)
	if err != nil {
		return change.Proposal{}, err
	}
	return change.Proposal{
		Steps:   []change.Step{{Path: at, Before: before, After: change.Existing(after), Told: append(reported, '\n')}},
		Message: "Bookmarked: " + added.target(),
		Note:    at,
	}, nil
}

// existsIn reports whether an entry, or one in a group, is the same bookmark. The creation time is ignored.
func (b bookmark) existsIn(items []bookmarkItem) bool {
	return slices.ContainsFunc(items, func(item bookmarkItem) bool {
		item.Ctime = b.Ctime
		return item.bookmark == b || b.existsIn(item.Items)
	})
}

// parseBookmark requires exactly one target. A target in the vault must exist.
func parseBookmark(v *call.Vault, p call.Values) (bookmark, error) {
	kinds := p.Given("file", "folder", "search", "url")
	if len(kinds) != 1 {
		return bookmark{}, answer.Misuse(
			"Use exactly one of file=<path>, folder=<path>, search=<query>, url=<address>.",
		)
	}
	if p.Has("subpath") && !p.Has("file") {
		return bookmark{}, answer.Misuse("Use subpath=<heading> with file=<path>.")
	}
	b := bookmark{
		Type:  kinds[0],
		Ctime: int(v.Clock().UnixMilli()),
		Query: p["search"],
		URL:   p["url"],
		Title: p["title"],
	}
	switch b.Type {
	case "file":
		at, err := v.PathOf(p["file"])
		if err == nil {
			_, err = v.Disk.Stat(at)
		}
		if err != nil {
			return bookmark{}, answer.NoSuchFile(p["file"], err)
		}
		b.Path = at.String()
		b.Subpath = p["subpath"]
		if b.Subpath != "" && !strings.HasPrefix(b.Subpath, "#") { // block ids too: #^id
			b.Subpath = "#" + b.Subpath
		}
	case "folder":
		at, err := v.FolderThere(p["folder"])
		if err != nil {
			return bookmark{}, err
		}
		b.Path = cmp.Or(at.String(), "/")
	}
	return b, nil
}

// withBookmark returns the text of the app's file with one more entry at its end. It changes no other bytes.
func withBookmark(text []byte, added bookmark) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{\n  \"items\": []\n}")
	}
	entry := textedit.Object{{Key: "type", Value: added.Type}, {Key: "ctime", Value: added.Ctime}}
	for _, m := range []textedit.Member{
		{Key: "path", Value: added.Path},
		{Key: "subpath", Value: added.Subpath},
		{Key: "query", Value: added.Query},
		{Key: "url", Value: added.URL},
		{Key: "title", Value: added.Title},
	} {
		if m.Value != "" {
			entry = append(entry, m)
		}
	}
	return textedit.JSON{Lines: true}.AddTo(text, "items", entry)
}

// verifyBookmark checks that the app only appended the new bookmark. The creation time and extra fields may differ.
func verifyBookmark(v *call.Vault, p call.Values, c change.AppChange) (change.Verdict, error) {
	added, err := parseBookmark(v, p)
	if err != nil {
		return change.Verdict{}, err
	}
	before, isValidBefore := bookmarkItems(c.Before.Text.ForProgram())
	after, isValidAfter := bookmarkItems(c.Now.Text.ForProgram())
	if !isValidBefore || !isValidAfter || len(after) != len(before)+1 {
		return change.Verdict{}, nil
	}
	for i, item := range before {
		if !bytes.Equal(item, after[i]) {
			return change.Verdict{}, nil
		}
	}
	var last bookmark
	if json.Unmarshal(after[len(before)], &last) != nil {
		return change.Verdict{}, nil
	}
	last.Ctime = added.Ctime
	return change.Verdict{Done: last == added, Style: "the app has written its list of bookmarks anew"}, nil
}

// bookmarkItems returns the top-level entries in canonical JSON, so that they can be compared.
func bookmarkItems(text []byte) (items []json.RawMessage, ok bool) {
	var file struct {
		Items []any `json:"items"`
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, true
	}
	if json.Unmarshal(text, &file) != nil {
		return nil, false
	}
	for _, item := range file.Items {
		canonical, err := json.Marshal(item)
		if err != nil {
			return nil, false
		}
		items = append(items, canonical)
	}
	return items, true
}
