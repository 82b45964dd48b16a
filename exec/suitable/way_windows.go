package suitable

import (
	"errors"
	"io/fs"
	"path/filepath"

	"vaultwicket/allowlist/quote"
	"vaultwicket/exec/acl"
	"vaultwicket/exec/way"
)

// Way looks at every folder on the way to a program, through the links as they are:
// whoever can rename something on it, or turn a link elsewhere, can put another program
// in its place. It says why a path is not safe, "" if it is. The path is absolute.
func Way(path string) (reason string, err error) {
	errUnsafe := errors.New("a folder is not safe")
	err = way.Walk(path, func(folder, entry string, info fs.FileInfo) (err error) {
		reason, err = safeStep(folder, entry, info)
		if reason != "" {
			return errUnsafe
		}
		return err
	})
	if err == errUnsafe {
		err = nil
	}
	return reason, err
}

// safeStep refuses a folder in which somebody else can replace what is in it, and a link
// or folder that somebody else can replace. The root of a drive often lets every user make
// folders; in the folder of the program nobody may: libraries are loaded from there.
func safeStep(folder, entry string, info fs.FileInfo) (reason string, err error) {
	rights := acl.ReplaceIn
	if !info.IsDir() {
		rights |= acl.AddTo
	}
	if folder != filepath.Dir(folder) {
		rights |= acl.MoveAway
	}
	reason, err = others(folder, rights)
	if reason != "" || err != nil {
		return inFolder(folder, reason), err
	}
	if way.IsLink(entry, info) {
		if reason, err = others(entry, acl.ChangeFile); reason != "" {
			reason = "is reached through the link " + quote.Quoted(entry) + ", which " + reason
		}
	}
	return reason, err
}

func inFolder(folder, reason string) string {
	if reason == "" {
		return ""
	}
	return "is in the folder " + quote.Quoted(folder) + ", which " + reason
}
