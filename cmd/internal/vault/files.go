package vault

import (
	"fmt"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/order"
)

func fileCommands() []command {
	return []command{
		{
			name: "read", about: "Read the contents of a file",
			params: targetParams(), run: read,
		},
		{
			name: "file", about: "Show facts about a file",
			params: targetParams(), run: fileInfo,
		},
		{
			name: "files", about: "List the files of the vault",
			params: []param{
				{name: "folder", hint: "path", about: "Only below this folder"},
				{name: "ext", hint: "extension", about: "Only files with this extension"},
				{name: "total", kind: flag, about: "Only how many there are"},
			},
			run: listFiles,
		},
		{
			name: "folder", about: "Show facts about a folder",
			params: []param{
				{name: "path", hint: "path", required: true, about: "Path of the folder"},
				{name: "info", oneOf: []string{"files", "folders", "size"}, about: "Only this fact"},
			},
			run: folderInfo,
		},
		{
			name: "folders", about: "List the folders of the vault",
			params: []param{
				{name: "folder", hint: "path", about: "Only below this folder"},
				{name: "total", kind: flag, about: "Only how many there are"},
			},
			run: listFolders,
		},
	}
}

func read(v *vault, p params) (reply, error) {
	t, err := v.target(p)
	if err != nil {
		return reply{}, err
	}
	return v.show(t)
}

func fileInfo(v *vault, p params) (reply, error) {
	t, err := v.target(p)
	if err != nil {
		return reply{}, err
	}
	file, err := v.disk.Open(t.path)
	if err != nil {
		return reply{}, unreadable(t.typed, err)
	}
	defer file.Close()
	text := fmt.Sprintf("path\t%s\nname\t%s\nextension\t%s\nsize\t%d\ncreated\t%d\nmodified\t%d\n",
		t.path, t.path.Stem(), t.path.Ext(), file.Info.Size(), file.Born().UnixMilli(), file.Info.ModTime().UnixMilli())
	return reply{text: text, note: t.path}, nil
}

func listFiles(v *vault, p params) (reply, error) {
	wanted := strings.TrimPrefix(p["ext"], ".")
	return v.listing(p, func(e disk.Entry) bool {
		return !e.IsDir && (!p.has("ext") || e.Path.Ext() == wanted)
	})
}

func listFolders(v *vault, p params) (reply, error) {
	return v.listing(p, func(e disk.Entry) bool { return e.IsDir })
}

// listing replies with the entries below folder= that are wanted, or with
// their number.
func (v *vault) listing(p params, wanted func(disk.Entry) bool) (reply, error) {
	found, err := v.below(p["folder"], wanted)
	if err != nil {
		return reply{}, err
	}
	if p.has("total") {
		return say(strconv.Itoa(len(found))), nil
	}
	order.Sort(found)
	return say(strings.Join(found, "\n")), nil
}
