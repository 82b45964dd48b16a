package commands

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"vaultwicket/allowlist"
	"vaultwicket/cmd/internal/vault/command"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/knowledge"
	"vaultwicket/cmd/internal/vault/markdown"
	"vaultwicket/gateway/registry"
)

func init() {
	register(
		command.Command{Name: "read", Run: readFile},
		command.Command{Name: "file", Run: fileInfo},
		command.Command{Name: "files", OfFiles: true, Run: listFiles},
		command.Command{Name: "folders", Run: listFolders},
		command.Command{Name: "vault", Run: vaultInfo},
		command.Command{Name: "folder", Run: folderInfo},
		command.Command{Name: "delete", Plan: remove},
		command.Command{Name: "vaults", Run: listVaults},
	)
}

func readFile(v *command.Vault, p command.Values) (command.Reply, error) {
	t, err := v.Target(p)
	if err != nil {
		return command.Reply{}, err
	}
	if v.ForGateway && isBinary(v, t.Path) { // an agent would get thousands of escapes
		kind := command.BadValue.Advise(allowlist.ServesKind(allowlist.FileKind(t.Path.Ext())))
		return command.Reply{}, kind.Failure("File %q is not a text: %s", command.Verbatim(t.Typed), promised(t.Path))
	}
	if p["frontmatter"] != "false" {
		return v.Show(t)
	}
	text, err := v.Disk.Read(t.Path)
	if err != nil {
		return command.Reply{}, command.ReadError(t.Typed, err)
	}
	return command.FromNote(t.Path, text, string(text[markdown.Scan(text).Body:])), nil
}

// isBinary reports whether a file is an image, a PDF or the like by its name, or begins with what no
// text has.
func isBinary(v *command.Vault, path disk.Path) bool {
	extension := strings.ToLower(path.Ext())
	switch kind := allowlist.FileKind(extension); {
	case !isAttachment(extension), extension == "svg":
		return false
	case kind != other:
		return true
	}
	file, err := v.Disk.Open(path)
	if err != nil {
		return false // the caller says why
	}
	defer file.Close()
	begin := make([]byte, 4096)
	n, _ := io.ReadFull(file, begin)
	return bytes.IndexByte(begin[:n], 0) >= 0
}

func fileInfo(v *command.Vault, p command.Values) (command.Reply, error) {
	t, err := v.Target(p)
	if err != nil {
		return command.Reply{}, err
	}
	file, err := v.Disk.Open(t.Path)
	if err != nil {
		return command.Reply{}, command.ReadError(t.Typed, err)
	}
	defer file.Close()
	text := fmt.Sprintf("path\t%s\nname\t%s\nextension\t%s\nsize\t%d\ncreated\t%d\nmodified\t%d\n",
		t.Path, t.Path.Stem(), t.Path.Ext(), file.Info.Size(), file.Born().UnixMilli(), file.Info.ModTime().UnixMilli())
	return command.Reply{Text: text, Note: t.Path}, nil
}

func listFiles(v *command.Vault, p command.Values) (command.Reply, error) {
	wanted := strings.TrimPrefix(p["ext"], ".")
	found, err := v.PathsBelow(p["folder"], func(l command.Listed) bool { return !p.Has("ext") || l.Path.Ext() == wanted })
	return printedFiles(p, found, err, func() (command.Reply, error) { return noFiles(v, p, wanted) })
}

func listFolders(v *command.Vault, p command.Values) (command.Reply, error) {
	under, err := v.FolderOf(p["folder"])
	if err != nil {
		return command.Reply{}, command.FolderNotFound(p["folder"])
	}
	var found []string
	if p.Has("folder") {
		found, err = knowledge.FoldersBelow(v.Disk, under)
	} else {
		found, err = v.Host.Knowledge.Folders(v.View())
	}
	if disk.IsMissing(err) {
		err = command.FolderNotFound(p["folder"])
	}
	return printedFiles(p, found, err, func() (command.Reply, error) {
		return command.Nothing("", "%s has no folders", command.Place(p["folder"])), nil
	})
}

// noFiles says that there are no files, or which extensions those have that there are.
func noFiles(v *command.Vault, p command.Values, ext string) (command.Reply, error) {
	place := command.Place(p["folder"])
	if !p.Has("ext") {
		return command.Nothing("", "%s has no files", place), nil
	}
	counts := map[string]int{}
	files := 0
	_, err := v.EachFileBelow(p["folder"], func(l command.Listed) {
		counts[l.Path.Ext()]++
		files++
	})
	if err != nil || files == 0 {
		return command.Nothing("", "%s has no files", place), err
	}
	exts := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	return command.Nothing("", "no file with the extension %q in %s (%s; extensions: %s)",
		command.Verbatim(ext), place, command.Count(files, "file"), command.List(exts, maxExts)), nil
}

// maxExts bounds how many extensions a notice lists.
const maxExts = 8

// printedFiles replies with paths, which are in the order of listings, or with their number,
// unless there is an error.
func printedFiles(p command.Values, found []string, err error, none func() (command.Reply, error)) (command.Reply, error) {
	switch {
	case err != nil:
		return command.Reply{}, err
	case p.Has("total"):
		return command.Text(strconv.Itoa(len(found))), nil
	case len(found) == 0:
		return none()
	}
	return command.Text(strings.Join(found, "\n")), nil
}

func vaultInfo(v *command.Vault, p command.Values) (command.Reply, error) {
	switch p["info"] {
	case "name":
		return command.Text(v.Name), nil
	case "path":
		return command.Text(v.Path), nil
	}
	c, err := countBelow(v, disk.Path{})
	if err != nil {
		return command.Reply{}, err
	}
	if p.Has("info") {
		return command.Text(c.fact(p["info"])), nil
	}
	return command.Text(fmt.Sprintf("name\t%s\npath\t%s\n%s", v.Name, v.Path, c)), nil
}

// folderInfo answers the command folder, which counts as vault does: all that
// is below, at any depth.
func folderInfo(v *command.Vault, p command.Values) (command.Reply, error) {
	under, err := v.FolderOf(p["path"])
	if err != nil {
		return command.Reply{}, command.FolderNotFound(p["path"])
	}
	c, err := countBelow(v, under)
	if disk.IsMissing(err) {
		return command.Reply{}, command.FolderNotFound(p["path"])
	}
	if err != nil {
		return command.Reply{}, err
	}
	if p.Has("info") {
		return command.Text(c.fact(p["info"])), nil
	}
	path := under.String()
	if path == "" {
		path = "/" // the app's name of the root
	}
	return command.Text(fmt.Sprintf("path\t%s\n%s", path, c)), nil
}

// census is what is below a folder.
type census struct {
	files, folders int
	bytes          int64
}

func countBelow(v *command.Vault, under disk.Path) (c census, err error) {
	_, err = v.EachEntry(under, func(l command.Listed) {
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

// Recent answers the command recent, for what lists changed notes among other things.
func Recent(v *command.Vault, p command.Values) (command.Reply, error) { return listChanged(v, p) }

// remove knows one trash, that of the vault. The system's is outside, where
// this process is locked out, and the app falls back to the vault's too where it
// cannot use that.
func remove(v *command.Vault, p command.Values) (command.Proposal, error) {
	t, err := v.Target(p)
	if err != nil {
		return command.Proposal{}, err
	}
	planned, err := removing(v, []command.Target{t}, p.Has("permanent"))
	planned.Message, planned.Note = planned.Message+t.Path.String(), t.Path
	return planned, err
}

// removing returns the proposal to move files to the trash, or to delete them. What is said of
// it lacks their names.
func removing(v *command.Vault, files []command.Target, permanent bool) (planned command.Proposal, err error) {
	var app struct {
		Trash string `json:"trashOption"`
	}
	if err := v.ReadConfig("app.json", &app); err != nil {
		return planned, err
	}
	planned.Message = "Deleted permanently: "
	trash := !permanent && app.Trash != "none"
	if trash {
		planned.Message = "Moved to trash: "
	}
	gone := map[disk.Path]bool{}
	for _, file := range files {
		before, err := stateOf(v, file)
		if err != nil {
			return planned, err
		}
		gone[file.Path] = true
		planned.Steps = append(planned.Steps, command.Step{Path: file.Path, Before: before, Trash: trash})
	}
	x, err := v.Index()
	if err != nil {
		return planned, err
	}
	links := map[disk.Path]int{}
	graph := x.Graph()
	for place, f := range x.Files {
		if !gone[f.Path] {
			continue
		}
		for _, edge := range graph.In(place) {
			if from := x.Files[edge.Place].Path; !gone[from] {
				links[from] += int(edge.Count)
			}
		}
	}
	for _, f := range x.Files {
		planned.Broken.Add(f.Path, links[f.Path])
	}
	return planned, nil
}

// listVaults answers from the app's own list. On a machine without one this
// vault is all there is.
func listVaults(v *command.Vault, p command.Values) (command.Reply, error) {
	known := v.Host.AppVaults()
	if len(known) == 0 {
		known = []registry.Vault{{Folder: v.Path}}
	}
	if p.Has("total") {
		return command.Text(strconv.Itoa(len(known))), nil
	}
	table := command.Table{}
	for _, r := range known {
		table.Add(p.Has("verbose"), r.Name(), r.Folder)
	}
	return table.Reply(command.FormatTSV), nil
}
