package vault

import (
	"fmt"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/disk"
)

func vaultCommands() []command {
	return []command{{
		name: "vault", about: "Show facts about the vault",
		params: []param{{name: "info", oneOf: []string{"name", "path", "files", "folders", "size"}, about: "Only this fact"}},
		run:    vaultInfo,
	}}
}

func vaultInfo(v *vault, p params) (reply, error) {
	switch p["info"] {
	case "name":
		return say(v.name), nil
	case "path":
		return say(v.path), nil
	}
	c, err := v.count(disk.Path{})
	if err != nil {
		return reply{}, err
	}
	if p.has("info") {
		return say(c.fact(p["info"])), nil
	}
	return say(fmt.Sprintf("name\t%s\npath\t%s\n%s", v.name, v.path, c)), nil
}

// folderInfo answers the command folder, which counts as vault does: all that
// lies below, at any depth.
func folderInfo(v *vault, p params) (reply, error) {
	under, err := v.folderOf(p["path"])
	if err != nil {
		return reply{}, folderNotFound(p["path"])
	}
	c, err := v.count(under)
	if disk.IsMissing(err) {
		return reply{}, folderNotFound(p["path"])
	}
	if err != nil {
		return reply{}, err
	}
	if p.has("info") {
		return say(c.fact(p["info"])), nil
	}
	path := under.String()
	if path == "" {
		path = "/" // the app's name of the root
	}
	return say(fmt.Sprintf("path\t%s\n%s", path, c)), nil
}

// census is what lies below a folder.
type census struct {
	files, folders int
	bytes          int64
}

func (v *vault) count(under disk.Path) (census, error) {
	var c census
	err := v.disk.Walk(under, func(e disk.Entry) {
		if e.IsDir {
			c.folders++
			return
		}
		c.files++
		c.bytes += e.Size()
	})
	return c, err
}

func (c census) String() string {
	var out strings.Builder
	for _, name := range []string{"files", "folders", "size"} {
		out.WriteString(name + "\t" + c.fact(name) + "\n")
	}
	return out.String()
}

func (c census) fact(name string) string {
	switch name {
	case "files":
		return strconv.Itoa(c.files)
	case "folders":
		return strconv.Itoa(c.folders)
	}
	return strconv.FormatInt(c.bytes, 10)
}
