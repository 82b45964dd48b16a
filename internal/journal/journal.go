// Package journal is the write-ahead log of changes to notes: before a change, an entry that says
// what will be done, with the bytes of every note it touches; after it, the outcome. Undo works
// from it.
//
// It is in the user's state folder, never in a vault, one folder for each vault. A record is a
// line of JSON after its checksum, in append-only segments. Note contents are content-addressed by
// SHA-256. Small ones are lines too, as the difference from an earlier version of the same note
// where that is shorter, so that one fsync makes an entry durable; larger ones are files next to
// the segment. A segment needs nothing outside of it but outcomes of its entries, which may follow
// in a later one, so the oldest can be removed at any time.
//
// What is asked for (the newest entry of a caller, of a batch, of a note, one by its id) is found by
// an index: a file beside each segment that is full, made from it, and made again if it is missing
// or damaged. So it takes as long in a long journal as in a short one. [Journal.Check] reads it all.
//
// Entries younger than a day are never removed to make room, and one caller can write a half of what the others leave
// of the journal within a day, so that no caller can push out the record of a change, and a newcomer always has room. A
// change for which there is none is refused.
//
// A torn or altered line is reported with its offset and skipped, never removed: the next record
// begins on a line of its own.
//
// The gateway and the embedded program both use the package. It never reads a vault, and the paths
// that it returns are untrusted input.
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

// limits say how much is kept.
type limits struct {
	// MaxBytes bounds the journal of a vault on the disk. Above it the oldest entries are removed,
	// except those of the last 24 hours: while these fill it, a change is refused with [Full].
	MaxBytes int64
	// MaxAge is how long an entry is kept. Whole segments are removed, so one may stay an eighth
	// longer.
	MaxAge time.Duration
}

const (
	// protected is the age below which an entry is never removed to make room, so that a change
	// can be undone the next day.
	protected = 24 * time.Hour
	// entriesAtLeast is how many entries the journal has room for, however large they are.
	entriesAtLeast = 4
	// The longest segment, except for one long entry. A process reads it once before it writes; a
	// changed note is kept whole once in each.
	maxSegment = 1 << 20
)

// Journal is the journal of one vault. It is safe for concurrent use by goroutines and processes.
type Journal struct {
	folder folder
	limits limits
	sys    ownerfiles.System
	now    func() time.Time
	inText int64 // maxText, or less in tests
	lines  int64 // maxSegment, or less in tests

	mu         sync.Mutex // one that writes at a time, in this process
	tail       *tail      // what is known of the segment that is written to
	recent     recent
	cleaned    time.Time // when old segments were last looked for
	older      int64     // what the segments before the tail take, when last looked at
	unrecorded unrecorded
	looked     atomic.Bool            // for a change that was broken off
	known      known                  // of the segments, for questions
	claimed    atomic.Pointer[Claims] // of the change of several files that was last asked for
	followed   followed               // the lineage of notes
}

// OpenAs returns the journal of the vault at an absolute path, below the folder dir. A journal
// that was kept under another path, former, is renamed if there is none under vault. OpenAs reads
// nothing; a missing folder is created by the first write.
func OpenAs(dir, vault, former string) *Journal {
	return &Journal{
		folder: folder{root: dir, dir: folderOf(dir, vault), former: folderOf(dir, former), vault: vault},
		limits: limits{
			256 << 20,
			90 * 24 * time.Hour,
		}, sys: ownerfiles.Disk{}, now: time.Now, inText: maxText, lines: maxSegment,
	}
}

// folder is where the journal of one vault is.
type folder struct {
	root   string // of the journals of all vaults
	dir    string // of this vault
	former string // where it may have been kept, mostly dir
	vault  string
}

func folderOf(root, vault string) string {
	sum := sha256.Sum256([]byte(vault))
	return filepath.Join(root, hex.EncodeToString(sum[:16]))
}

func (p folder) file(name string) string { return filepath.Join(p.dir, name) }

// readmeFile is the name of the file that describes the folder.
const readmeFile = "vault.txt"

// prepare creates missing folders. It returns an error unless they belong to this user alone.
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
	// Write the README file. Nothing depends on it.
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

// exists reports whether anything was ever written. It returns an error if other users can
// access the folders.
func (p folder) exists() (bool, error) {
	if err := p.adoptFormer(); err != nil {
		return false, err
	}
	for _, dir := range []string{p.root, p.dir} {
		if there, err := isFolder(dir); err != nil || !there {
			return false, err
		}
	}
	return true, nil
}

// adoptFormer renames a journal that was kept under another path of the vault, unless there is a
// new one.
func (p folder) adoptFormer() error {
	if p.former == p.dir {
		return nil
	}
	if _, err := os.Lstat(p.dir); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if there, err := isFolder(p.former); err != nil || !there {
		return err
	}
	err := os.Rename(p.former, p.dir)
	if _, there := os.Lstat(p.dir); there == nil {
		return nil // another process was faster
	}
	return unusable(p.former, err)
}

// isFolder reports whether there is a folder at dir. It returns an error unless it belongs to
// this user alone.
func isFolder(dir string) (bool, error) {
	err := ownerfiles.CheckFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, unusable(dir, err)
}

const (
	changeLock = "change.lock" // held by a change of several files, see [Turn]
	writerLock = "write.lock"  // held by a change, one of several files until it is begun
	appendLock = "append.lock" // held while something is written here
)

// patience is how long the short lock is waited for. It is held for one entry of up to a gigabyte.
const patience = 30 * time.Second

// Extent is how far the journal has grown; it differs after each entry. It is zero if nothing can
// be read.
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

// lockAppend takes the lock of writers.
func (p folder) lockAppend() (unlock func(), err error) {
	unlock, err = ownerfiles.Lock(context.Background(), p.file(appendLock), patience)
	return unlock, store.Locked(p.file(appendLock), err)
}
