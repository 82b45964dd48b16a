package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vaultwicket/allowlist/quote"
	"vaultwicket/cmd/internal/vault/disk"
	"vaultwicket/cmd/internal/vault/frontmatter"
	"vaultwicket/cmd/internal/vault/knowledge/index"
	"vaultwicket/cmd/internal/vault/lookup"
)

// On returns the error of a command, with similar names if it is about a file or folder that was
// not found.
func On(v *Vault, command string, err error) error {
	var fault *Fault
	if !errors.As(err, &fault) || fault.Missing() == (Missing{}) || v.Ctx.Err() != nil {
		return err
	}
	if hint := hintFor(v, fault.Missing()); hint != "" {
		if slices.Contains(onFiles, command) {
			hint = strings.Replace(hint, " is a folder: list its notes with files folder=", " is a folder: use folder:"+command+" path=", 1)
		}
		return fault.WithHint(hint)
	}
	if command == "append" || command == "prepend" {
		return fault.WithHint(NotFound.Hint + "; create makes a note")
	}
	return err
}

// onFiles are the commands on files of which there is one on folders, too.
var onFiles = []string{"move", "rename", "copy", "delete"}

func hintFor(v *Vault, missing Missing) string {
	var files, folders []string // that the caller may see
	_, err := v.EachEntry(disk.Path{},
		func(l Listed) { files = append(files, l.Path.String()) },
		func(path string) { folders = append(folders, path) })
	if err != nil {
		return ""
	}
	if missing.Folder {
		wanted := strings.Trim(missing.Typed, "/")
		for _, note := range files {
			if strings.EqualFold(note, wanted) || strings.EqualFold(note, wanted+".md") {
				folder := cmp.Or(note[:max(strings.LastIndexByte(note, '/'), 0)], "/")
				return fmt.Sprintf("did you mean %s? %s is a file in it", quoted(folder), quoted(note))
			}
		}
		return DidYouMean(lookup.NearestPaths(missing.Typed, folders))
	}
	return hintForFile(v, missing, files, folders)
}

// hintForFile names the files that are like the one that was asked for. A folder of
// that very name goes before them, and one that is like its folder after them.
func hintForFile(v *Vault, missing Missing, files, folders []string) string {
	typed := missing.Typed
	for _, name := range []string{typed, typed + ".md"} {
		if path, err := v.PathOf(name); err == nil && v.Disk.HasStub(path) {
			return HintInCloud
		}
	}
	if folder := sameFolder(typed, folders); folder != "" {
		return fmt.Sprintf("%s is a folder: list its notes with files folder=%s", quoted(folder), quoted(folder))
	}
	if missing.Ext != "" {
		files = slices.DeleteFunc(files, func(file string) bool { return !strings.HasSuffix(file, "."+missing.Ext) })
	}
	if near := lookup.NearestPaths(typed, files); len(near) > 0 {
		return DidYouMean(near)
	}
	slash := strings.LastIndexByte(strings.Trim(typed, "/"), '/')
	if slash < 0 {
		x, err := v.Index()
		if err != nil {
			return ""
		}
		for i, aliases := range index.Collect(x.Files, func(f index.Facts) []string { return frontmatter.Aliases(f.Properties()) }) {
			if slices.ContainsFunc(aliases, func(alias string) bool { return strings.EqualFold(alias, typed) }) {
				return fmt.Sprintf("%s is an alias of path=%s", quoted(typed), quoted(x.Files[i].Path.String()))
			}
		}
		return ""
	}
	parent := strings.Trim(typed, "/")[:slash]
	if near := lookup.NearestPaths(parent, folders); len(near) > 0 && sameFolder(parent, folders) == "" {
		return fmt.Sprintf("folder %s not found; %s", quoted(parent), DidYouMean(near))
	}
	return ""
}

// sameFolder returns the folder with this path, "" if there is none.
func sameFolder(typed string, folders []string) string {
	wanted := strings.Trim(typed, "/")
	for _, folder := range folders {
		if strings.EqualFold(folder, wanted) {
			return folder
		}
	}
	return ""
}

func quoted(name string) string {
	return fmt.Sprintf("%q", Verbatim(quote.Short(name)))
}
