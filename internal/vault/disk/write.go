package disk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/vaultwicket/vaultwicket/internal/budget"
	"github.com/vaultwicket/vaultwicket/internal/vault/disk/system"
)

// ErrChanged is returned if the note was changed between reading and writing it. Nothing was written.
var ErrChanged = errors.New("changed while it was edited, nothing was written")

// Modes of new files, before the user's umask.
const (
	newNote = 0o644
	private = 0o600 // until the mode of the old note is set
)

// mayReplace returns an error for a read-only file.
func mayReplace(p Path, info fs.FileInfo) error {
	if info.Mode().Perm()&0o200 == 0 {
		return &Refusal{Path: p.text, Reason: "is read-only"}
	}
	return nil
}

// checkSize returns an error if a text for the file at p is larger than [MaxNote].
func checkSize(p Path, text []byte) error {
	if len(text) > MaxNote {
		return &SizeError{Path: p.text, Size: int64(len(text)), Limit: MaxNote}
	}
	return nil
}

// Unsettled is the error for a file that was written but may be lost if the system crashes.
type Unsettled struct {
	Name  string
	Cause error
}

func (u *Unsettled) Error() string {
	return fmt.Sprintf("%q was written, but its folder could not be synced: %v", u.Name, u.Cause)
}

func (u *Unsettled) Unwrap() error { return u.Cause }

// syncName makes the name of a written note in a folder durable, or leaves that to the end of gathered changes.
func (f *Folder) syncName(dir *os.Root, folder, name string) error {
	if err := f.sync(dir, folder); err != nil {
		return &Unsettled{name, err}
	}
	return nil
}

// sync makes the names in a folder durable, or leaves that to the end of gathered changes.
func (f *Folder) sync(dir *os.Root, folder string) error {
	if f.gathered == nil {
		return f.sys.Sync(dir)
	}
	f.gathered.mu.Lock()
	defer f.gathered.mu.Unlock()
	f.gathered.folders[folder] = true
	return nil
}

// syncGroup has the folders whose names are made durable together.
type syncGroup struct {
	mu          sync.Mutex
	folders     map[string]bool
	locks       map[string]*sharedLock
	openFolders *folderCache // nil if folders cannot be kept open on this system
	// exchanged is set once the disk has exchanged two files.
	exchanged atomic.Bool
}

// syncAll makes the names in all gathered folders durable, several concurrently.
func (f *Folder) syncAll(g *syncGroup) error {
	folders := slices.Sorted(maps.Keys(g.folders))
	_, err := budget.WaitForEach(len(folders), func(i int) error {
		dir, err := f.enter(Path{text: folders[i]}.segments())
		if err == nil {
			defer dir.Close()
			err = f.sys.Sync(dir)
		} else if IsMissing(err) || system.IsNoName(err) {
			err = nil // the folder was removed since
		}
		if err != nil {
			return &Unsettled{folders[i], err}
		}
		return nil
	})
	return err
}

// sharedLock is the lock of a folder in which several files are changed concurrently.
type sharedLock struct {
	users  int
	dir    *os.Root // its handle keeps the lock
	unlock func()
	ready  sync.Once
}

// lock acquires the lock of a folder for one of several concurrent changes. leave releases it with the last of
// them, and closes dir.
func (g *syncGroup) lock(folder string, dir *os.Root) (leave func()) {
	g.mu.Lock()
	shared := g.locks[folder]
	if shared == nil {
		shared = &sharedLock{dir: dir}
		g.locks[folder] = shared
	}
	shared.users++
	g.mu.Unlock()
	shared.ready.Do(func() { shared.unlock = system.Lock(shared.dir) })
	return func() {
		g.mu.Lock()
		shared.users--
		isLast := shared.users == 0
		if isLast {
			delete(g.locks, folder)
		}
		g.mu.Unlock()
		if isLast {
			shared.unlock()
			shared.dir.Close()
		}
		if dir != shared.dir {
			dir.Close()
		}
	}
}

// Content is the expected content of a file. The zero Content stands for an empty file.
type Content struct {
	text []byte
	sum  string // SHA-256 in hexadecimal; replaces text
	size int64
}

// Text returns the content with these bytes.
func Text(text []byte) Content { return Content{text: text, size: int64(len(text))} }

// Sum returns the content with a SHA-256 in hexadecimal and a size in bytes.
func Sum(sum string, size int64) Content { return Content{sum: sum, size: size} }

// unchanged returns ErrChanged unless the file name has the content.
func (r rooted) unchanged(name string, want Content) error {
	file, err := r.openUnchanged(name, want)
	if err != nil {
		return err
	}
	return file.Close()
}

// openUnchanged opens the file name. The error is ErrChanged unless it has the content. The caller must close
// it: as long as it is open, its inode is not reused, so no other file can be mistaken for it.
func (r rooted) openUnchanged(name string, want Content) (*File, error) {
	file, err := r.open(name)
	if IsMissing(err) && !IsHardLinked(err) {
		return nil, ErrChanged
	}
	if err != nil {
		return nil, err
	}
	if err := file.compare(want); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// compareAtOnce is how many bytes of a file are compared at once. Smaller files take no more memory than they have.
const compareAtOnce = 64 << 10

// compare returns ErrChanged unless the file has the content.
func (f *File) compare(want Content) error {
	if f.Info.Size() != want.size {
		return ErrChanged
	}
	if want.sum != "" {
		hash := sha256.New()
		if _, err := io.Copy(hash, io.LimitReader(f, want.size+1)); err != nil {
			return err
		}
		if hex.EncodeToString(hash.Sum(nil)) != want.sum {
			return ErrChanged
		}
		return nil
	}
	text := want.text
	chunk := make([]byte, min(len(text)+1, compareAtOnce)) // one byte more shows that the file is longer
	for {
		n, err := f.Read(chunk)
		if n > len(text) || !bytes.Equal(chunk[:n], text[:n]) {
			return ErrChanged
		}
		text = text[n:]
		if err == io.EOF && len(text) == 0 {
			return nil
		}
		if err == io.EOF {
			return ErrChanged
		}
		if err != nil {
			return err
		}
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Parts of the names of temporary files: 16 hexadecimal digits between a prefix and a suffix.
const (
	tempPrefix = ".vaultwicket-"
	tempDigits = 16
	tempSuffix = ".tmp"
)

// temporary returns a new hidden name that no note can have.
func temporary() string {
	return fmt.Sprintf("%s%0*x%s", tempPrefix, tempDigits, rand.Uint64(), tempSuffix)
}

func isTemporary(name string) bool {
	rest, hasPrefix := strings.CutPrefix(name, tempPrefix)
	digits, hasSuffix := strings.CutSuffix(rest, tempSuffix)
	return hasPrefix && hasSuffix && len(digits) == tempDigits && strings.Trim(digits, "0123456789abcdef") == ""
}
