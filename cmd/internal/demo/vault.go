package demo

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// demoVault is the vault of the demo: a few notes and the settings of its
// daily notes.
//
//go:embed all:demovault
var demoVault embed.FS

// demoNote is today's note of the demo.
const demoNote = "---\ntags: [daily]\n---\n## Plan\n\n- [x] water the plants\n\n## Log\n\n"

// unpackDemo writes the built-in vault into a new temporary folder. The caller
// removes it with the function that comes back. The daily note is that of now.
func unpackDemo(now time.Time) (folder string, remove func() error, err error) {
	today := now.Format(time.DateOnly) // the format in the vault's own settings
	parent, err := os.MkdirTemp("", "vaultwicket-demo-")
	if err != nil {
		return "", nil, err
	}
	remove = func() error { return os.RemoveAll(parent) }
	folder = filepath.Join(parent, "Demo")
	files, err := fs.Sub(demoVault, "demovault")
	if err == nil {
		err = os.CopyFS(folder, files)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "Daily", today+".md"), []byte(demoNote), 0o600)
	}
	if err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return folder, remove, nil
}
