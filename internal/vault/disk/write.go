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

// ErrChanged says that the note was changed between reading and writing it. Nothing was
// written.
var ErrChanged = errors.New("changed while it was edited, nothing was written")

// Modes of new files, before the user's umask.
const (
	newNote = 0o644
	private = 0o600 // until the old note's mode is set
)

// mayReplace refuses a read-only file.
func mayReplace(p Path, info fs.FileInfo) error {
	if info.Mode().Perm()&0o200 == 0 {
		return &Refusal{Path: p.text, Reason: "is read-only"}
	}
	return nil
}

// checkSize refuses a text that is larger than [MaxNote] as that of the file at p.
func checkSize(p Path, text []byte) error {
	if len(text) > MaxNote {
		return &SizeError{Path: p.text, Size: int64(len(text)), Limit: MaxNote}
	}
	return nil
}

// Unsettled says that a file was written and may yet be lost if the system crashes.
type Unsettled struct {
	Name  string
	Cause error
}

func (u *Unsettled) Error() string {
	return fmt.Sprintf("%q was written, but its folder could not be synced: %v", u.Name, u.Cause)
}

func (u *Unsettled) Unwrap() error { return u.Cause }

// settle makes the name of a written note in a folder durable, or leaves that to the end of several changes.
func (f *Folder) settle(dir *os.Root, folder, name string) error {
	if err := f.sync(dir, folder); err != nil {
		return &Unsettled{name, err}
	}
	return nil
}

// sync makes the names in a folder durable, or leaves that to the end of several changes.
func (f *Folder) sync(dir *os.Root, folder string) error {
	if f.gathered == nil {
		return f.sys.Sync(dir)
	}
	f.gathered.mu.Lock()
	defer f.gathered.mu.Unlock()
	f.gathered.folders[folder] = true
	return nil
}

// gathered are the folders with names that are to be made durable.
type gathered struct {
	mu      sync.Mutex
	folders map[string]bool
	locks   map[string]*sharedLock
	kept    *keptFolders // nil where folders cannot be kept open
	// exchanged says that the disk exchanges files.
	exchanged atomic.Bool
}

// syncAll makes the names in all gathered folders durable, several at once.
func (f *Folder) syncAll(g *gathered) error {
	folders := slices.Sorted(maps.Keys(g.folders))
	_, err := budget.WaitForEach(len(folders), func(i int) error {
		dir, err := f.enter(Path{text: folders[i]}.segments())
		if err == nil {
			defer dir.Close()
			err = f.sys.Sync(dir)
		} else if IsMissing(err) || system.IsNoName(err) {
			err = nil // it was removed since
		}
		if err != nil {
			return &Unsettled{folders[i], err}
		}
		return nil
	})
	return err
}

// sharedLock is the lock of a folder in which several files are changed at once.
type sharedLock struct {
	users  int
	dir    *os.Root // through which it is held
	unlock func()
	ready  sync.Once
}

// lock takes the lock of a folder for one of several changes that are made at once. leave gives it back with the last of
// them, and closes dir.
func (g *gathered) lock(folder string, dir *os.Root) (leave func()) {
	g.mu.Lock()
	held := g.locks[folder]
	if held == nil {
		held = &sharedLock{dir: dir}
		g.locks[folder] = held
	}
	held.users++
	g.mu.Unlock()
	held.ready.Do(func() { held.unlock = system.Lock(held.dir) })
	return func() {
		g.mu.Lock()
		held.users--
		isLast := held.users == 0
		if isLast {
			delete(g.locks, folder)
		}
		g.mu.Unlock()
		if isLast {
			held.unlock()
			held.dir.Close()
		}
		if dir != held.dir {
			dir.Close()
		}
	}
}

// Content is what a file has to contain. The zero Content is that of no file.
type Content struct {
	text []byte
	sum  string // the SHA-256 in hexadecimal, in place of the text
	size int64
}

// Text is the content with these bytes.
func Text(text []byte) Content { return Content{text: text, size: int64(len(text))} }

// Sum is the content of so many bytes with this SHA-256, in hexadecimal.
func Sum(sum string, size int64) Content { return Content{sum: sum, size: size} }

// unchanged returns ErrChanged unless the file name still has the content.
func (r rooted) unchanged(name string, then Content) error {
	file, err := r.openUnchanged(name, then)
	if err != nil {
		return err
	}
	return file.Close()
}

// openUnchanged opens the file name; the error is ErrChanged unless it still has the
// content. The caller closes it: as long as it is open, its inode is not reused, so no other
// file can be taken for it.
func (r rooted) openUnchanged(name string, then Content) (*File, error) {
	file, err := r.open(name)
	if IsMissing(err) && !IsHardLinked(err) {
		return nil, ErrChanged
	}
	if err != nil {
		return nil, err
	}
	if err := file.compare(then); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// compare returns ErrChanged unless the file has the content.
func (f *File) compare(then Content) error {
	if f.Info.Size() != then.size {
		return ErrChanged
	}
	if then.sum != "" {
		hash := sha256.New()
		if _, err := io.Copy(hash, f); err != nil {
			return err
		}
		if hex.EncodeToString(hash.Sum(nil)) != then.sum {
			return ErrChanged
		}
		return nil
	}
	text := then.text
	chunk := make([]byte, 64<<10)
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

// The names of temporary files: 16 hexadecimal digits between these.
const (
	tempBegin  = ".vaultwicket-"
	tempDigits = 16
	tempEnd    = ".tmp"
)

// temporary returns a hidden name that no note has.
func temporary() string {
	return fmt.Sprintf("%s%0*x%s", tempBegin, tempDigits, rand.Uint64(), tempEnd)
}

func isTemporary(name string) bool {
	rest, begins := strings.CutPrefix(name, tempBegin)
	digits, ends := strings.CutSuffix(rest, tempEnd)
	return begins && ends && len(digits) == tempDigits && strings.Trim(digits, "0123456789abcdef") == ""
}
