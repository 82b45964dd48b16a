package files

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/knowledge"
	"vaultwicket/cmd/internal/vault/session"
)

func read(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	t, err := v.Target(p)
	if err != nil {
		return answer.Reply{}, err
	}
	return v.Show(t)
}

func fileInfo(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	t, err := v.Target(p)
	if err != nil {
		return answer.Reply{}, err
	}
	file, err := v.Disk.Open(t.Path)
	if err != nil {
		return answer.Reply{}, answer.ReadError(t.Typed, err)
	}
	defer file.Close()
	text := fmt.Sprintf("path\t%s\nname\t%s\nextension\t%s\nsize\t%d\ncreated\t%d\nmodified\t%d\n",
		t.Path, t.Path.Stem(), t.Path.Ext(), file.Info.Size(), file.Born().UnixMilli(), file.Info.ModTime().UnixMilli())
	return answer.Reply{Text: text, Note: t.Path}, nil
}

func listFiles(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	wanted := strings.TrimPrefix(p["ext"], ".")
	found, err := v.PathsBelow(p["folder"], func(l session.Listed) bool { return !p.Has("ext") || l.Path.Ext() == wanted })
	return printed(p, found, err, func() (answer.Reply, error) { return noFiles(v, p, wanted) })
}

func listFolders(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	under, err := v.FolderOf(p["folder"])
	if err != nil {
		return answer.Reply{}, answer.FolderNotFound(p["folder"])
	}
	var found []string
	if p.Has("folder") {
		found, err = knowledge.FoldersBelow(v.Disk, under)
	} else {
		found, err = v.Host.Knowledge.Folders(v.View())
	}
	if disk.IsMissing(err) {
		err = answer.FolderNotFound(p["folder"])
	}
	return printed(p, found, err, func() (answer.Reply, error) {
		return answer.Nothing("", "%s has no folders", session.Place(p["folder"])), nil
	})
}

// noFiles says that there are no files, or which extensions those have that there are.
func noFiles(v *session.Vault, p grammar.Values, ext string) (answer.Reply, error) {
	place := session.Place(p["folder"])
	if !p.Has("ext") {
		return answer.Nothing("", "%s has no files", place), nil
	}
	counts := map[string]int{}
	files := 0
	_, err := v.EachFileBelow(p["folder"], func(l session.Listed) {
		counts[l.Path.Ext()]++
		files++
	})
	if err != nil || files == 0 {
		return answer.Nothing("", "%s has no files", place), err
	}
	exts := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	return answer.Nothing("", "no file with the extension %q in %s (%s; extensions: %s)",
		answer.Verbatim(ext), place, session.Count(files, "file"), answer.List(exts, maxExts)), nil
}

// maxExts bounds how many extensions a notice lists.
const maxExts = 8

// printed replies with paths, which are in the order of listings, or with their number,
// unless there is an error.
func printed(p grammar.Values, found []string, err error, none func() (answer.Reply, error)) (answer.Reply, error) {
	switch {
	case err != nil:
		return answer.Reply{}, err
	case p.Has("total"):
		return answer.Text(strconv.Itoa(len(found))), nil
	case len(found) == 0:
		return none()
	}
	return answer.Text(strings.Join(found, "\n")), nil
}
