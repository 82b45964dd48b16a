// Package journal is a write-ahead log of changes to notes. Before a change, it records an entry with the
// planned steps and the bytes of every affected note; after the change, it records the outcome. Undo is based
// on it.
//
// The journal is in the user's state folder, never in a vault; each vault has a folder of its own. A record is
// a line with a checksum and JSON, in append-only segments. Contents of notes are addressed by their SHA-256.
// Small ones are lines, too, stored as the difference from an earlier version of the same note if that is
// shorter, so that one fsync makes an entry durable; larger ones are files next to the segment. A segment is
// self-contained except for outcomes of its entries, which may be in a later segment, so the oldest segment can
// be removed at any time.
//
// Queries (for the newest entry of a caller, a batch or a note, or for an entry by its id) use an index: a file
// next to each full segment, which is derived from it and is rebuilt if it is missing or damaged. So a query
// takes no longer in a long journal than in a short one. [Journal.Check] reads everything.
//
// Entries younger than a day are never removed to make room. Within a day, one caller can write up to half of
// the space that the others leave, so that no caller can push out the record of a change, and a new caller
// always has space. A change for which there is none is refused.
//
// A torn or altered line is reported with its offset and skipped, but never removed: the next record begins on
// a line of its own.
//
// The gateway and the embedded program both use this package. It never reads a vault, and callers must treat
// the paths that it returns as untrusted.
package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vaultwicket/vaultwicket/internal/ownerfiles"
)

// limits determine how much is kept.
type limits struct {
	// MaxBytes limits the size of a vault's journal on the disk. Above it, the oldest entries are removed,
	// except those of the last 24 hours: while these fill the journal, a change is refused with [Full].
	MaxBytes int64
	// MaxAge is the age from which entries are removed. Whole segments are removed, so an entry may stay an
	// eighth longer.
	MaxAge time.Duration
}

const (
	// protected is the age below which an entry is never removed to make room, so that a change can still be
	// undone the next day.
	protected = 24 * time.Hour
	// entriesAtLeast is the number of entries that fit into the journal, however large they are.
	entriesAtLeast = 4
	// maxSegment limits the bytes of a segment, except for a single long entry. A process reads the newest
	// segment once before it writes, and each segment has one whole copy of every note changed in it.
	maxSegment = 1 << 20
)

// Journal is the journal of one vault. It is safe for concurrent use by goroutines and processes.
type Journal struct {
	folder folder
	limits limits
	sys    ownerfiles.System
	now    func() time.Time
	inText int64 // maxText, or less in tests
	lines  int64 // maximum size of a segment: maxSegment, or less in tests

	mu            sync.Mutex // allows one writer at a time in this process
	tail          *tail      // the segment that is written to
	recent        recent
	cleaned       time.Time // time of the last search for old segments
	older         int64     // size of the segments before the tail, at the last check
	unrecorded    unrecorded
	checkedNewest atomic.Bool            // whether the newest entry was checked for an interrupted change
	summaries     summaryCache           // summaries of segments, for queries
	lastClaims    atomic.Pointer[Claims] // of the last change of several files that was queried
	lineage       lineageCache           // the lineage of notes
}

// OpenAs returns the journal of the vault at an absolute path, in a folder below dir. A journal that was kept
// for the path former is renamed if there is none for vault. OpenAs reads nothing; the first write creates a
// missing folder.
func OpenAs(dir, vault, former string) *Journal {
	return &Journal{
		folder: folder{root: dir, dir: folderOf(dir, vault), former: folderOf(dir, former), vault: vault},
		limits: limits{MaxBytes: 256 << 20, MaxAge: 90 * 24 * time.Hour},
		sys:    ownerfiles.Disk{},
		now:    time.Now,
		inText: maxText,
		lines:  maxSegment,
	}
}

// folder is the location of one vault's journal.
type folder struct {
	root   string // of the journals of all vaults
	dir    string // of this vault
	former string // where the journal may have been before; usually dir
	vault  string
}

func folderOf(root, vault string) string {
	sum := sha256.Sum256([]byte(vault))
	return filepath.Join(root, hex.EncodeToString(sum[:16]))
}

func (p folder) file(name string) string { return filepath.Join(p.dir, name) }

// readmeFile is the name of the file that describes the folder.
const readmeFile = "vault.txt"

// prepare creates missing folders. It returns an error unless they belong to this user only.
func (j *Journal) prepare() error {
	if !filepath.IsAbs(j.folder.root) {
		return unusable(j.folder.root, &ownerfiles.Unsafe{Path: j.folder.root, Problem: ownerfiles.NotAbsolute})
	}
	if err := ownerfiles.CheckFolder(j.folder.dir); err == nil {
		return unusable(j.folder.root, ownerfiles.CheckFolder(j.folder.root))
	}
	if err := j.folder.adoptFormer(); err != nil {
		return err
	}
	if err := j.makeFolder(j.folder.root); err != nil {
		return err
	}
	if err := j.makeFolder(j.folder.dir); err != nil {
		return err
	}
	// Nothing depends on the README file.
	file, err := j.sys.Create(j.folder.file(readmeFile))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return unusable(j.folder.dir, err)
	}
	_, err = fmt.Fprintf(file, "What vaultwicket needs to undo changes in the vault\n%s\n", j.folder.vault)
	return unusable(j.folder.dir, errors.Join(err, file.Close()))
}

func (j *Journal) makeFolder(dir string) error {
	return unusable(dir, ownerfiles.MakeFolder(j.sys, dir))
}

// exists reports whether anything was ever written. It returns an error if other users have access to the
// folders.
func (p folder) exists() (bool, error) {
	if err := p.adoptFormer(); err != nil {
		return false, err
	}
	for _, dir := range []string{p.root, p.dir} {
		if exists, err := isFolder(dir); err != nil || !exists {
			return false, err
		}
	}
	return true, nil
}

// adoptFormer renames a journal that was kept for another path of the vault, unless there already is a new one.
func (p folder) adoptFormer() error {
	if p.former == p.dir {
		return nil
	}
	if _, err := os.Lstat(p.dir); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if exists, err := isFolder(p.former); err != nil || !exists {
		return err
	}
	err := os.Rename(p.former, p.dir)
	if _, statErr := os.Lstat(p.dir); statErr == nil {
		return nil // another process was faster
	}
	return unusable(p.former, err)
}

// isFolder reports whether there is a folder at dir. It returns an error unless the folder belongs to this user
// only.
func isFolder(dir string) (bool, error) {
	err := ownerfiles.CheckFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, unusable(dir, err)
}

const (
	changeLock = "change.lock" // held during a change of several files, see [Turn]
	writerLock = "write.lock"  // held during a change of one file, and until a change of several files has begun
	appendLock = "append.lock" // held while the journal is written
)

// patience limits the wait for the append lock. It is held while one entry of up to a gigabyte is written.
const patience = 30 * time.Second

// Extent identifies how far the journal has grown. It differs after each entry. It is zero if the journal
// cannot be read.
type Extent struct {
	segment uint64
	size    int64
}

// Extent returns how far the journal has grown.
func (j *Journal) Extent() Extent {
	j.mu.Lock()
	if j.isCurrent() {
		defer j.mu.Unlock()
		return Extent{j.tail.number, j.tail.read}
	}
	j.mu.Unlock()
	segments, err := j.segments()
	if err != nil || len(segments) == 0 {
		return Extent{}
	}
	newest := segments[len(segments)-1]
	return Extent{newest.number, newest.size}
}

// lockAppend acquires the lock for writing to the journal.
func (p folder) lockAppend() (unlock func(), err error) {
	unlock, err = ownerfiles.Lock(context.Background(), p.file(appendLock), patience)
	return unlock, store.Locked(p.file(appendLock), err)
}
