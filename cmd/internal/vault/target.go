package vault

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/unicode/norm"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/order"
)

// target is the file that a request means, and how the caller wrote it.
type target struct {
	path  disk.Path
	typed string
}

// targetParams are the two ways to name a file.
func targetParams() []param {
	return []param{
		{name: "file", hint: "name", about: "File name, resolved like a link"},
		{name: "path", hint: "path", about: "File path from the vault's folder"},
	}
}

// target finds out which file is meant: path= exactly, file= as a link would,
// else the focused note. Whether a file is there is seen when it is opened.
func (v *vault) target(p params) (target, error) {
	if p.has("file") {
		path, err := v.resolve(p["file"])
		return target{path, p["file"]}, err
	}
	typed := p["path"]
	if !p.has("path") {
		var err error
		if typed, err = v.activeNote(); err != nil {
			return target{}, err
		}
	}
	path, err := disk.ParsePath(typed)
	if err != nil {
		return target{}, fileNotFound(typed)
	}
	return target{path, typed}, nil
}

// resolve finds the file that a link with this text would lead to from a note
// in the vault's folder. Aliases, headings and blocks play no part.
//
// An exact path wins, else the file whose path is the shortest. The text is
// tried as it is if its last segment has a dot, and then as the name of a note.
func (v *vault) resolve(name string) (disk.Path, error) {
	wanted, rooted := linkPath(name)
	if path, ok := v.exact(wanted[0]); ok {
		return path, nil // nothing can be better, and the vault need not be walked
	}
	var found []string
	err := v.disk.Walk(disk.Path{}, func(e disk.Entry) {
		if !e.IsDir {
			found = append(found, e.Path.String())
		}
	})
	if err != nil {
		return disk.Path{}, err
	}
	for _, text := range wanted {
		if best, ok := bestMatch(found, text, rooted); ok {
			return disk.ParsePath(best)
		}
	}
	return disk.Path{}, fileNotFound(name)
}

// linkPath returns the paths that a link text stands for, in the order in
// which they are tried, and whether they count from the vault's folder only.
func linkPath(name string) (wanted []string, rooted bool) {
	text := name
	for strings.HasPrefix(text, "./") {
		text, rooted = text[2:], true
	}
	if strings.HasPrefix(text, "/") {
		text, rooted = text[1:], true
	}
	if strings.Contains(text[strings.LastIndexByte(text, '/')+1:], ".") {
		wanted = append(wanted, text)
	}
	return append(wanted, text+".md"), rooted
}

func (v *vault) exact(text string) (disk.Path, bool) {
	path, err := disk.ParsePath(text)
	if err != nil {
		return path, false
	}
	_, err = v.disk.Stat(path)
	return path, err == nil
}

// bestMatch returns the file that a link path wins, if any.
func bestMatch(files []string, wanted string, rooted bool) (string, bool) {
	wanted = folded(wanted)
	var whole, tails []string
	for _, path := range files {
		switch key := folded(path); {
		case key == wanted:
			whole = append(whole, path)
		case !rooted && strings.HasSuffix(key, "/"+wanted):
			tails = append(tails, path)
		}
	}
	if len(whole) > 0 {
		return slices.MinFunc(whole, shorter), true
	}
	if len(tails) > 0 {
		return slices.MinFunc(tails, shorter), true
	}
	return "", false
}

// shorter orders paths by length, those of one length as listings do.
func shorter(a, b string) int {
	return cmp.Or(cmp.Compare(length(a), length(b)), order.Compare(a, b))
}

// folded is the form in which names are compared: Unicode has two spellings of
// many letters, and systems differ in which one they store.
func folded(name string) string { return norm.NFC.String(strings.ToLower(name)) }

// length counts characters as the app does, in UTF-16 units.
func length(path string) (units int) {
	for _, r := range path {
		units += max(1, utf16.RuneLen(r))
	}
	return units
}
