// Package journal keeps what is needed to undo a change of notes: before it, an
// entry that says what is about to be done, with the bytes of every note that it
// touches, and after it, how it ended.
//
// It is in the user's own folder for such things, never in a vault, one folder
// for each vault. A record is a line of JSON after its checksum, in
// segments that are only ever appended to. The bytes of notes are named by their
// SHA-256. Small ones are lines too, the difference from an earlier version of
// the same note where that is shorter, so that one sync makes an entry and all
// it needs durable; what does not fit a line is a file next to the segment. Nothing in a
// segment needs anything outside of it but the outcomes of its entries, which
// may come later. So the oldest segment can be removed at any time, and no
// bytes remain that nobody refers to.
//
// What is younger than a day is never removed to make room, and one caller can
// write a quarter of the journal within an hour: nobody gets rid of the record of
// a change by making more of them. A change for which there is no room is refused.
//
// A line that was cut short, or altered, is reported with its place and skipped.
// It is never removed: what follows it begins on a line of its own.
//
// Of this program the package imports only gateway/state/private and what is below
// itself: the gateway uses it, and so does the embedded program. It never reads a
// vault, and the paths that it returns are as untrusted as any other input.
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
	"time"

	"vaultwicket/gateway/state/private"
)

// Limits say how much is kept. The zero Limits keep 256 MiB and 90 days.
type Limits struct {
	// MaxBytes is how much a vault's journal may take on the disk. Beyond, the
	// oldest entries make room, but for those of the last 24 hours: while these
	// fill it, a change is refused with [Full]. One caller may write a quarter of
	// it within an hour.
	MaxBytes int64
	// MaxAge is how long an entry is kept. Entries go by the segment, so one may
	// stay an eighth longer.
	MaxAge time.Duration
}

const (
	defaultBytes = 256 << 20
	defaultAge   = 90 * 24 * time.Hour

	leastBytes = 64 << 10 // below, a segment would hold less than an entry

	// protected is the age below which an entry is never removed to make room: a
	// user who looks the next day can still take back what was done.
	protected = 24 * time.Hour
	// shareOf is which part of the journal one caller may fill within an hour.
	shareOf = 4
	// The longest segment, beside one long entry. A process that begins to write
	// reads it once; a note that is changed is kept whole once in each.
	maxSegment = 1 << 20
)

func (l Limits) orDefaults() Limits {
	if l.MaxBytes <= 0 {
		l.MaxBytes = defaultBytes
	}
	if l.MaxAge <= 0 {
		l.MaxAge = defaultAge
	}
	l.MaxBytes, l.MaxAge = max(l.MaxBytes, leastBytes), max(l.MaxAge, protected)
	return l
}

// Journal is the journal of one vault. It is safe for use by several goroutines,
// and by several processes at once.
type Journal struct {
	folder folder
	limits Limits
	sys    private.System
	now    func() time.Time
	inText int64 // maxText, or less in tests

	mu         sync.Mutex // one that writes at a time, in this process
	tail       *tail      // what is known of the segment that is written to
	recent     recent
	cleaned    time.Time // when old segments were last looked for
	older      int64     // what the segments before the tail take, when last looked at
	unrecorded unrecorded
	seenMu     sync.Mutex
	seen       map[uint64]*index // of the segments that are read, by number
}

// OpenAs returns the journal of the vault at an absolute path, which is kept below
// the folder dir. The journal may have been kept under another path, former, and is then
// taken over if there is none under vault. It reads nothing; a folder that is missing is
// made when something is written, and is empty until then.
func OpenAs(dir, vault, former string, limits Limits) *Journal {
	return &Journal{folder: newPlace(dir, vault, former), limits: limits.orDefaults(), sys: private.Disk{}, now: time.Now, inText: maxText}
}

// folder is where the journal of one vault is.
type folder struct {
	root   string // of the journals of all vaults
	dir    string // of this vault
	former string // where it may have been kept, mostly dir
	vault  string
}

func newPlace(root, vault, former string) folder {
	return folder{root: root, dir: folderOf(root, vault), former: folderOf(root, former), vault: vault}
}

func folderOf(root, vault string) string {
	sum := sha256.Sum256([]byte(vault))
	return filepath.Join(root, hex.EncodeToString(sum[:16]))
}

func (p folder) file(name string) string { return filepath.Join(p.dir, name) }

// readmeFile is the name of the file that describes the folder.
const readmeFile = "vault.txt"

// prepare creates the folders that are missing, and returns an error unless they
// belong to this user alone.
func (j *Journal) prepare() error {
	if !filepath.IsAbs(j.folder.root) {
		return unusable(j.folder.root, &private.Unsafe{Path: j.folder.root, Problem: private.NotAbsolute})
	}
	if err := private.CheckFolder(j.folder.dir); err == nil {
		return unusable(j.folder.root, private.CheckFolder(j.folder.root))
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

func (j *Journal) makeFolder(dir string) error { return unusable(dir, private.MakeFolder(j.sys, dir)) }

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
	err := private.CheckFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, unusable(dir, err)
}

const (
	writerLock = "write.lock"  // held by a caller from before Begin until after End
	appendLock = "append.lock" // held while something is written here
)

// patience is how long the short lock is waited for. It is held for one entry,
// which may be a gigabyte.
const patience = 30 * time.Second

// Lock keeps other processes, and other callers in this one, from changing notes
// of the vault through this program until unlock is called. It ends with the
// process. It waits until ctx ends, and then answers with a *[Busy].
//
// Begin, End and all that reads do not need it: they have a lock of their own
// for a moment.
func (j *Journal) Lock(ctx context.Context) (unlock func(), err error) {
	if err := j.prepare(); err != nil {
		return nil, err
	}
	unlock, err = private.Lock(ctx, j.folder.file(writerLock), 0)
	return unlock, j.folder.lockError(writerLock, err)
}

// Extent is how far the journal has grown: another one after each entry. It is zero where
// nothing can be read.
type Extent struct {
	segment uint64
	size    int64
}

// Extent returns how far the journal has grown.
func (j *Journal) Extent() Extent {
	seen, err := j.folder.list()
	if err != nil || len(seen.segments) == 0 {
		return Extent{}
	}
	newest := seen.segments[len(seen.segments)-1]
	return Extent{newest.number, newest.size}
}

// lockAppend takes the lock of writers.
func (p folder) lockAppend() (unlock func(), err error) {
	unlock, err = private.Lock(context.Background(), p.file(appendLock), patience)
	return unlock, p.lockError(appendLock, err)
}

// lockError returns an error of this package for one of locking.
func (p folder) lockError(name string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &Busy{Path: p.file(name), Cause: err}
	}
	return unusable(p.file(name), err)
}
