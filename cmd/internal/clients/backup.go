package clients

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"vaultwicket/cmd/internal/terminal"
	"vaultwicket/gateway/state/private"
)

const (
	maxBackups   = 20 // of one file; the oldest is deleted
	backupEnding = ".bak"
	absentEnding = ".absent" // there was no file
)

// backups is the folder with copies of files before each change. It is separate from their
// folders, because some files are secret, and some folders are shared or watched.
type backups struct{ folder string }

func (i Installer) backupsOf(c Client, f file) backups {
	digest := sha256.Sum256([]byte(f.target))
	return backups{filepath.Join(i.Backups, c.ID+"-"+hex.EncodeToString(digest[:4]))}
}

// keep writes a backup and returns its name, "" if there was no file.
func (b backups) keep(f file, now time.Time) (string, error) {
	if err := private.MakeFolder(private.Disk{}, b.folder); err != nil {
		unsafe, ok := errors.AsType[*private.Unsafe](err) // others could read the backups
		if !ok {
			return "", environment(b.folder, err)
		}
		return "", terminal.Fail(terminal.ExitNotReady, fmt.Sprintf("the folder for backups %v; nothing was written", unsafe),
			cmp.Or(unsafe.Remedy(), "move it away; it is made again"))
	}
	ending := backupEnding
	if f.missing() {
		ending = absentEnding
	}
	name := filepath.Join(b.folder, now.UTC().Format("20060102T150405.000000000Z")+ending)
	out, err := private.Disk{}.Create(name)
	if err != nil {
		return "", environment(name, err)
	}
	_, err = out.Write(f.content)
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		os.Remove(name)
		return "", environment(name, err)
	}
	for _, old := range b.names()[min(len(b.names()), maxBackups):] {
		_ = os.Remove(filepath.Join(b.folder, old))
	}
	if f.missing() {
		return "", nil
	}
	return name, nil
}

// names lists the backups, the latest first.
func (b backups) names() []string {
	entries, _ := os.ReadDir(b.folder)
	var names []string
	for _, entry := range entries {
		if ending := filepath.Ext(entry.Name()); entry.Type().IsRegular() && (ending == backupEnding || ending == absentEnding) {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	slices.Reverse(names)
	return names
}
