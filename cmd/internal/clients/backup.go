package clients

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	maxBackups   = 20 // of one file; the oldest is deleted
	backupEnding = ".bak"
	absentEnding = ".absent" // there was no file
)

// backups is the folder with what a file was before each change. They are kept away
// from the file: some are secret, and some folders are shared or watched.
type backups struct{ folder string }

func (i Installer) backupsOf(c Client, f file) backups {
	digest := sha256.Sum256([]byte(f.target))
	return backups{filepath.Join(i.Backups, c.ID+"-"+hex.EncodeToString(digest[:4]))}
}

// keep writes a backup and returns its name, "" if there was no file.
func (b backups) keep(f file, now time.Time) (string, error) {
	if err := os.MkdirAll(b.folder, 0o700); err != nil {
		return "", environment(b.folder, err)
	}
	ending := backupEnding
	if f.missing() {
		ending = absentEnding
	}
	name := filepath.Join(b.folder, now.UTC().Format("20060102T150405.000000000Z")+ending)
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", environment(name, err)
	}
	_, err = out.Write(f.content)
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		os.Remove(name)
		return "", environment(name, err)
	}
	b.prune()
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

func (b backups) prune() {
	if names := b.names(); len(names) > maxBackups {
		for _, name := range names[maxBackups:] {
			_ = os.Remove(filepath.Join(b.folder, name))
		}
	}
}

// original is the content of a file before a change, or that there was none.
type original struct {
	content []byte
	absent  bool
}

// originals returns the backups, the latest first.
func (b backups) originals() []original {
	var list []original
	for _, name := range b.names() {
		if strings.HasSuffix(name, absentEnding) {
			list = append(list, original{absent: true})
			continue
		}
		if content, err := os.ReadFile(filepath.Join(b.folder, name)); err == nil {
			list = append(list, original{content: content})
		}
	}
	return list
}
