package files

import (
	"fmt"
	"strconv"
	"strings"

	"vaultwicket/cmd/internal/vault/answer"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/grammar"
	"vaultwicket/cmd/internal/vault/session"
)

func vaultInfo(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	switch p["info"] {
	case "name":
		return answer.Text(v.Name), nil
	case "path":
		return answer.Text(v.Path), nil
	}
	c, err := count(v, disk.Path{})
	if err != nil {
		return answer.Reply{}, err
	}
	if p.Has("info") {
		return answer.Text(c.fact(p["info"])), nil
	}
	return answer.Text(fmt.Sprintf("name\t%s\npath\t%s\n%s", v.Name, v.Path, c)), nil
}

// folderInfo answers the command folder, which counts as vault does: all that
// lies below, at any depth.
func folderInfo(v *session.Vault, p grammar.Values) (answer.Reply, error) {
	under, err := v.FolderOf(p["path"])
	if err != nil {
		return answer.Reply{}, answer.FolderNotFound(p["path"])
	}
	c, err := count(v, under)
	if disk.IsMissing(err) {
		return answer.Reply{}, answer.FolderNotFound(p["path"])
	}
	if err != nil {
		return answer.Reply{}, err
	}
	if p.Has("info") {
		return answer.Text(c.fact(p["info"])), nil
	}
	path := under.String()
	if path == "" {
		path = "/" // the app's name of the root
	}
	return answer.Text(fmt.Sprintf("path\t%s\n%s", path, c)), nil
}

// census is what lies below a folder.
type census struct {
	files, folders int
	bytes          int64
}

func count(v *session.Vault, under disk.Path) (c census, err error) {
	_, err = v.EachEntry(under, func(l session.Listed) {
		c.files++
		if stamp, err := l.Stamp(); err == nil { // it may be gone by now
			c.bytes += stamp.Size
		}
	}, func(string) { c.folders++ })
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
