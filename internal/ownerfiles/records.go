package ownerfiles

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// RecordFolder is a folder of the owner in which a store has a small file for each of its records. All processes read and
// change it one after the other.
type RecordFolder struct {
	Path     string // absolute
	Store    Store  // as the errors name it
	LockFile string // the name of the file in the folder that is locked
	MaxFiles int    // how many names are read: with more, others than the store have made them

	mu sync.Mutex // one at a time in this process: the lock of the folder is waited for by looking
}

// recordPatience is how long the lock of a folder is waited for: it is held for a few small files.
const recordPatience = 10 * time.Second

// Use calls do with the names in the folder, sorted, under its lock. If there is no folder, it calls do with nil, without
// a lock, and makes nothing. Its errors are that of do and *[Unusable].
func (f *RecordFolder) Use(do func(names []string) error) error {
	if !filepath.IsAbs(f.Path) {
		return f.Store.Unusable(f.Path, &Unsafe{Path: f.Path, Problem: NotAbsolute})
	}
	err := CheckFolder(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return do(nil)
	}
	if err != nil {
		return f.Store.Unusable(f.Path, err)
	}
	return f.UseExisting(do)
}

// UseExisting is [RecordFolder.Use] for a folder that was made or checked right before.
func (f *RecordFolder) UseExisting(do func(names []string) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := filepath.Join(f.Path, f.LockFile)
	unlock, err := Lock(context.Background(), path, recordPatience)
	if errors.Is(err, context.DeadlineExceeded) {
		return &Unusable{Store: f.Store, Path: path, Reason: "held by another process", Cause: err}
	}
	if err != nil {
		return f.Store.Unusable(path, err)
	}
	defer unlock()
	names, err := f.names()
	if err != nil {
		return err
	}
	return do(names)
}

// names returns the names in the folder, sorted: that of the lock is among them.
func (f *RecordFolder) names() ([]string, error) {
	folder, err := os.Open(f.Path)
	if err != nil {
		return nil, f.Store.Unusable(f.Path, err)
	}
	defer folder.Close()
	names, err := folder.Readdirnames(f.MaxFiles + 1)
	if err != nil && err != io.EOF {
		return nil, f.Store.Unusable(f.Path, err)
	}
	if len(names) > f.MaxFiles {
		return nil, &Unusable{Store: f.Store, Path: f.Path, Reason: "has too many files"}
	}
	slices.Sort(names)
	return names, nil
}

// Read reads the file of a record, of at most limit bytes, and has parse decode it. damage says why it is not what was
// written, "" if it is: another user can access the file, or parse returns false. The error is one of the system.
func (f *RecordFolder) Read(name string, limit int, parse func(data []byte) bool) (damage string, err error) {
	path := filepath.Join(f.Path, name)
	data, err := Read(path, limit)
	if unsafe, ok := errors.AsType[*Unsafe](err); ok {
		return unsafe.Reason(), nil
	}
	if err != nil {
		return "", f.Store.Unusable(path, err)
	}
	if !parse(data) {
		return "is not what was written", nil
	}
	return "", nil
}

// Sealed returns a record as the content of its file, a line of JSON. record returns it with a code in it: the code is the
// HMAC-SHA256, in hexadecimal, of the JSON of the record with the code "".
func Sealed(key []byte, record func(code string) any) ([]byte, error) {
	text, err := json.Marshal(record(""))
	if err != nil {
		return nil, err
	}
	sum := hmac.New(sha256.New, key)
	sum.Write(text)
	text, err = json.Marshal(record(hex.EncodeToString(sum.Sum(nil))))
	return append(text, '\n'), err
}
