package clients

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
)

const (
	maxBackups   = 20 // of one file; the oldest is deleted
	backupEnding = ".bak"
	absentEnding = ".absent" // there was no file
)

// backupsOf returns the folder with copies of files before each change. It is separate from their
// folders, because some files are secret, and some folders are shared or watched.
func (i Installer) backupsOf(c Client, f file) (folder string) {
	digest := sha256.Sum256([]byte(f.target))
	return filepath.Join(i.Backups, c.ID+"-"+hex.EncodeToString(digest[:4]))
}

// backupNames lists the backups in a folder, the latest first.
func backupNames(folder string) []string {
	entries, _ := os.ReadDir(folder)
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
