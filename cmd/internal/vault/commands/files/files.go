package files

import (
	"fmt"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/order"
	"vaultwicket/cmd/internal/vault/session"
)

func fileCommands() []command.Command {
	return []command.Command{
		{
			Name: "read", Help: "Read the contents of a file",
			Params: grammar.TargetParams(), Run: read,
		},
		{
			Name: "file", Help: "Show facts about a file",
			Params: grammar.TargetParams(), Run: fileInfo,
		},
		{
			Name: "files", Help: "List the files of the vault",
			Params: []grammar.Param{
				{Name: "folder", Hint: "path", Help: "Only below this folder"},
				{Name: "ext", Hint: "extension", Help: "Only files with this extension"},
				{Name: "total", Kind: grammar.Flag, Help: "Only how many there are"},
			},
			Run: listFiles,
		},
		{
			Name: "folder", Help: "Show facts about a folder",
			Params: []grammar.Param{
				{Name: "path", Hint: "path", Required: true, Help: "Path of the folder"},
				{Name: "info", OneOf: []string{"files", "folders", "size"}, Help: "Only this fact"},
			},
			Run: folderInfo,
		},
		{
			Name: "folders", Help: "List the folders of the vault",
			Params: []grammar.Param{
				{Name: "folder", Hint: "path", Help: "Only below this folder"},
				{Name: "total", Kind: grammar.Flag, Help: "Only how many there are"},
			},
			Run: listFolders,
		},
	}
}

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
	return listing(v, p, func(e disk.Entry) bool {
		return !e.IsDir && (!p.Has("ext") || e.Path.Ext() == wanted)
	})
}

func listFolders(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	return listing(v, p, func(e disk.Entry) bool { return e.IsDir })
}

// listing replies with the entries below folder= that are wanted, or with
// their number.
func listing(v *session.Vault, p grammar.Values, wanted func(disk.Entry) bool) (answer.Reply, error) {
	found, err := v.PathsBelow(p["folder"], wanted)
	if err != nil {
		return answer.Reply{}, err
	}
	if p.Has("total") {
		return answer.Text(strconv.Itoa(len(found))), nil
	}
	order.Sort(found)
	return answer.Text(strings.Join(found, "\n")), nil
}
