package command

import (
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

// On returns the error of a command with the names that may have been meant, if it is about
// a file or folder that was not found and there are any.
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
	files, folders, err := visibleNames(v)
	if err != nil {
		return ""
	}
	if missing.Folder {
		return hintForFolder(missing.Typed, files, folders)
	}
	return hintForFile(v, missing, files, folders)
}

// visibleNames are the files and folders that the caller may see.
func visibleNames(v *Vault) (files, folders []string, err error) {
	_, err = v.EachEntry(disk.Path{},
		func(l Listed) { files = append(files, l.Path.String()) },
		func(path string) { folders = append(folders, path) })
	return files, folders, err
}

// hintForFile names the files that are like the one that was asked for. A folder of
// that very name goes before them, and one that is like its folder behind them.
func hintForFile(v *Vault, missing Missing, files, folders []string) string {
	typed := missing.Typed
	if isInCloud(v, typed) {
		return HintInCloud
	}
	if folder := sameFolder(typed, folders); folder != "" {
		return fmt.Sprintf("%s is a folder: list its notes with files folder=%s", quoted(folder), quoted(folder))
	}
	if near := lookup.NearestPaths(typed, only(files, missing.Ext)); len(near) > 0 {
		return DidYouMean(near)
	}
	slash := strings.LastIndexByte(strings.Trim(typed, "/"), '/')
	if slash < 0 {
		return hintForAlias(v, typed)
	}
	parent := strings.Trim(typed, "/")[:slash]
	if near := lookup.NearestPaths(parent, folders); len(near) > 0 && sameFolder(parent, folders) == "" {
		return fmt.Sprintf("folder %s not found; %s", quoted(parent), DidYouMean(near))
	}
	return ""
}

// hintForAlias names the note that has the typed name as an alias.
func hintForAlias(v *Vault, typed string) string {
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

// isInCloud reports whether a note was taken off the disk, with or without .md.
func isInCloud(v *Vault, typed string) bool {
	for _, name := range []string{typed, typed + ".md"} {
		if path, err := v.PathOf(name); err == nil && v.Disk.HasStub(path) {
			return true
		}
	}
	return false
}

// only returns the files with an extension, all of them for "".
func only(files []string, ext string) []string {
	if ext == "" {
		return files
	}
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool { return !strings.HasSuffix(file, "."+ext) })
}

func hintForFolder(typed string, files, folders []string) string {
	if note := sameFile(typed, files); note != "" {
		folder := note[:max(strings.LastIndexByte(note, '/'), 0)]
		if folder == "" {
			folder = "/"
		}
		return fmt.Sprintf("did you mean %s? %s is a file in it", quoted(folder), quoted(note))
	}
	return DidYouMean(lookup.NearestPaths(typed, folders))
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

// sameFile returns the file with this path, with or without .md, "" if there is none.
func sameFile(typed string, files []string) string {
	wanted := strings.Trim(typed, "/")
	for _, file := range files {
		if strings.EqualFold(file, wanted) || strings.EqualFold(file, wanted+".md") {
			return file
		}
	}
	return ""
}

func quoted(name string) string {
	return fmt.Sprintf("%q", Verbatim(quote.Short(name)))
}
