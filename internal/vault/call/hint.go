package call

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vaultwicket/vaultwicket/allowlist"
	"github.com/vaultwicket/vaultwicket/internal/vault/answer"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk"
	"github.com/vaultwicket/vaultwicket/internal/vault/frontmatter"
	"github.com/vaultwicket/vaultwicket/internal/vault/index"
	"github.com/vaultwicket/vaultwicket/internal/vault/lookup"
)

// On returns the error of a command, with a hint if it is about a file or folder that was not found.
func On(v *Vault, command string, err error) error {
	fault, ok := errors.AsType[*answer.Fault](err)
	if !ok || fault.Missing == (answer.Missing{}) || v.Ctx.Err() != nil {
		return err
	}
	hinted := *fault
	hint := hintFor(v, fault.Missing)
	folderCommand := allowlist.OfFolders(command)
	maker := allowlist.Maker(command)
	switch {
	case hint != "" && allowlist.Takes(command, "folder"):
		hinted.Kind.Hint = strings.Replace(
			hint,
			" is a folder: list its notes with files folder=",
			" is a folder: give it as folder=",
			1,
		)
	case hint != "" && folderCommand != "":
		hinted.Kind.Hint = strings.Replace(
			hint,
			" is a folder: list its notes with files folder=",
			" is a folder: use "+folderCommand+" path=",
			1,
		)
	case hint != "":
		hinted.Kind.Hint = hint
	case maker != "":
		hinted.Kind.Hint = answer.NotFound.Hint + "; " + maker + " makes a note"
	default:
		return err
	}
	return &hinted
}

func hintFor(v *Vault, m answer.Missing) string {
	var files, folders []string // those that the caller may see
	_, err := v.EachEntry(disk.Path{},
		func(l Listed) { files = append(files, l.Path.String()) },
		func(path string) { folders = append(folders, path) })
	if err != nil {
		return ""
	}
	if m.Folder {
		wanted := strings.Trim(m.Typed, "/")
		for _, note := range files {
			if strings.EqualFold(note, wanted) || strings.EqualFold(note, wanted+".md") {
				folder := cmp.Or(note[:max(strings.LastIndexByte(note, '/'), 0)], "/")
				return fmt.Sprintf("did you mean %s? %s is a file in it", answer.Quoted(folder), answer.Quoted(note))
			}
		}
		return answer.DidYouMean(lookup.NearestPaths(m.Typed, folders))
	}
	// Suggest first a folder of that exact name, then files with similar names, then a folder whose name is similar to
	// that of the parent folder.
	typed := m.Typed
	for _, name := range []string{typed, typed + ".md"} {
		if path, err := v.PathOf(name); err == nil && v.Disk.HasStub(path) {
			return answer.HintInCloud
		}
	}
	if folder := sameFolder(typed, folders); folder != "" {
		return fmt.Sprintf(
			"%s is a folder: list its notes with files folder=%s",
			answer.Quoted(folder),
			answer.Quoted(folder),
		)
	}
	if m.Ext != "" {
		files = slices.DeleteFunc(files, func(file string) bool { return !strings.HasSuffix(file, "."+m.Ext) })
	}
	if similar := lookup.NearestPaths(typed, files); len(similar) > 0 {
		return answer.DidYouMean(similar)
	}
	slash := strings.LastIndexByte(strings.Trim(typed, "/"), '/')
	if slash < 0 {
		idx, err := v.IndexOfNames()
		if err != nil {
			return ""
		}
		for i, aliases := range index.Collect(idx.Files, func(f index.Facts) []string { return frontmatter.Aliases(f.Properties()) }) {
			if slices.ContainsFunc(aliases, func(alias string) bool { return strings.EqualFold(alias, typed) }) {
				return fmt.Sprintf(
					"%s is an alias of path=%s",
					answer.Quoted(typed),
					answer.Quoted(idx.Files[i].Path.String()),
				)
			}
		}
		return ""
	}
	parent := strings.Trim(typed, "/")[:slash]
	if similar := lookup.NearestPaths(parent, folders); len(similar) > 0 && sameFolder(parent, folders) == "" {
		return fmt.Sprintf("folder %s not found; %s", answer.Quoted(parent), answer.DidYouMean(similar))
	}
	return ""
}

// sameFolder returns the folder with a path, ignoring case; "" if there is none.
func sameFolder(typed string, folders []string) string {
	wanted := strings.Trim(typed, "/")
	for _, folder := range folders {
		if strings.EqualFold(folder, wanted) {
			return folder
		}
	}
	return ""
}
