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

// RecordFolder is a folder of the owner in which a store keeps a small file for each of its records. A lock makes
// processes read and change it one after another.
type RecordFolder struct {
	Path     string // absolute
	Store    Store  // the name of the store in errors
	LockFile string // the name of the lock file in the folder
	MaxFiles int    // maximum number of files: if there are more, something else has created them

	mu sync.Mutex // serializes the calls of this process, because waiting for the lock file is polling
}

// recordPatience is how long to wait for the lock of a folder, which is held for a few small files.
const recordPatience = 10 * time.Second

// Use calls do with the sorted names in the folder while it holds the lock. If the folder does not exist, it calls do with
// nil and without a lock, and creates nothing. The error is that of do or an *[Unusable].
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

// UseExisting is [RecordFolder.Use] for a folder that was just created or checked.
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

// names returns the sorted names in the folder, including that of the lock file.
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

// Read reads the file of a record and calls parse with up to limit+1 bytes of it. damage says why the content cannot be
// trusted, "" if it can: another user can access the file, or parse returned false. The error is an *[Unusable].
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

// Sealed returns the content of the file of a record: a line of JSON. record returns the record with the given code. The
// code is the HMAC-SHA256, in hexadecimal, of the JSON of the record with the code "".
func Sealed(key []byte, record func(code string) any) ([]byte, error) {
	text, err := json.Marshal(record(""))
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	text, err = json.Marshal(record(hex.EncodeToString(mac.Sum(nil))))
	if err != nil {
		return nil, err
	}
	return append(text, '\n'), nil
}
